import { parentPort, workerData } from 'node:worker_threads'
import { serveMirror, type ThreadOptions } from './mirror/thread.ts'

// The thread of one catalog's mirror: the only writer of its file, and the loop between it and the outbox.

if (!parentPort) throw new Error('this file runs in a thread of its own')
await serveMirror(parentPort, workerData as ThreadOptions, async () => ({
  isWaiting: false,
  wake: () => undefined,
  [Symbol.asyncDispose]: async () => undefined,
}))
