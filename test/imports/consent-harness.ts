import { writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { Redis } from 'ioredis'
import { openConsents } from '../../src/consents/open-consents.ts'
import { openIntake } from '../../src/imports/intake.ts'
import { openProductRunner, type ProductRunnerOptions } from '../../src/imports/product-imports.ts'
import { type ImportReport, readReport, reportPath } from '../../src/imports/report.ts'
import { readStateId } from '../../src/imports/state-id.ts'
import type { FeedName } from '../../src/lib/brand.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { Watchdog } from '../../src/lib/watchdog.ts'
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

/** Imports of both kinds, with files put into the inbox; nothing is delivered. */
export async function openConsentImports(feedLines: string) {
  const stack = new AsyncDisposableStack()
  const folder = stack.use(await tempDir('consents'))
  const server = stack.use(await startRedis())
  const catalog = await catalogFrom(folder.path, feedLines)
  const stateDir = folder.join('state')
  const dir = join(stateDir, 'main')
  const { log, lines } = collectLog()
  const clock = systemClock
  const access = { catalog, clock, log }
  const address = { kind: 'url', url: server.url } as const
  const connections = stack.use(await openRedis({ address, clock, log }))
  const watchdog = stack.use(new Watchdog({ onStall: () => undefined }))
  const redis = new Redis(server.url)
  stack.use({ [Symbol.asyncDispose]: async () => redis.disconnect() })
  const failures: unknown[] = []
  const onFatal = (error: unknown) => failures.push(error)
  const feeds = catalog.consents.feeds.keys()
  const stateId = await readStateId(dir)
  const where = { dir, stateId, feeds, endpoint: undefined }
  const consents = stack.use(await openConsents({ ...where, clock, log, onLost: onFatal }))
  const intakeOptions = {
    ...access,
    openMirror: async () => {
      const mirror = await openTestMirror(join(dir, 'catalog.db'), { clock })
      return {
        mirror,
        openProducts(options: Omit<ProductRunnerOptions, 'mirror' | 'watchdog'>) {
          const runner = openProductRunner({ ...options, mirror, watchdog })
          return Object.assign(runner, { forget: async () => undefined })
        },
        [Symbol.asyncDispose]: () => mirror[Symbol.asyncDispose](),
      }
    },
    ...{ dir, connections, watchdog, watchesDropFolders: false, imports: true, keepMs: 1 },
    endDelivery: async () => undefined,
    openConsents: async () => consents,
    onFatal,
  }
  const { mirror } = stack.use(await openIntake(intakeOptions))

  return {
    redis,
    consents,
    lines,
    failures,
    mirror,
    /** Hands a file in and waits for its report. */
    async import(feed: string, content: string | Buffer, name = `${feed}.csv`): Promise<ImportReport> {
      const path = folder.join(name)
      await writeFile(path, content)
      const inboxDir = join(dir, 'inbox')
      const claim = await putFile({ inboxDir, feed: feed as FeedName, mode: 'delta', path, clock })
      const report = async () => {
        using manifest = await readManifest(dir)
        const accept = manifest.fileOf(claim)
        if (!accept || consents.applied(accept.feed) < accept.sequence) return undefined
        return readReport(reportPath(join(dir, 'reports'), accept))
      }
      return waitFor(report, { what: `the import of ${basename(path)}` })
    },
    decide: (decision: Decision) => putDecision({ inboxDir: join(dir, 'inbox'), decision, clock }),
    /** What is held of an address. */
    stored(email: string) {
      const row = consents.find(consents.idOf(email))
      return row && { email: row.email, consent: row.consent === 1, lane: row.lane }
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  }
}
