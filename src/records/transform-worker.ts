import { pathToFileURL } from 'node:url'
import { isMainThread, type MessagePort, workerData } from 'node:worker_threads'
import { packRepeated, unpackRepeated } from './pack-repeated.ts'
import type { Transform, TransformRecord } from './transform-record.ts'

export type Outcome =
  | { kind: 'record'; record: TransformRecord }
  | { kind: 'skipped' }
  | { kind: 'failed'; reason: string }

/** The first message: whether records may come. */
export type Loaded = { loaded: true } | { loaded: false; reason: string }

export interface TransformWorkerData {
  file: string
  /** One number: the place of the record that is being transformed in its message. */
  progress: SharedArrayBuffer
  /** For records and outcomes. Its own: on the port to the parent the user's file may say what it likes. */
  port: MessagePort
}

const reasonLengthMax = 300

if (!isMainThread) await serve(takeData(workerData))

/** Runs in a thread of its own: loads the user's file, then answers each message of records with their outcomes. */
async function serve({ file, progress, port }: TransformWorkerData): Promise<void> {
  const place = new Int32Array(progress)
  const transform = await load(file)
  if (typeof transform === 'string') {
    port.postMessage({ loaded: false, reason: transform } satisfies Loaded)
    return
  }
  port.on('message', (records: readonly TransformRecord[]) => {
    const outcomes = records.map((record, index) => {
      Atomics.store(place, 0, index)
      return outcomeOf(transform, record)
    })
    Atomics.store(place, 0, records.length)
    answer(port, outcomes)
  })
  port.postMessage({ loaded: true } satisfies Loaded)
}

/** The user's file, which is loaded later, finds nothing there. */
function takeData(data: Partial<TransformWorkerData>): TransformWorkerData {
  const taken = { ...data } as TransformWorkerData
  for (const name of Object.keys(taken)) delete data[name as keyof TransformWorkerData]
  return taken
}

/** Answers a sentence where there is nothing to call. */
async function load(file: string): Promise<Transform | string> {
  try {
    const module: { default?: unknown } = await import(pathToFileURL(file).href)
    if (typeof module.default === 'function') return module.default as Transform
    return 'it has no default export that is a function'
  } catch (error) {
    return reasonOf(error)
  }
}

function outcomeOf(transform: Transform, given: TransformRecord): Outcome {
  try {
    const record: unknown = transform(unpackRepeated(given) as TransformRecord)
    if (record === undefined) return { kind: 'skipped' }
    if (record instanceof Promise) return failed('returned a promise, expected the record itself')
    if (typeof record !== 'object' || record === null || Array.isArray(record)) {
      return failed(`returned ${record === null ? 'null' : typeof record}, expected a record or undefined`)
    }
    return { kind: 'record', record: packRepeated(record) as TransformRecord }
  } catch (error) {
    return failed(reasonOf(error))
  }
}

/** A value that cannot be copied to another thread, a function for instance, fails its record alone. */
function answer(port: MessagePort, outcomes: readonly Outcome[]): void {
  try {
    port.postMessage(outcomes)
  } catch {
    port.postMessage(outcomes.map(copied))
  }
}

function copied(outcome: Outcome): Outcome {
  try {
    return structuredClone(outcome)
  } catch (error) {
    return failed(reasonOf(error))
  }
}

function failed(reason: string): Outcome {
  return { kind: 'failed', reason }
}

function reasonOf(error: unknown): string {
  const text = error instanceof Error ? `${error.name}: ${error.message}` : String(error)
  return text.replace(/\s+/g, ' ').slice(0, reasonLengthMax)
}
