import type { Figure, Report } from './suite/figure.ts'

const catalogs = 1_000
const productsOfCatalog = 1_000_000
const hosts = 10
const coresOfHost = 8

/** What 1,000 catalogs of a million products need, as Markdown: the measured cost of a row, many times. */
export function describeCapacity({ figures, rows, machine, commit }: Report): string {
  const products = catalogs * productsOfCatalog
  const of = (id: string): Partial<Figure> => figures.find((figure) => figure.id === id) ?? {}
  const costOf = (id: string, cpu: 'cpuSeconds' | 'redisCpuSeconds') =>
    ((of(id).ours?.[cpu] ?? Number.NaN) / rows) * 1e6
  const figureOf = (id: string) => of(id).value ?? Number.NaN
  const hours = (micros: number) => (micros * products) / 1e6 / 3600
  const [load, loadRedis] = [costOf('first-load', 'cpuSeconds'), costOf('first-load', 'redisCpuSeconds')]
  const [again, againRedis] = [costOf('changed', 'cpuSeconds'), costOf('changed', 'redisCpuSeconds')]
  const mirrorBytes = (figureOf('mirror') * 1e6) / rows
  const lines = [
    [
      'mirrors on disk',
      `${mirrorBytes.toFixed(0)} bytes a product`,
      `${((mirrorBytes * products) / 1e12).toFixed(1)} TB, ${((mirrorBytes * products) / hosts / 1e9).toFixed(0)} GB a host of ${hosts}`,
    ],
    [
      'Redis at rest',
      `${figureOf('redis-rest').toFixed(1)} MB with one catalog, the server's own included`,
      `at most ${((figureOf('redis-rest') * catalogs) / 1000).toFixed(1)} GB`,
    ],
    [
      'first load, catalogd',
      `${load.toFixed(0)} µs of CPU a product`,
      `${hours(load).toFixed(0)} hours of one core: ${(hours(load) / hosts / coresOfHost).toFixed(1)} hours on ${hosts} hosts`,
    ],
    [
      'first load, Redis',
      `${loadRedis.toFixed(0)} µs of CPU a product`,
      `${hours(loadRedis).toFixed(0)} hours of one core: ${(hours(loadRedis) / hosts).toFixed(1)} hours with ${hosts} masters`,
    ],
    [
      'a file an hour, catalogd',
      `${again.toFixed(1)} µs of CPU a product of the file`,
      `${hours(again).toFixed(1)} cores busy all the time`,
    ],
    [
      'a file an hour, Redis',
      `${againRedis.toFixed(1)} µs of CPU a product of the file`,
      `${(100 * hours(againRedis)).toFixed(0)} % of one core`,
    ],
  ]
  return `Measured with ${rows.toLocaleString('en')} products, commit ${commit}, on ${machine}:

| | measured | for all |
|---|---|---|
${lines.map((line) => `| ${line.join(' | ')} |`).join('\n')}
`
}
