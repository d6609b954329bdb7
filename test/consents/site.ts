import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { readConfig } from '../../src/config/load.ts'
import { ConsentReader } from '../../src/consents/reader.ts'
import type { Clock } from '../../src/lib/clock.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { adopt, planAdoption } from '../../src/operations/adopt.ts'
import { openRedis } from '../../src/redis/connections.ts'
import { openService, type Role } from '../../src/service.ts'
import { waitFor } from '../support/events.ts'
import { collectLog } from '../support/log-lines.ts'
import { type RedisServerOptions, startRedis } from '../support/redis-server.ts'
import type { shiftedClock } from '../support/shifted-clock.ts'
import { tempDir } from '../support/temp-dir.ts'
import { openConsentEndpoint, type Script } from './endpoint.ts'

export interface SiteOptions {
  script?: Script
  /** Of the section `consents`. */
  settings?: string
  redis?: RedisServerOptions
  /** In place of one that wakes nobody who sleeps. */
  time?: ReturnType<typeof shiftedClock>
}

export type Statement = readonly [email: string, consent: boolean]

/** A catalog with one feed of consents: drop folder, real Redis, real endpoint, and the service in this process. */
export async function openSite({ script, settings = 'callsPerSecond: 1000', redis, time }: SiteOptions = {}) {
  const dir = await tempDir('consents')
  const server = await startRedis(redis)
  const endpoint = await openConsentEndpoint(script)
  const { log, lines } = collectLog()
  const offset = { ms: 0 }
  const clock: Clock = time?.clock ?? {
    ...systemClock,
    now: () => systemClock.now() + offset.ms,
    monotonic: () => systemClock.monotonic() + offset.ms,
  }
  const failures: unknown[] = []
  await mkdir(dir.join('drop'))
  await writeFile(
    dir.join('catalogd.yaml'),
    `state: ./state
redis: ${server.url}
catalogs:
  main:
    api: { url: "${endpoint.url}", emailTokenFile: ./token }
    consents: { ${settings} }
    feeds:
      news: { kind: consents, drop: ./drop, files: "*.ndjson", settle: 0s }
`,
  )
  await writeFile(dir.join('token'), 'email-token')
  /** Of what the daemon has written; undefined: nothing yet. */
  const read = <T>(look: (consents: ConsentReader) => T): T | undefined => {
    using consents = ConsentReader.open(dir.join('state', 'main'))
    return consents && look(consents)
  }
  let running: AsyncDisposable[] = []
  let files = 0
  const site = {
    dir,
    server,
    endpoint,
    lines,
    failures,
    read,
    overview: () => read((consents) => consents.overview(clock.now())),
    rowOf: (email: string) => read((consents) => consents.find(consents.idOf(email))),
    /** Time passes for who asks the clock; nobody who sleeps wakes earlier. */
    passTime(ms: number) {
      offset.ms += ms
    },
    token: (token: string) => writeFile(dir.join('token'), token),
    /** As a command is given it. */
    async context() {
      const { config } = await readConfig({ file: dir.join('catalogd.yaml'), env: {} })
      const [catalog] = config.catalogs.values()
      if (!catalog) throw new Error('there is no catalog')
      const connections = await openRedis({ address: { kind: 'url', url: server.url }, clock, log })
      running.push(connections)
      const { signal } = new AbortController()
      return { config, catalog, connections, clock, log, signal }
    },
    async start(roles: readonly Role[] = ['watch', 'import', 'deliver']) {
      const { catalog, ...context } = await site.context()
      const service = await openService({
        ...context,
        catalogs: [catalog],
        roles: new Set(roles),
        onFatal: (error) => failures.push(error),
      })
      running.push(service)
    },
    /** As the operator does where a start is refused. */
    async adopt() {
      adopt(await planAdoption(await site.context()))
      await site.stop()
    },
    async stop() {
      for (const each of running.reverse()) await each[Symbol.asyncDispose]()
      running = []
    },
    async drop(statements: readonly Statement[]) {
      files += 1
      const text = statements.map(([email, consent]) => `${JSON.stringify({ email, consent })}\n`).join('')
      await writeFile(dir.join(`file-${files}`), text)
      await rename(dir.join(`file-${files}`), dir.join('drop', `${files}.ndjson`))
    },
    /** Everything that was dropped is imported, and nothing waits to be sent. */
    async settled() {
      await waitFor(
        async () => {
          if (failures.length > 0) throw failures[0]
          const manifest = await readFile(dir.join('state', 'main', 'manifest.ndjson'), 'utf8').catch(
            () => '',
          )
          const accepted = [...manifest.matchAll(/"kind":"accept","sequence":(\d+)/g)]
          const newest = Number(accepted.at(-1)?.[1] ?? 0)
          const isApplied = read((consents) => consents.applied('news') >= newest)
          if (accepted.length < files || !isApplied) return false
          const overview = site.overview()
          return overview?.inFlight === 0 && overview.pending === overview.dead
        },
        {
          withinMs: 180_000,
          what: () =>
            `settled; the log ends:\n${lines
              .slice(-15)
              .map((line) => JSON.stringify(line))
              .join('\n')}`,
        },
      )
    },
    letterOf: (email: string) => {
      const letter = site.rowOf(email)?.letter
      return letter ? (JSON.parse(letter) as { reason: string; status?: number }) : undefined
    },
    isPaused: () => site.overview()?.paused.length === 1,
    async [Symbol.asyncDispose]() {
      await site.stop()
      await endpoint[Symbol.asyncDispose]()
      await server[Symbol.asyncDispose]()
      await dir[Symbol.asyncDispose]()
    },
  }
  return site
}

export type Site = Awaited<ReturnType<typeof openSite>>
