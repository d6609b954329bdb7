import { writeSampleFeed } from '../../src/quickstart/sample-feed.ts'
import { machine, openStage } from './stage.ts'

/** About 6 KB a row. */
const sentencesPerProduct = 75

/**
 * One first load of a file that is much larger than the memory the daemon may use: 5 GB by default. Redis and the
 * sandbox hold all of it, so the machine needs about three times the file. `npm run bench -- big [gigabytes]`
 */
export async function benchBig([gigabytes = '5']: readonly string[]): Promise<void> {
  console.log(`first load of a file of ${gigabytes} GB; ${machine()}`)
  await using stage = await openStage()
  const file = stage.dir.join('big.csv')
  const perProduct = (await writeSampleFeed(file, { products: 2_000, sentencesPerProduct })) / 2_000
  const products = Math.ceil((Number(gigabytes) * 1e9) / perProduct)
  const bytes = await writeSampleFeed(file, { products, sentencesPerProduct })
  const { seconds, peakMegabytes, code, output } = await stage.command(['load', 'products', file])
  const { calls, fill } = JSON.parse(output) as { calls: number; fill: number }
  const sandbox = await stage.summary()
  console.log(
    `${(bytes / 1e9).toFixed(2)} GB, ${products} products: exit ${code}  ${seconds.toFixed(0)} s  peak RSS ${peakMegabytes} MB  calls ${calls}  fill ${(fill * 100).toFixed(1)} %  largest call ${sandbox.largestCallBytes}  sandbox holds ${sandbox.products}`,
  )
}
