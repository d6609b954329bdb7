/** One measured run of something: wall clock, CPU of its whole process tree, and that of redis-server where it has one. */
export interface Run {
  seconds: number
  cpuSeconds: number
  redisCpuSeconds?: number
}

/** A line of the report: a value beside what it is to be. */
export interface Figure {
  /** Stays the same from run to run. */
  id: string
  name: string
  value: number
  /** `×` is a ratio to the peer: how many times faster, or slower where less is better. */
  unit: '×' | '%' | 'ms' | 's' | 'MB' | 'µs/row' | '/s'
  better: 'more' | 'less'
  goal?: number
  /** What is acceptable while the goal is not reached. */
  acceptable?: number
  ours?: Run
  peer?: Run & { name: string }
  /** Settings, counts. */
  note?: string
}

export interface Report {
  at: string
  commit: string
  machine: string
  mode: string
  rows: number
  rounds: number
  figures: Figure[]
}

export function verdictOf({
  value,
  better,
  goal,
  acceptable,
}: Figure): 'met' | 'acceptable' | 'not met' | '' {
  const reaches = (target: number) => (better === 'more' ? value >= target : value <= target)
  if (goal === undefined) return ''
  if (reaches(goal)) return 'met'
  return acceptable !== undefined && reaches(acceptable) ? 'acceptable' : 'not met'
}

export function describeTarget({ better, goal, acceptable, unit }: Figure): string {
  if (goal === undefined) return ''
  const sign = better === 'more' ? '≥' : '≤'
  const text = (target: number) => Number(target.toFixed(target >= 50 ? 0 : 2))
  const also = acceptable === undefined ? '' : ` (${sign} ${text(acceptable)})`
  return `${sign} ${text(goal)} ${unit}${also}`
}

export function describeValue({ value, unit }: Pick<Figure, 'value' | 'unit'>): string {
  return `${value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2)} ${unit}`
}

export function describeRun({ seconds, cpuSeconds, redisCpuSeconds }: Run): string {
  const redis = redisCpuSeconds === undefined ? '' : ` + ${redisCpuSeconds.toFixed(2)} s of Redis`
  return `${seconds.toFixed(2)} s (${cpuSeconds.toFixed(2)} s of CPU${redis})`
}

export function printFigure(figure: Figure): void {
  const { name, ours, peer, note } = figure
  const verdict = verdictOf(figure)
  const target = describeTarget(figure)
  const judged = verdict === '' ? '' : `  ${verdict.padEnd(10)} target ${target}`
  console.log(`${name.padEnd(52)} ${describeValue(figure).padStart(11)}${judged}`)
  if (ours) console.log(`    catalogd ${describeRun(ours)}`)
  if (peer)
    console.log(
      `    ${peer.name} ${describeRun(peer)}${ours ? `; by CPU ${describeCpuRatio(ours, peer)}` : ''}`,
    )
  if (note) console.log(`    ${note}`)
}

/** How much less CPU than the peer, that of Redis included: what is left of a ratio when the machine is busy. */
export function describeCpuRatio(ours: Run, peer: Run): string {
  const cpuOf = ({ cpuSeconds, redisCpuSeconds = 0 }: Run) => cpuSeconds + redisCpuSeconds
  return describeValue({ value: cpuOf(peer) / cpuOf(ours), unit: '×' })
}

/** How many times faster than the peer. */
export function ratioOf(ours: Run, peer: Run): number {
  return peer.seconds / ours.seconds
}

/** The run in the middle by wall clock, whole, so that its figures belong together. */
export function medianRun<T extends Run>(runs: readonly T[]): T {
  const middle = runs.toSorted((one, other) => one.seconds - other.seconds)[(runs.length - 1) >> 1]
  if (!middle) throw new Error('nothing was measured')
  return middle
}

export function medianOf(values: readonly number[]): number {
  return values.toSorted((one, other) => one - other)[(values.length - 1) >> 1] ?? Number.NaN
}

/** Nearest rank: of 100 values, the 99th for 0.99. */
export function percentileOf(values: readonly number[], share: number): number {
  const sorted = values.toSorted((one, other) => one - other)
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? Number.NaN
}
