import { readdir } from 'node:fs/promises'
import type { ConsoleConfig, FeedConfig } from '../../src/config/model.ts'
import { type Console, openConsole } from '../../src/console/console.ts'
import type { Health } from '../../src/console/monitoring-routes.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { type Manifest, openManifest } from '../../src/sources/manifest.ts'
import type { AcceptLine } from '../../src/sources/model.ts'
import { openSources, type Sources } from '../../src/sources/sources.ts'
import { catalogOf, feedNamed } from '../sources/support/setup.ts'
import { collectLog, type LogLine } from '../support/log-lines.ts'
import { tempDir } from '../support/temp-dir.ts'

export const token = 'console-token-of-the-tests'

export interface Pushed {
  status: number
  headers: Headers
  body: { sequence?: number; bytes?: number; error?: string; message?: string; hint?: string }
}

type PushBody = string | Uint8Array<ArrayBuffer> | ReadableStream

interface PushOptions {
  query?: string
  headers?: Record<string, string>
  feed?: string
}

/** A console over real sources, and a client that speaks HTTP to it. */
export interface TestConsole extends AsyncDisposable {
  url: string
  stateDir: string
  manifest: Manifest
  accepted: AcceptLine[]
  lines: LogLine[]
  /** What `GET /health` answers. */
  health: Health
  /** Whether this process accepts files. */
  accepts: boolean
  push(body: PushBody, options?: PushOptions): Promise<Pushed>
  /** What the archive holds, temporary files included. */
  archived(): Promise<string[]>
}

export async function openTestConsole(
  changes: {
    config?: Partial<ConsoleConfig>
    feeds?: readonly Partial<FeedConfig>[]
    stateDir?: string
  } = {},
): Promise<TestConsole> {
  const dir = await tempDir('console')
  const stateDir = changes.stateDir ?? dir.join('state', 'main')
  const feeds = (changes.feeds ?? [{}]).map((feed) =>
    feedNamed(feed.name ?? 'products', dir.join(`drop-${feed.name ?? 'products'}`), feed),
  )
  const catalog = catalogOf(feeds)
  const { log, lines } = collectLog()
  const clock = systemClock
  const manifest = await openManifest({ dir: stateDir, clock })
  const accepted: AcceptLine[] = []
  const sources: Sources = await openSources({
    ...{ catalog, dir: stateDir, manifest, clock, log, rescanMs: 60_000 },
    onAccepted: (files) => accepted.push(...files),
    onDecision: () => undefined,
    onNotice: () => undefined,
  })
  const config: ConsoleConfig = {
    listen: { host: '127.0.0.1', port: 0 },
    token: { available: true, value: () => token },
    ...{ readToken: undefined, tls: undefined, hosts: ['feeds.example'] },
    bytesMax: 10_000_000,
    ...changes.config,
  }
  const running: Console = await openConsole({
    ...{ config, catalogs: [catalog], clock, log },
    acceptorOf: () => (test.accepts ? sources.acceptPushed : undefined),
    health: async () => test.health,
  })
  const test: TestConsole = {
    url: running.url ?? '',
    ...{ stateDir, manifest, accepted, lines, accepts: true },
    health: { status: 'ok', parts: { redis: 'ok' } },
    push: (body, options = {}) => push(running.url ?? '', body, options),
    archived: () => readdir(`${stateDir}/archive`),
    [Symbol.asyncDispose]: async () => {
      await running[Symbol.asyncDispose]()
      await sources[Symbol.asyncDispose]()
      await manifest[Symbol.asyncDispose]()
      await dir[Symbol.asyncDispose]()
    },
  }
  return test
}

async function push(
  url: string,
  body: PushBody,
  { query = '', headers = {}, feed = 'products' }: PushOptions,
): Promise<Pushed> {
  const answer = await fetch(`${url}/feeds/${feed}${query}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, ...headers },
    body,
    ...(body instanceof ReadableStream ? { duplex: 'half' } : {}),
  } as RequestInit)
  const text = await answer.text()
  return { status: answer.status, headers: answer.headers, body: text === '' ? {} : JSON.parse(text) }
}
