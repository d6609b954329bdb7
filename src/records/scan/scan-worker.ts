import { parentPort } from 'node:worker_threads'
import { type RangeOptions, type RangeResult, scanRange } from './scan-range.ts'

// A thread that is told one range of a file, scans it, says how far it is, then what it found, and ends.

export type RangeMessage = { bytes: number } | { result: RangeResult }

const say = (message: RangeMessage) => parentPort?.postMessage(message)
parentPort?.once('message', (range: RangeOptions) =>
  say({ result: scanRange(range, (bytes) => say({ bytes })) }),
)
