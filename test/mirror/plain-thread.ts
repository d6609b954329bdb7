import { parentPort, workerData } from 'node:worker_threads'
import { serveMirror, type ThreadOptions } from '../../src/mirror/thread.ts'

// A mirror's thread without a loop.

if (!parentPort) throw new Error('this file runs in a thread of its own')
await serveMirror(parentPort, workerData as ThreadOptions, async () => ({
  isWaiting: false,
  wake: () => undefined,
  [Symbol.asyncDispose]: async () => undefined,
}))
