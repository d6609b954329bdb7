import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import { loadConfig } from '../../src/config/load.ts'
import type { CatalogConfig, FeedMode } from '../../src/config/model.ts'
import { applyCatalogDecision } from '../../src/imports/catalog-decisions.ts'
import { ImportRunner } from '../../src/imports/import-runner.ts'
import { openProductImports } from '../../src/imports/product-imports.ts'
import type { ImportReport } from '../../src/imports/report.ts'
import { UnexpectedFailures } from '../../src/imports/unexpected-failures.ts'
import type { AcceptSequence, FeedName } from '../../src/lib/brand.ts'
import { type Clock, systemClock } from '../../src/lib/clock.ts'
import { Watchdog } from '../../src/lib/watchdog.ts'
import { openRedis } from '../../src/redis/connections.ts'
import { type Archive, openArchive } from '../../src/sources/archive.ts'
import { ClaimIds, claimFileName } from '../../src/sources/claim-name.ts'
import { openManifest } from '../../src/sources/manifest.ts'
import type { Decision, DecisionLine, Expectation } from '../../src/sources/model.ts'
import { openOutbox } from '../../src/storage.ts'
import { collectLog } from '../support/log-lines.ts'
import { startRedis } from '../support/redis-server.ts'
import { tempDir } from '../support/temp-dir.ts'

/** The configuration of one catalog, from the lines below `feeds:` (indented by two). */
export async function catalogFrom(dir: string, feedLines: string): Promise<CatalogConfig> {
  const indented = feedLines.replace(/^(?=.)/gm, '      ')
  const text = `state: ./state
catalogs:
  main:
    api: { url: "http://127.0.0.1:1", productsToken: t, emailToken: e }
    feeds:
${indented}
`
  const file = join(dir, 'catalogd.yaml')
  await mkdir(dir, { recursive: true })
  await writeFile(file, text)
  const config = await loadConfig({ file, env: {} })
  const [catalog] = config.catalogs.values()
  if (!catalog) throw new Error('no catalog')
  return catalog
}

interface ImportOptions {
  mode?: FeedMode
  name?: string
  /** As its name said when it was accepted. */
  asOf?: string
  /** What side files said. */
  expect?: Expectation
}

/** Imports over a real Redis, with accepted files put straight into the archive. */
export async function openImports(
  feedLines: string,
  {
    clock = systemClock,
    readFrom = (archive) => archive,
  }: { clock?: Clock; readFrom?: (archive: Archive) => Archive } = {},
) {
  const dir = await tempDir('imports')
  const server = await startRedis()
  const catalog = await catalogFrom(dir.path, feedLines)
  const { log, lines } = collectLog()
  const connections = await openRedis({ address: { kind: 'url', url: server.url }, clock, log })
  const { keys, scripts, outbox } = await openOutbox({ catalog, connections, clock })
  const manifest = await openManifest({ dir: dir.join('state'), clock })
  const archive = readFrom(await openArchive({ dir: dir.join('state'), manifest }))
  const watchdog = new Watchdog({ onStall: () => undefined })
  const claims = new ClaimIds(clock)
  const waiting = new Map<number, (report: ImportReport) => void>()
  const failures: unknown[] = []
  const start = () => {
    const unexpectedFailures = new UnexpectedFailures(dir.join('state'))
    const reportsDir = dir.join('state/reports')
    const onNotice = () => undefined
    const onOffered = () => undefined
    const access = { catalog, connections, keys, scripts, stateId: 'state-of-the-test', clock, log }
    const importing = {
      context: { catalog, manifest, archive, reportsDir, unexpectedFailures, clock, log },
      feeds: [...catalog.feeds.values()],
      watchdog,
      onImported: (report: ImportReport) => waiting.get(report.sequence)?.(report),
      onCatalogDecision: (line: DecisionLine) =>
        applyCatalogDecision({ connection: connections.commands, keys, scripts, outbox }, line),
    }
    const runner = new ImportRunner({
      open: (signal) => openProductImports({ ...access, onOffered, onNotice }, importing, signal),
      explain: (error) => connections.explain(error),
      onFatal: (error) => failures.push(error),
      ...{ unexpectedFailures, clock, log, onNotice },
    })
    runner.start()
    return runner
  }
  let runner = start()
  const redis = new Redis(server.url)
  return {
    dir,
    catalog,
    keys,
    redis,
    manifest,
    outbox,
    server,
    lines,
    failures,
    connections,
    scripts,
    async stop() {
      await runner[Symbol.asyncDispose]()
    },
    start() {
      runner = start()
    },
    /** Accepts a file and waits for its report. */
    async import(feed: string, content: string | Buffer, options: ImportOptions = {}) {
      const { mode = 'full', name = `${feed}.csv`, asOf, expect } = options
      const claim = claims.next()
      const said = {
        ...(asOf === undefined ? {} : { asOf, isDated: true as const }),
        ...(expect ? { expect } : {}),
      }
      const parts = { claim, feed: feed as FeedName, mode, name }
      const path = join(
        dir.join('state/archive'),
        claimFileName({
          ...{ ...parts, expect, resend: false, grownFrom: undefined },
          asOfMs: asOf === undefined ? undefined : Date.parse(asOf),
        }),
      )
      await writeFile(path, content)
      const at = new Date().toISOString()
      const bytes = Buffer.byteLength(content)
      const sequence = manifest.nextSequence
      const done = new Promise<ImportReport>((resolve) => waiting.set(sequence, resolve))
      await manifest.append([{ kind: 'accept', ...parts, bytes, asOf: at, acceptedAt: at, ...said }])
      runner.wake()
      return done
    },
    /** Compresses what the archive holds, as it happens some time after an import. */
    async archiveAll() {
      const accepts = [...manifest.after(0 as AcceptSequence)].filter((line) => line.kind === 'accept')
      for (const accept of accepts) await archive.archiveFile(accept)
      return accepts.map((accept) => archive.pathOf(accept))
    },
    /** Writes a decision down and waits until it is carried out. */
    async decide(decision: Decision, scope: string) {
      const sequence = manifest.nextSequence
      const at = new Date().toISOString()
      await manifest.append([{ kind: 'decision', request: `r${sequence}`, at, ...decision }])
      runner.wake()
      while (Number(await redis.hget(keys.applied, scope)) < sequence) await new Promise(setImmediate)
    },
    approve(sequence: number, feed: string) {
      return this.decide({ decision: 'approve', import: sequence as AcceptSequence }, feed)
    },
    discard(sequence: number, feed: string) {
      return this.decide({ decision: 'discard', import: sequence as AcceptSequence }, feed)
    },
    async document(id: string): Promise<Record<string, unknown> | undefined> {
      const text = await redis.hget(keys.documents, id)
      return text === null ? undefined : JSON.parse(text)
    },
    async lane(id: string) {
      for (const lane of ['urgent', 'new', 'deferred'] as const) {
        if ((await redis.zscore(keys[lane], id)) !== null) return lane
      }
      return undefined
    },
    /** As if the endpoint had taken everything. */
    async deliverAll() {
      for (;;) {
        for (const key of [keys.deferred, keys.new]) {
          for (const id of await redis.zrange(key, '0', '-1')) await redis.zadd(key, 1, id)
        }
        const answer = await outbox.claim({ mode: 'any', bodyBytesMax: 2_000_000 })
        if (answer.kind === 'wait') {
          await redis.hdel(keys.pace, 'tat')
          continue
        }
        if (answer.kind !== 'claimed') return
        await outbox.acknowledge(answer.claim.token, answer.claim.products)
      }
    },
    read: (path: string) => readFile(path, 'utf8'),
    async [Symbol.asyncDispose]() {
      await runner[Symbol.asyncDispose]()
      redis.disconnect()
      await watchdog[Symbol.asyncDispose]()
      await manifest[Symbol.asyncDispose]()
      await connections[Symbol.asyncDispose]()
      await server[Symbol.asyncDispose]()
      await dir[Symbol.asyncDispose]()
    },
  }
}

export const header = 'product_id,name,url,image_url,availability,price,price_currency_code,description'

/** A row of the plain test feed. */
export function row(
  id: string,
  changes: { price?: string; stock?: string; text?: string; name?: string } = {},
) {
  const { price = '10', stock = 'InStock', text = 'text', name = `Name ${id}` } = changes
  return `${id},${name},https://shop.example/${id},https://shop.example/${id}.jpg,${stock},${price},EUR,${text}`
}

export function feed(...rows: string[]): string {
  return `${[header, ...rows].join('\n')}\n`
}
