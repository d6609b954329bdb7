import { once } from 'node:events'
import type { Worker } from 'node:worker_threads'
import type { Clock } from '../lib/clock.ts'
import { settlesWithin } from '../lib/settles-within.ts'
import type { MirrorRequest } from './thread.ts'

/** A call to Redis may hang: then the thread is ended from outside, which the file survives as it does a crash. */
const closeMs = 10_000

export async function endThread(worker: Worker, clock: Clock): Promise<void> {
  if (worker.threadId === -1) return
  const ended = once(worker, 'exit')
  worker.postMessage({ kind: 'close' } satisfies MirrorRequest)
  if (!(await settlesWithin(clock, closeMs, ended))) await worker.terminate()
}
