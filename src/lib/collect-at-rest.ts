import { getHeapStatistics } from 'node:v8'
import { giveBackMemory } from './give-back-memory.ts'

/** Of the time: below it a thread rests. */
const busyMin = 0.05
/** A thread that has grown by less is left alone: collecting holds up what is urgent for tens of milliseconds. */
const grownBytesMin = 4_000_000

/**
 * V8 collects when a heap grows. What a thread leaves behind when it comes to rest after a large file would stay for
 * hours: some 100 MB in all. So each thread collects once, some seconds after it was busy, and gives back what is free.
 * It collects only where V8 was started with `--expose-gc`.
 */
export function collectAtRest({
  gc = globalThis.gc,
  giveBack = giveBackMemory,
  everyMs = 5_000,
  heapBytes = ownHeapBytes,
} = {}): Disposable {
  let before = process.threadCpuUsage()
  let wasBusy = false
  let keptBytes = heapBytes()
  const timer = setInterval(() => {
    const { user, system } = process.threadCpuUsage(before)
    before = process.threadCpuUsage()
    const isBusy = user + system > everyMs * 1_000 * busyMin
    if (wasBusy && !isBusy && heapBytes() - keptBytes >= grownBytesMin) {
      gc?.({ type: 'major', flavor: 'last-resort' })
      giveBack()
      keptBytes = heapBytes()
    }
    wasBusy = isBusy
  }, everyMs)
  timer.unref()
  return { [Symbol.dispose]: () => clearInterval(timer) }
}

/** Of this thread, with the buffers that it holds. */
function ownHeapBytes(): number {
  const { total_heap_size: heap, external_memory: external } = getHeapStatistics()
  return heap + external
}
