import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { Redis } from 'ioredis'
import { loadConfig } from '../../src/config/load.ts'
import { openConsentKey } from '../../src/consents/key.ts'
import type { CatalogName } from '../../src/lib/brand.ts'
import type { Clock } from '../../src/lib/clock.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { catalogKeys } from '../../src/outbox/keys.ts'
import { openRedis } from '../../src/redis/connections.ts'
import { openService, type Role } from '../../src/service.ts'
import { waitFor } from '../support/events.ts'
import { collectLog } from '../support/log-lines.ts'
import { type RedisServerOptions, startRedis } from '../support/redis-server.ts'
import { tempDir } from '../support/temp-dir.ts'
import { openConsentEndpoint, type Script } from './endpoint.ts'

export interface SiteOptions {
  script?: Script
  /** Of the section `consents`. */
  settings?: string
  redis?: RedisServerOptions
}

export type Statement = readonly [email: string, consent: boolean]

/** A catalog with one feed of consents: drop folder, real Redis, real endpoint, and the service in this process. */
export async function openSite({ script, settings = 'callsPerSecond: 1000', redis }: SiteOptions = {}) {
  const dir = await tempDir('consents')
  const server = await startRedis(redis)
  const endpoint = await openConsentEndpoint(script)
  const { log, lines } = collectLog()
  const offset = { ms: 0 }
  const clock: Clock = {
    ...systemClock,
    now: () => systemClock.now() + offset.ms,
    monotonic: () => systemClock.monotonic() + offset.ms,
  }
  const failures: unknown[] = []
  const keys = catalogKeys('main' as CatalogName, 'consents')
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
  const redisClient = new Redis(server.url, {
    lazyConnect: true,
    retryStrategy: () => 50,
    maxRetriesPerRequest: null,
  })
  redisClient.on('error', () => {})
  let running: AsyncDisposable[] = []
  let files = 0
  const site = {
    dir,
    server,
    endpoint,
    lines,
    keys,
    failures,
    redis: redisClient,
    /** Time passes for who asks the clock; nobody who sleeps wakes earlier. */
    passTime(ms: number) {
      offset.ms += ms
    },
    token: (token: string) => writeFile(dir.join('token'), token),
    async start(roles: readonly Role[] = ['watch', 'import', 'deliver']) {
      const config = await loadConfig({ file: dir.join('catalogd.yaml'), env: {} })
      const connections = await openRedis({ address: { kind: 'url', url: server.url }, clock, log })
      running.push(connections)
      const service = await openService({
        config,
        catalogs: [...config.catalogs.values()],
        roles: new Set(roles),
        connections,
        clock,
        log,
        onFatal: (error) => failures.push(error),
      })
      running.push(service)
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
          const applied = await redisClient.hget(keys.applied, 'news')
          if (accepted.length < files || applied !== (accepted.at(-1)?.[1] ?? null)) return false
          const [pending, claimed, dead] = await Promise.all(
            [keys.pending, keys.claimed, keys.dead].map((key) => redisClient.hlen(key)),
          )
          return claimed === 0 && pending === dead
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
    idOf: async (email: string) => (await openConsentKey(dir.join('state'))).idOf(email),
    letterOf: async (email: string) => {
      const id = await site.idOf(email)
      const letter = await redisClient.hgetBuffer(keys.dead, id)
      return letter
        ? (JSON.parse(letter.subarray(16).toString()) as { reason: string; status?: number })
        : undefined
    },
    journal: () => readFile(dir.join('state', 'main', 'consents', 'acknowledged.ndjson'), 'utf8'),
    async [Symbol.asyncDispose]() {
      await site.stop()
      redisClient.disconnect()
      await endpoint[Symbol.asyncDispose]()
      await server[Symbol.asyncDispose]()
      await dir[Symbol.asyncDispose]()
    },
  }
  return site
}

export type Site = Awaited<ReturnType<typeof openSite>>
