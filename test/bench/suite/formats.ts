import { statSync } from 'node:fs'
import { tempDir } from '../../support/temp-dir.ts'
import { dropFile } from './drop.ts'
import { type FeedFormat, isRepriced, writeFeed } from './feeds.ts'
import type { Figure } from './figure.ts'
import { openStage, sampleFeed } from './stage.ts'

const formats: readonly { format: FeedFormat; keys: string }[] = [
  { format: 'csv', keys: '{ type: csv }' },
  { format: 'csv.gz', keys: '{ type: csv }' },
  { format: 'ndjson', keys: '{ type: ndjson }' },
  { format: 'xml', keys: '{ type: xml, path: products/product }' },
]

/** The same products in each format, one run each: a first load, the same file again, 1 % of the prices changed. */
export async function measureFormats(products: number): Promise<Figure[]> {
  const figures: Figure[] = []
  for (const each of formats) figures.push(await measureFormat(each, products))
  return figures
}

async function measureFormat({ format, keys }: (typeof formats)[number], products: number): Promise<Figure> {
  await using dir = await tempDir('bench-formats')
  await using stage = await openStage({ feeds: sampleFeed(format, keys) })
  const [base, changed] = [dir.join(`base.${format}`), dir.join(`changed.${format}`)]
  await writeFeed(base, format, { products })
  await writeFeed(changed, format, { products, isRepriced })
  const costs: number[] = []
  for (const [index, file] of [base, base, changed].entries()) {
    const daemon = await stage.start()
    const run = await dropFile(stage, daemon, { file, name: `${index}.${format}` })
    costs.push(((run.cpuSeconds + run.redisCpuSeconds) * 1e6) / products)
    await daemon.stop()
  }
  const [first = Number.NaN, again, repriced] = costs
  return {
    ...{ id: `format-${format}`, name: `${format}, ${products} products: first load`, unit: 'µs/row' },
    ...{ better: 'less', value: first },
    note: `CPU with Redis; the same file again ${again?.toFixed(1)}, 1 % changed ${repriced?.toFixed(1)} µs/row; ${(statSync(base).size / 1e6).toFixed(0)} MB`,
  }
}
