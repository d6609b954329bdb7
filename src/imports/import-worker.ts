import { closeSync, openSync } from 'node:fs'
import { type MessagePort, parentPort, workerData } from 'node:worker_threads'
import { systemClock as clock } from '../lib/clock.ts'
import { collectAtRest } from '../lib/collect-at-rest.ts'
import { giveWay } from '../lib/give-way.ts'
import type { LogLevel } from '../lib/log.ts'
import { openThreadLog, receivedError, type SentError, sentError } from '../lib/thread-messages.ts'
import { type Heartbeat, stallOf, Watchdog } from '../lib/watchdog.ts'
import { LiveMirror, type MirrorConnection } from '../mirror/live-mirror.ts'
import { openArchive } from '../sources/archive.ts'
import type { PlacedLine } from '../sources/manifest.ts'
import { ManifestIndex } from '../sources/manifest-index.ts'
import { type NewLine, readManifestLines } from '../sources/manifest-reading.ts'
import type { AcceptLine, ManifestLine } from '../sources/model.ts'
import type { FeedsConfig } from './context.ts'
import { forgetProducts } from './forget-products.ts'
import { openProductRunner } from './product-imports.ts'
import type { ImportReport } from './report.ts'
import { noteUncaught } from './unexpected-failures.ts'

// The thread that imports the products of one catalog (`ImportThread`).

export interface ImportWorkerData {
  catalog: FeedsConfig
  /** `state/<catalog>`. */
  dir: string
  /** What stands in it up to there; later lines are told. */
  manifest: { path: string; end: number }
  mirror: MirrorConnection
  logLevel: LogLevel
  heartbeat: Heartbeat
}

export type ImportRequest =
  /** The manifest has it. */
  | { kind: 'line'; line: PlacedLine }
  /** There is something to import. */
  | { kind: 'wake' }
  /** Files are being accepted. */
  | { kind: 'make-way' }
  | { kind: 'appended'; lines: ManifestLine[] }
  | { kind: 'refused'; failure: SentError }
  /** Answered by `forgot`. */
  | { kind: 'forget'; nowMs: number }
  | { kind: 'close' }

/** Each `append` is answered by `appended` or `refused`, in order. */
export type ImportAnswer =
  | { kind: 'append'; lines: readonly NewLine[] }
  /** `imported` follows. */
  | { kind: 'applying'; accept: AcceptLine }
  | { kind: 'imported'; report: ImportReport; accept: AcceptLine }
  | { kind: 'forgot'; failure?: SentError }
  | { kind: 'notice'; text: string | undefined }
  | { kind: 'fatal'; failure: SentError }
  | { kind: 'log'; line: string }

type Tell = (answer: ImportAnswer) => void

/** The manifest as the thread of its writer tells it. */
class FollowedManifest extends ManifestIndex implements Disposable {
  readonly #fd: number
  readonly #tell: Tell
  readonly #appending: PromiseWithResolvers<ManifestLine[]>[] = []

  private constructor(fd: number, tell: Tell) {
    super({ fd })
    this.#fd = fd
    this.#tell = tell
  }

  static async open({ path, end }: ImportWorkerData['manifest'], tell: Tell): Promise<FollowedManifest> {
    const fd = openSync(path, 'r')
    const manifest = new FollowedManifest(fd, tell)
    await readManifestLines({ fd, path }, manifest, undefined, end)
    return manifest
  }

  append(lines: readonly NewLine[]): Promise<ManifestLine[]> {
    const appended = Promise.withResolvers<ManifestLine[]>()
    this.#appending.push(appended)
    this.#tell({ kind: 'append', lines })
    return appended.promise
  }

  /** Of the oldest append. */
  answer(answer: Extract<ImportRequest, { kind: 'appended' | 'refused' }>): void {
    const appended = this.#appending.shift()
    if (answer.kind === 'appended') appended?.resolve(answer.lines)
    else appended?.reject(receivedError(answer.failure))
  }

  [Symbol.dispose](): void {
    closeSync(this.#fd)
  }
}

async function serve(port: MessagePort, { catalog, dir, ...data }: ImportWorkerData): Promise<void> {
  const tell: Tell = (answer) => port.postMessage(answer)
  // What is no operating failure ends the thread, and the process with it.
  const onFatal = (error: unknown) => tell({ kind: 'fatal', failure: sentError(error) })
  process.on('uncaughtExceptionMonitor', noteUncaught)
  try {
    const log = openThreadLog(data.logLevel, tell)
    using _ = collectAtRest()
    using manifest = await FollowedManifest.open(data.manifest, tell)
    await using mirror = LiveMirror.over(data.mirror, { clock, onFatal })
    await using watchdog = new Watchdog({
      onStall: (name) => {
        throw stallOf(name)
      },
      heartbeat: data.heartbeat,
    })
    const archive = await openArchive({ dir, manifest })
    await using runner = openProductRunner({
      ...{ catalog, dir, manifest, archive, mirror, watchdog, clock, log, onFatal },
      onApplying: (accept) => tell({ kind: 'applying', accept }),
      onImported: (report, accept) => tell({ kind: 'imported', report, accept }),
      onNotice: (text) => tell({ kind: 'notice', text }),
    })
    runner.start()
    const stop = new AbortController()
    const forget = async (nowMs: number): Promise<ImportAnswer> => {
      try {
        await forgetProducts({ ...catalog, mirror, nowMs }, stop.signal)
      } catch (error) {
        if (!stop.signal.aborted) return { kind: 'forgot', failure: sentError(error) }
      }
      return { kind: 'forgot' }
    }
    await new Promise<void>((close) => {
      port.on('message', (request: ImportRequest) => {
        if (request.kind === 'line') manifest.add(...request.line)
        else if (request.kind === 'wake') runner.wake()
        else if (request.kind === 'make-way') runner.makeWay()
        else if (request.kind === 'forget') void forget(request.nowMs).then(tell)
        else if (request.kind === 'close') close()
        else manifest.answer(request)
      })
    })
    stop.abort()
  } catch (error) {
    onFatal(error)
  } finally {
    port.close()
  }
}

if (!parentPort) throw new Error('this file runs in a thread of its own')
// Calls, the console and what is to be durable go first. More would starve it where other programs are busy.
giveWay(6)
await serve(parentPort, workerData as ImportWorkerData)
