import { mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pino } from 'pino'
import type { CatalogConfig, FeedConfig } from '../../../src/config/model.ts'
import type { CatalogName, FeedName } from '../../../src/lib/brand.ts'
import { systemClock } from '../../../src/lib/clock.ts'
import { type Manifest, openManifest } from '../../../src/sources/manifest.ts'
import type { AcceptLine, DecisionLine } from '../../../src/sources/model.ts'
import { openSources } from '../../../src/sources/sources.ts'
import { waitFor } from '../../support/events.ts'

export const silentLog = pino({ level: 'silent' })

export function feedNamed(name: string, dropDir: string, changes: Partial<FeedConfig> = {}): FeedConfig {
  return {
    name: name as FeedName,
    kind: 'products',
    dropDir,
    files: [{ pattern: '*.csv', mode: 'full' }],
    settle: { kind: 'quiet', forMs: 0 },
    format: {
      type: undefined,
      delimiter: undefined,
      quote: undefined,
      encoding: undefined,
      recordBytes: 1e6,
    },
    fields: {},
    owns: [],
    missing: { action: 'ignore', atMost: 1, forgetMs: 1 },
    rejects: { atMost: 1 },
    ...changes,
  }
}

function unused(): never {
  throw new Error('sources need no endpoint')
}

export function catalogOf(feeds: readonly FeedConfig[]): CatalogConfig {
  return {
    name: 'main' as CatalogName,
    api: {
      url: { available: false, value: unused },
      account: undefined,
      productsToken: { available: false, value: unused },
      emailToken: { available: false, value: unused },
    },
    delivery: { callBytes: 1, concurrency: 1, timeoutMs: 1, horizonMs: 1, callsPerSecond: 1 },
    urgent: [],
    deferred: { afterMs: 1, atMostMs: 1 },
    feeds: new Map(feeds.map((feed) => [feed.name, feed])),
    consents: {
      concurrency: 1,
      timeoutMs: 1,
      horizonMs: 1,
      callsPerSecond: 1,
      path: '/consent',
      feeds: new Map(),
    },
  }
}

/** Sources of some feeds over a state folder, with what they told. */
export interface RunningSources extends AsyncDisposable {
  manifest: Manifest
  accepted: AcceptLine[]
  decisions: DecisionLine[]
  notices: Map<string, string>
  /** Every text that a notice had. */
  noticeHistory: string[]
  /** Waits for so many accepted files, and returns their names in accept order. */
  names(count: number): Promise<string[]>
}

export async function startSources(options: {
  stateDir: string
  feeds: readonly FeedConfig[]
  rescanMs?: number
  /** Told as it happens: `accepted <name>`, `notice <key>: <text>`. */
  onLine?: (line: string) => void
}): Promise<RunningSources> {
  const { stateDir, feeds, rescanMs = 60_000, onLine = () => {} } = options
  const manifest = await openManifest({ dir: stateDir, clock: systemClock })
  const accepted: AcceptLine[] = []
  const decisions: DecisionLine[] = []
  const notices = new Map<string, string>()
  const noticeHistory: string[] = []
  const sources = await openSources({
    catalog: catalogOf(feeds),
    dir: stateDir,
    manifest,
    clock: systemClock,
    log: silentLog,
    onAccepted: (lines) => {
      accepted.push(...lines)
      for (const { name } of lines) onLine(`accepted ${name}`)
    },
    onDecision: (line) => decisions.push(line),
    onNotice: (key, text) => {
      if (text === undefined) notices.delete(key)
      else notices.set(key, text)
      noticeHistory.push(`${key}: ${text ?? '(over)'}`)
      onLine(`notice ${key}: ${text ?? '(over)'}`)
    },
    rescanMs,
  })
  return {
    manifest,
    accepted,
    decisions,
    notices,
    noticeHistory,
    names: async (count) => {
      await waitFor(() => accepted.length >= count, {
        what: () => `${count} files; so far ${accepted.length}`,
      })
      return [...manifest.files()].map(({ name }) => name)
    },
    [Symbol.asyncDispose]: async () => {
      await sources[Symbol.asyncDispose]()
      await manifest[Symbol.asyncDispose]()
    },
  }
}

/** Writes a file elsewhere and renames it into the folder, as careful writers do. */
export async function drop(dir: string, name: string, content: string | Buffer): Promise<void> {
  await mkdir(dir, { recursive: true })
  const temporary = join(dir, `.writing-${name}`)
  await writeFile(temporary, content)
  await rename(temporary, join(dir, name))
}

/** Names in a folder, without hidden ones. */
export async function visible(dir: string): Promise<string[]> {
  return (await readdir(dir)).filter((name) => !name.startsWith('.')).sort()
}

/** The lines of a manifest as they stand on the disk. */
export async function linesOf(stateDir: string): Promise<Record<string, unknown>[]> {
  const text = await readFile(join(stateDir, 'manifest.ndjson'), 'utf8')
  return text
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Record<string, unknown>)
}
