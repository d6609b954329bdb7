/** One line of a scrape. */
export interface ScrapedSample {
  name: string
  labels: Record<string, string>
  value: number
}

export interface ScrapedFamily {
  type: string
  help: string
  samples: ScrapedSample[]
}

const metricName = /^[a-zA-Z_:][a-zA-Z0-9_:]*$/
const labelPair = /^([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\[\\"n])*)"(,|$)/
const numeric = /^[-+]?(?:\d+\.?\d*(?:e[-+]?\d+)?|\.\d+|Inf|NaN)$/i

/**
 * Reads a scrape by the rules of its format, as strictly as Prometheus and `promtool check metrics` do, and throws where it
 * breaks one: each family once and together, HELP and TYPE before its samples, names and labels of the allowed form, no
 * sample twice, counters that end in `_total`, units in base form, histograms whose buckets add up.
 */
export function parseExposition(text: string, format: 'text' | 'openmetrics'): Map<string, ScrapedFamily> {
  const families = new Map<string, ScrapedFamily>()
  let current = ''
  const fail = (line: string, why: string): never => {
    throw new Error(`${why}: ${line}`)
  }
  if (!text.endsWith('\n')) fail(text.slice(-40), 'no line end at the end')
  const lines = text.slice(0, -1).split('\n')
  if (format === 'openmetrics' && lines.pop() !== '# EOF') fail(text.slice(-40), 'no # EOF at the end')
  const seen = new Set<string>()
  for (const line of lines) {
    if (line === '' && format === 'text') continue
    if (line.startsWith('#')) {
      const [, kind = '', name = '', rest = ''] =
        /^# (HELP|TYPE) (\S+) (.+)$/.exec(line) ?? fail(line, 'no comment of a family')
      if (!metricName.test(name)) fail(line, 'a wrong name')
      if (kind === 'HELP') {
        if (families.has(name)) fail(line, 'a family twice')
        families.set(name, { type: '', help: rest, samples: [] })
        current = name
      } else {
        const family = families.get(name) ?? fail(line, 'TYPE before HELP')
        if (name !== current || family.samples.length > 0) fail(line, 'TYPE at another place')
        if (!['counter', 'gauge', 'histogram', 'summary'].includes(rest)) fail(line, 'an unknown type')
        family.type = rest
      }
      continue
    }
    const sample = parseSample(line) ?? fail(line, 'no sample')
    const family = families.get(current) ?? fail(line, 'a sample without a family')
    if (sample.name !== sampleName(current, family.type, sample.name, format)) fail(line, `not of ${current}`)
    const key = JSON.stringify([sample.name, Object.entries(sample.labels).sort()])
    if (seen.has(key)) fail(line, 'a sample twice')
    seen.add(key)
    family.samples.push(sample)
  }
  for (const [name, family] of families) checkFamily(name, family, format)
  return families
}

function parseSample(line: string): ScrapedSample | undefined {
  const [, name, pairs = '', value = ''] = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)$/.exec(line) ?? []
  if (name === undefined || !numeric.test(value)) return undefined
  const labels: Record<string, string> = {}
  for (let rest = pairs; rest !== ''; ) {
    const [whole, label, text] = labelPair.exec(rest) ?? []
    if (whole === undefined || label === undefined || label in labels) return undefined
    labels[label] = text ?? ''
    rest = rest.slice(whole.length)
  }
  return { name, labels, value: Number(value.replace('Inf', 'Infinity')) }
}

function sampleName(family: string, type: string, name: string, format: string): string {
  if (type === 'histogram')
    return ['_bucket', '_sum', '_count'].map((end) => family + end).find((one) => one === name) ?? family
  return type === 'counter' && format === 'openmetrics' ? `${family}_total` : family
}

function checkFamily(name: string, { type, help, samples }: ScrapedFamily, format: string): void {
  const fail = (why: string): never => {
    throw new Error(`${name}: ${why}`)
  }
  if (type === '' || samples.length === 0) fail('nothing of it is there')
  if (help.trim() === '' || help.endsWith('.')) fail('its help')
  const isTotal = name.endsWith('_total')
  if (isTotal !== (type === 'counter' && format === 'text')) fail('_total and its type do not agree')
  if (/_(?:ms|millis|milliseconds|minutes|hours|kb|mb|megabytes|percent)(?:_|$)/.test(name))
    fail('no base unit')
  if (type === 'counter' && samples.some(({ value }) => !(value >= 0))) fail('a counter below zero')
  if (type === 'histogram') checkHistogram(name, samples)
  else if (samples.some(({ labels }) => 'le' in labels)) fail('le is for histograms')
  if (type !== 'summary' && samples.some(({ labels }) => 'quantile' in labels))
    fail('quantile is for summaries')
}

function checkHistogram(name: string, samples: readonly ScrapedSample[]): void {
  const series = Map.groupBy(samples, ({ labels: { le: _, ...labels } }) => JSON.stringify(labels))
  for (const [labels, all] of series) {
    const buckets = all.filter(({ name: own }) => own === `${name}_bucket`)
    const amountOf = (end: string) => all.find(({ name: own }) => own === name + end)?.value
    const bounds = buckets.map(({ labels: { le = '' } }) => Number(le.replace('Inf', 'Infinity')))
    const isSorted = bounds.every((bound, at) => at === 0 || bound > (bounds[at - 1] ?? 0))
    const isGrowing = buckets.every(({ value }, at) => at === 0 || value >= (buckets[at - 1]?.value ?? 0))
    const isWhole = bounds.at(-1) === Number.POSITIVE_INFINITY && buckets.at(-1)?.value === amountOf('_count')
    if (isSorted && isGrowing && isWhole && amountOf('_sum') !== undefined) continue
    throw new Error(`${name} ${labels}: its buckets do not add up`)
  }
}
