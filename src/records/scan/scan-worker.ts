import { parentPort } from 'node:worker_threads'
import { type RangeOptions, type RangeResult, scanRange } from './scan-range.ts'

// A thread that is told one range of a file, scans it, says how far it is, then what it found, and ends.

export type RangeMessage = { bytes: number } | { result: RangeResult }

parentPort?.once('message', (range: RangeOptions) => {
  const result = scanRange(range, (bytes) => parentPort?.postMessage({ bytes } satisfies RangeMessage))
  const memory = [result.misses, ...(result.missBytes ?? [])].map(({ buffer }) => buffer)
  parentPort?.postMessage({ result } satisfies RangeMessage, memory)
})
