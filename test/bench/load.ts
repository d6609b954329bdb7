import { statSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { sampleFields, writeSampleFeed } from '../../src/quickstart/sample-feed.ts'
import { machine, openStage } from './stage.ts'

interface LoadSummary {
  records: number
  unchanged: number
  changes: Record<string, number>
  calls: number
  bytes: number
  fill: number | null
}

/**
 * A first load, the same file again, and a file with 1 % of the prices changed, as a user would run them.
 * `npm run bench -- load [products]`
 */
export async function benchLoad([count = '200000']: readonly string[]): Promise<void> {
  const products = Number(count)
  console.log(`load of ${products} products, ${sampleFields.length} mapped fields; ${machine()}`)
  await using stage = await openStage()
  const first = stage.dir.join('first.csv')
  const changed = stage.dir.join('changed.csv')
  const bytes = await writeSampleFeed(first, { products })
  await writeSampleFeed(changed, { products, isRepriced: (product) => product % 100 === 7 })
  for (const [name, file] of [
    ['first load', first],
    ['same file again', first],
    ['1 % of prices changed', changed],
  ] as const) {
    const sentBefore = (await stage.summary()).documentsReceived
    const { output, seconds, cpuSeconds, peakMegabytes, peakRedisMegabytes, code } = await stage.command([
      'load',
      'products',
      file,
    ])
    const summary = JSON.parse(output) as LoadSummary
    const sandbox = await stage.summary()
    const fill = summary.fill === null ? '–' : `${(summary.fill * 100).toFixed(1)} %`
    console.log(
      `${name.padEnd(22)} exit ${code}  ${seconds.toFixed(1)} s  CPU ${cpuSeconds.toFixed(1)} s  peak RSS ${peakMegabytes} MB  Redis at most ${peakRedisMegabytes.toFixed(1)} MB, at rest ${((await stage.usedMemory()) / 1e6).toFixed(1)} MB  sent ${sandbox.documentsReceived - sentBefore}  calls ${summary.calls}  fill ${fill}  largest call ${sandbox.largestCallBytes}`,
    )
  }
  const { products: held, bytes: sent } = await stage.summary()
  console.log(
    `file ${(bytes / 1e6).toFixed(0)} MB, document ${Math.round(sent / held)} B on average, ${describeMirror(stage.dir.join('state/main/catalog.db'))}, sandbox holds ${held}`,
  )
}

/** Its file, without the log, against what is allowed. */
function describeMirror(file: string): string {
  using database = new DatabaseSync(file, { readOnly: true })
  const row = database
    .prepare('SELECT count(*) AS count, sum(length(document)) AS bytes FROM documents')
    .get()
  const { count, bytes } = row as { count: number; bytes: number }
  const allowed = 1.2 * bytes + 100 * count
  const megabytes = (value: number) => `${(value / 1e6).toFixed(1)} MB`
  return `documents in the mirror ${megabytes(bytes)}, its file ${megabytes(statSync(file).size)}, allowed ${megabytes(allowed)}`
}
