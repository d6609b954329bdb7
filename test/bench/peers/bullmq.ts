import { once } from 'node:events'
import { Queue, Worker } from 'bullmq'

const portion = 1_000
const filler = 'x'.repeat(1_260)

/** A job per product: added by a thousand, taken and completed by 50 at a time, as its documentation recommends. */
export async function loadBullmq(_count = '', port = '') {
  const connection = { host: '127.0.0.1', port: Number(port) }
  const queue = new Queue('products', { connection })
  await queue.waitUntilReady()
  return async (count = '') => {
    const began = performance.now()
    const products = Number(count)
    for (let start = 0; start < products; start += portion) {
      const jobs = Array.from({ length: Math.min(portion, products - start) }, (_, i) => ({
        name: 'upsert',
        data: { product_id: `SKU-${start + i}`, description: filler },
        opts: { removeOnComplete: true },
      }))
      await queue.addBulk(jobs)
    }
    let done = 0
    const worker = new Worker('products', async () => undefined, {
      connection,
      concurrency: 50,
      autorun: false,
    })
    const finished = new Promise<void>((resolve) => {
      worker.on('completed', () => {
        done += 1
        if (done === products) resolve()
      })
    })
    const run = worker.run()
    await Promise.race([finished, once(worker, 'error')])
    const answer = { products: done, milliseconds: performance.now() - began }
    await worker.close()
    await run
    await queue.close()
    return answer
  }
}
