import { readFileSync, writeFileSync } from 'node:fs'
import { describeCapacity } from './capacity.ts'
import {
  describeCpuRatio,
  describeTarget,
  describeValue,
  type Figure,
  type Report,
  verdictOf,
} from './suite/figure.ts'

const jsonFile = new URL('../../docs/bench.json', import.meta.url)
const svgFile = new URL('../../docs/bench.svg', import.meta.url)
/** Which documents show a part of the report. */
export const documents: Record<string, (report: Report) => string> = {
  'README.md': describeSummary,
  'docs/benchmarks.md': describeReport,
  'docs/capacity.md': describeCapacity,
}
export const tableBegins = '<!-- npm run bench -- chart: begins -->\n'
export const tableEnds = '<!-- npm run bench -- chart: ends -->'

/** Draws the last report that was written to docs/bench.json: the chart, and the tables of the documents. */
export async function benchChart(): Promise<void> {
  const report = JSON.parse(readFileSync(jsonFile, 'utf8')) as Report
  writeFileSync(svgFile, drawChart(report))
  for (const [path, describe] of Object.entries(documents)) {
    const file = new URL(`../../${path}`, import.meta.url)
    const [before, rest = ''] = readFileSync(file, 'utf8').split(tableBegins)
    const [, after = ''] = rest.split(tableEnds)
    writeFileSync(file, `${before}${tableBegins}${describe(report)}${tableEnds}${after}`)
  }
}

/** As Markdown: the chart, and what is measured beside a peer. */
function describeSummary(report: Report): string {
  const lines = report.figures.flatMap((figure) => {
    const { name, ours, peer } = figure
    if (!ours || !peer) return []
    const target = describeTarget(figure)
    const judged = target === '' ? '' : `${target}: ${verdictOf(figure)}`
    const seconds = [ours, peer].map((run) => `${run.seconds.toFixed(2)} s`)
    return `| ${name.trim()} | ${seconds[0]} | ${peer.name}: ${seconds[1]} | ${describeValue(figure)} | ${judged} |`
  })
  return `![Seconds of catalogd and of its peers](docs/bench.svg)

${describeRun(report)}.

| | catalogd | peer | times as fast | target |
|---|---|---|---|---|
${lines.join('\n')}
`
}

function describeRun({ machine, at, commit, rows, rounds }: Report): string {
  return `${rows.toLocaleString('en')} products, medians of ${rounds} rounds, ${at.slice(0, 10)}, commit ${commit}, on ${machine}`
}

/** As Markdown: every figure. */
function describeReport(report: Report): string {
  const lines = report.figures.map((figure) => {
    const { name, ours, peer } = figure
    const against =
      ours && peer
        ? `${ours.seconds.toFixed(2)} s (CPU ${cpuOf(ours)}); ${peer.name}: ${peer.seconds.toFixed(2)} s (CPU ${cpuOf(peer)}); by CPU ${describeCpuRatio(ours, peer)}`
        : (figure.note ?? '')
    const target = describeTarget(figure)
    const judged = target === '' ? '' : `${target}: ${verdictOf(figure)}`
    return `| ${name.trim()} | ${describeValue(figure)} | ${judged} | ${against} |`
  })
  return `![Seconds of catalogd and of its peers](bench.svg)

${describeRun(report)}. CPU is that of all processes;
that of redis-server stands behind the plus sign.

| | measured | target | |
|---|---|---|---|
${lines.join('\n')}
`
}

function cpuOf(run: Figure['ours']): string {
  const redis = run?.redisCpuSeconds === undefined ? '' : ` + ${run.redisCpuSeconds.toFixed(2)}`
  return `${run?.cpuSeconds.toFixed(2)}${redis} s`
}

const width = 820
const labelWidth = 250
const barsWidth = 380
const rowHeight = 54
const headHeight = 46

/** Seconds of catalogd and of its peer, a pair of bars each; the bars of a pair share one scale. */
export function drawChart({ machine, rows, figures }: Report): string {
  const pairs = figures.filter(({ ours, peer }) => ours && peer)
  const height = headHeight + pairs.length * rowHeight + 30
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="system-ui, sans-serif" font-size="12">
<title>Seconds of catalogd and of its peers</title>
<rect width="${width}" height="${height}" rx="6" fill="#ffffff"/>
<text x="16" y="28" font-size="15" font-weight="600" fill="#1f2937">Seconds, ${rows.toLocaleString('en')} products of 27 columns: shorter is better</text>
${pairs.map((figure, index) => drawPair(figure, headHeight + index * rowHeight)).join('\n')}
<text x="16" y="${height - 12}" fill="#6b7280">${escapeXml(machine)}</text>
</svg>
`
}

function drawPair(figure: Figure, top: number): string {
  const { name, ours, peer, value } = figure
  if (!ours || !peer) return ''
  const most = Math.max(ours.seconds, peer.seconds)
  const bar = (seconds: number, line: number, who: string, colour: string) => {
    const length = Math.max(2, (seconds / most) * barsWidth)
    const y = top + line * 21
    return `<rect x="${labelWidth}" y="${y}" width="${length.toFixed(1)}" height="17" rx="2" fill="${colour}"/>
<text x="${(labelWidth + length + 6).toFixed(1)}" y="${y + 13}" fill="#374151">${seconds.toFixed(2)} s</text>
<text x="${labelWidth - 8}" y="${y + 13}" text-anchor="end" fill="#374151">${escapeXml(who)}</text>`
  }
  return `<g><title>${escapeXml(name.trim())}</title>
${bar(ours.seconds, 0, figureLabel(figure), '#2563eb')}
${bar(peer.seconds, 1, peer.name, '#9ca3af')}
<text x="${width - 16}" y="${top + 25}" text-anchor="end" font-size="17" font-weight="600" fill="#1f2937">${value >= 10 ? value.toFixed(0) : value.toFixed(1)} ×</text>
</g>`
}

/** What catalogd does in the pair. */
function figureLabel({ id, name }: Figure): string {
  if (id.startsWith('changed')) return 'catalogd, 1 % changed'
  if (id.startsWith('first-load')) return 'catalogd, first load'
  return `catalogd, ${name.trim()}`
}

function escapeXml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}
