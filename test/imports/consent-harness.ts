import { writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { Redis } from 'ioredis'
import { decodeConsent } from '../../src/consents/document.ts'
import { openConsents } from '../../src/consents/open-consents.ts'
import { openIntake } from '../../src/imports/intake.ts'
import { type ImportReport, readReport, reportPath } from '../../src/imports/report.ts'
import { readStateId } from '../../src/imports/state-id.ts'
import type { FeedName } from '../../src/lib/brand.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { ReleaseStack } from '../../src/lib/release-stack.ts'
import { Watchdog } from '../../src/lib/watchdog.ts'
import { RedisOutbox } from '../../src/outbox/outbox.ts'
import { openRedis } from '../../src/redis/connections.ts'
import { putDecision, putFile } from '../../src/sources/inbox.ts'
import { readManifest } from '../../src/sources/manifest-reader.ts'
import type { Decision } from '../../src/sources/model.ts'
import { waitFor } from '../support/events.ts'
import { collectLog } from '../support/log-lines.ts'
import { openTestMirror } from '../support/mirror.ts'
import { startRedis } from '../support/redis-server.ts'
import { tempDir } from '../support/temp-dir.ts'
import { catalogFrom } from './harness.ts'

/** Imports of both kinds over a real Redis, with files put into the inbox; nothing is delivered. */
export async function openConsentImports(feedLines: string) {
  const stack = new ReleaseStack()
  const folder = stack.use('folder', await tempDir('consents'))
  const server = stack.use('server', await startRedis())
  const catalog = await catalogFrom(folder.path, feedLines)
  const stateDir = folder.join('state')
  const dir = join(stateDir, 'main')
  const { log, lines } = collectLog()
  const clock = systemClock
  const access = { catalog, clock, log }
  const address = { kind: 'url', url: server.url } as const
  const connections = stack.use('connections', await openRedis({ address, clock, log }))
  const watchdog = stack.use('watchdog', new Watchdog({ onStall: () => undefined }))
  const redis = new Redis(server.url)
  stack.use('redis', { [Symbol.asyncDispose]: async () => redis.disconnect() })
  const failures: unknown[] = []

  const start = async () => {
    const running = new ReleaseStack()
    const stateId = await readStateId(dir)
    const consents = running.use(
      'consents',
      await openConsents({
        ...{ catalog: catalog.name, stateDir, dir, stateId, connections, clock, log },
        onDue: () => undefined,
      }),
    )
    const { keys, scripts, intake } = consents
    const delivery = { ...catalog.delivery, ...catalog.consents }
    const outbox = new RedisOutbox({
      ...{ connection: connections.commands, keys, scripts, clock, delivery },
      deferred: catalog.deferred,
    })
    const intakeOptions = {
      ...access,
      openMirror: () => openTestMirror(join(dir, 'catalog.db'), { clock }),
      ...{ dir, connections, watchdog, watchesDropFolders: false, imports: true, keepMs: 1 },
      consents: { intake, outbox, onOffered: () => undefined },
      onFatal: (error: unknown) => failures.push(error),
    }
    const { mirror } = running.use('intake', await openIntake(intakeOptions))
    return { consents, mirror, [Symbol.asyncDispose]: () => running[Symbol.asyncDispose]() }
  }
  let running = await start()

  return {
    redis,
    keys: running.consents.keys,
    lines,
    failures,
    get mirror() {
      return running.mirror
    },
    get gate() {
      return running.consents.gate
    },
    get hasher() {
      return running.consents.intake.hasher
    },
    stop: () => running[Symbol.asyncDispose](),
    start: async () => {
      running = await start()
    },
    /** Hands a file in and waits for its report. */
    async import(feed: string, content: string | Buffer, name = `${feed}.csv`): Promise<ImportReport> {
      const path = folder.join(name)
      await writeFile(path, content)
      const inboxDir = join(dir, 'inbox')
      const claim = await putFile({ inboxDir, feed: feed as FeedName, mode: 'delta', path, clock })
      const report = async () => {
        using manifest = await readManifest(dir)
        const accept = manifest.fileOf(claim)
        if (!accept || !manifest.outcome(accept.sequence)) return undefined
        const applied =
          catalog.feeds.get(accept.feed)?.kind === 'products' ? undefined : running.consents.keys
        const done = applied && Number(await redis.hget(applied.applied, accept.feed)) >= accept.sequence
        return done ? readReport(reportPath(join(dir, 'reports'), accept)) : undefined
      }
      return waitFor(report, { what: `the import of ${basename(path)}` })
    },
    decide: (decision: Decision) => putDecision({ inboxDir: join(dir, 'inbox'), decision, clock }),
    /** What is held of an address. */
    async stored(email: string) {
      const id = running.consents.intake.hasher.idOf(email)
      const { keys } = running.consents
      const document = await redis.hgetBuffer(keys.documents, id)
      const lanes = await Promise.all(
        (['urgent', 'new'] as const).map(async (lane) =>
          (await redis.zscore(keys[lane], id)) ? [lane] : [],
        ),
      )
      return document === null ? undefined : { ...decodeConsent(document), lanes: lanes.flat() }
    },
    async [Symbol.asyncDispose]() {
      await running[Symbol.asyncDispose]()
      await stack[Symbol.asyncDispose]()
    },
  }
}
