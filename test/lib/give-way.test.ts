import { once } from 'node:events'
import { getPriority } from 'node:os'
import { Worker } from 'node:worker_threads'
import { expect, test } from 'vitest'

const giveWay = new URL('../../src/lib/give-way.ts', import.meta.url).href

/** What the thread's priority is after it has given way so often, each time by this. */
async function priorityAfter(by: number, times: number): Promise<number> {
  const source = `import(${JSON.stringify(giveWay)}).then(({ giveWay }) => {
    for (let time = 0; time < ${times}; time++) giveWay(${by})
    require('node:worker_threads').parentPort.postMessage(require('node:os').getPriority())
  })`
  const worker = new Worker(source, { eval: true })
  const [priority] = await once(worker, 'message')
  await worker.terminate()
  return priority
}

test.runIf(process.platform === 'linux')('a thread gives way, and no other of its process does', async () => {
  const before = getPriority()
  expect(await priorityAfter(3, 1)).toBe(Math.min(19, before + 3))
  expect(await priorityAfter(15, 2)).toBe(19)
  expect(getPriority()).toBe(before)
})
