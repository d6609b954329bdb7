import { existsSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as delay } from 'node:timers/promises'
import type { Daemon, EventLoopDelay } from './daemon.ts'
import type { Run } from './figure.ts'
import type { Stage } from './stage.ts'

export interface Dropped extends Run {
  redisCpuSeconds: number
  /** Of the calls that the endpoint answered meanwhile. */
  sizes: number[]
  bytes: number
  peakMegabytes: number
  eventLoop: EventLoopDelay
}

/** How often is looked whether something has ended. */
const lookEveryMs = 5
const settledEveryMs = 50
/** So long after it was accepted a file is hashed and compressed; and so long a measurement may take. */
const archivedAfterMs = 60_000
const measurementMsMax = 20_000

/**
 * Renames a file into the drop folder and waits until it is imported and everything is acknowledged. Wall clock from the
 * rename to the end of the import or the answer of the last call, whichever is later; CPU until nothing is left to do.
 */
export async function dropFile(
  stage: Stage,
  daemon: Daemon,
  { file, name, outcomes = ['imported'] }: { file: string; name: string; outcomes?: readonly string[] },
): Promise<Dropped> {
  const drop = await stage.prepare(file, name)
  await untilNoneIsArchived(stage)
  await stage.endpoint.reset()
  daemon.resetPeakMemory()
  await daemon.eventLoopDelay()
  const [cpuBefore, redisBefore] = [daemon.cpu(), stage.redisCpu()]
  const droppedMs = await drop()
  const importedMs = await untilImported(stage, name, outcomes)
  await untilSettled(stage)
  const [cpuSeconds, redisCpuSeconds] = [daemon.cpu() - cpuBefore, stage.redisCpu() - redisBefore]
  const eventLoop = await daemon.eventLoopDelay()
  const { peakMegabytes } = daemon.memory()
  const { sizes, bytes, lastMs } = await stage.endpoint.stats()
  const seconds = (Math.max(importedMs, lastMs) - droppedMs) / 1000
  return { seconds, cpuSeconds, redisCpuSeconds, sizes, bytes, peakMegabytes, eventLoop }
}

interface Line {
  kind: string
  sequence?: number
  of?: number
  /** Of a file: what its lines have in common. */
  claim?: string
  name?: string
  outcome?: string
  at?: string
  acceptedAt?: string
}

/** The time of the outcome, ms since the epoch. */
export async function untilImported(
  stage: Pick<Stage, 'state'>,
  name: string,
  outcomes: readonly string[] = ['imported'],
): Promise<number> {
  const { outcome = '', at } = await untilLine(stage, name, 'outcome')
  if (!outcomes.includes(outcome)) throw new Error(`${name}: ${outcome}`)
  return Date.parse(at as string)
}

/** The manifest's line of that kind about the file. */
export async function untilLine({ state }: Pick<Stage, 'state'>, name: string, kind: string): Promise<Line> {
  const manifest = join(state, 'manifest.ndjson')
  for (let size = -1; ; await delay(lookEveryMs)) {
    const now = statSync(manifest, { throwIfNoEntry: false })?.size ?? 0
    if (now === size) continue
    size = now
    const lines = readManifest(manifest)
    const accept = lines.find((line) => line.kind === 'accept' && line.name === name)
    if (!accept) continue
    const isOfFile = (line: Line) => line.of === accept.sequence || line.claim === accept.claim
    const found = lines.find((line) => line.kind === kind && isOfFile(line))
    if (found) return found
  }
}

/** No file that was measured before is compressed while the next one is. */
async function untilNoneIsArchived(stage: Stage): Promise<void> {
  for (const { kind, name, acceptedAt } of readManifest(join(stage.state, 'manifest.ndjson'))) {
    // The next file may become due while we wait for one.
    const latest = Date.now() + measurementMsMax - archivedAfterMs
    if (kind === 'accept' && Date.parse(acceptedAt as string) < latest)
      await untilLine(stage, name as string, 'archive')
  }
}

function readManifest(manifest: string): Line[] {
  const text = existsSync(manifest) ? readFileSync(manifest, 'utf8').trim() : ''
  return text.split('\n').flatMap((line) => parseLine(line) ?? [])
}

function parseLine(text: string): Line | undefined {
  try {
    return JSON.parse(text) as Line
  } catch {
    // It is still being written.
    return undefined
  }
}

/** No product is unsent, and all acknowledgements are in the mirror. */
export async function untilSettled({ state }: Pick<Stage, 'state'>): Promise<void> {
  using mirror = new DatabaseSync(join(state, 'catalog.db'), { readOnly: true })
  const unsent = mirror.prepare('SELECT 1 FROM sending WHERE lane IS NOT NULL LIMIT 1')
  while (unsent.get() !== undefined) await delay(settledEveryMs)
}
