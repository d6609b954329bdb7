import { parentPort, workerData } from 'node:worker_threads'
import { type RangeOptions, type RangeResult, scanRange } from './scan-range.ts'

// A thread that scans one range of a file, says how far it is, then what it found, and ends.

export type RangeMessage = { bytes: number } | { result: RangeResult }

const say = (message: RangeMessage) => parentPort?.postMessage(message)
say({ result: scanRange(workerData as RangeOptions, (bytes) => say({ bytes })) })
