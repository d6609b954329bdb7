import { cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { readConfig } from '../../src/config/load.ts'
import type { CatalogConfig, FeedMode } from '../../src/config/model.ts'
import { type Held, parseHeld } from '../../src/imports/context.ts'
import { appliedStep } from '../../src/imports/manifest-steps.ts'
import { openProductRunner } from '../../src/imports/product-imports.ts'
import type { ImportReport } from '../../src/imports/report.ts'
import type { AcceptSequence, FeedName, ProductId } from '../../src/lib/brand.ts'
import { type Clock, systemClock } from '../../src/lib/clock.ts'
import { Watchdog } from '../../src/lib/watchdog.ts'
import { type Archive, openArchive } from '../../src/sources/archive.ts'
import { ClaimIds, claimFileName } from '../../src/sources/claim-name.ts'
import { openManifest } from '../../src/sources/manifest.ts'
import type { Decision, Expectation } from '../../src/sources/model.ts'
import { collectLog } from '../support/log-lines.ts'
import { openTestMirror } from '../support/mirror.ts'
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
  const { config } = await readConfig({ file, env: {} })
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

/** Imports into a real mirror, with accepted files put straight into the archive. */
export async function openImports(
  feedLines: string,
  {
    clock = systemClock,
    readFrom = (archive) => archive,
  }: { clock?: Clock; readFrom?: (archive: Archive) => Archive } = {},
) {
  const dir = await tempDir('imports')
  const catalog = await catalogFrom(dir.path, feedLines)
  const { log, lines } = collectLog()
  let manifest = await openManifest({ dir: dir.join('state'), clock })
  let archive = readFrom(await openArchive({ dir: dir.join('state'), manifest }))
  const watchdog = new Watchdog({ onStall: () => undefined })
  const claims = new ClaimIds(clock)
  const waiting = new Map<number, (report: ImportReport) => void>()
  const failures: unknown[] = []
  const file = dir.join('state/catalog.db')
  const manifestFile = dir.join('state/manifest.ndjson')
  let mirror = await openTestMirror(file, { clock })
  const start = () => {
    const runner = openProductRunner({
      ...{ catalog, dir: dir.join('state'), manifest, archive, mirror, watchdog, clock, log },
      onImported: (report) => waiting.get(report.sequence)?.(report),
      onNotice: () => undefined,
      onFatal: (error) => failures.push(error),
    })
    runner.start()
    return runner
  }
  let runner = start()
  const stop = () => runner[Symbol.asyncDispose]()
  /** Whatever happens to the files happens while nothing has them open. */
  const reopen = async (change: () => Promise<void>) => {
    await stop()
    await mirror[Symbol.asyncDispose]()
    await change()
    mirror = await openTestMirror(file, { clock, takesCopy: true })
  }
  const removeMirror = async () => {
    for (const end of ['', '-wal', '-shm']) await rm(`${file}${end}`, { force: true })
  }
  return {
    dir,
    catalog,
    get manifest() {
      return manifest
    },
    lines,
    log,
    failures,
    get mirror() {
      return mirror
    },
    stop,
    start() {
      runner = start()
    },
    /** Everything is done again from the manifest. */
    async loseMirror() {
      await reopen(removeMirror)
      runner = start()
    },
    /** An empty mirror that has applied all of the manifest; imports stand still until `start`. */
    async emptyMirror() {
      await reopen(removeMirror)
      for (const step of manifest.after(0)) {
        const scope = step.kind === 'accept' ? step.feed : '*'
        await mirror.update([], () => ({ writes: [], applied: appliedStep(scope, step) }))
      }
    },
    /** After something else was put in its place; imports stand still until `start`. */
    async reopenMirror() {
      mirror = await openTestMirror(file, { clock })
    },
    saveManifest: () => cp(manifestFile, `${manifestFile}.saved`),
    async restoreManifest() {
      await stop()
      await manifest[Symbol.asyncDispose]()
      await cp(`${manifestFile}.saved`, manifestFile)
      manifest = await openManifest({ dir: dir.join('state'), clock })
      archive = readFrom(await openArchive({ dir: dir.join('state'), manifest }))
      runner = start()
    },
    async saveMirror() {
      await reopen(() => cp(file, `${file}.saved`))
      runner = start()
    },
    async restoreMirror() {
      await reopen(async () => {
        await removeMirror()
        await cp(`${file}.saved`, file)
      })
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
      const at = new Date(clock.now()).toISOString()
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
      const at = new Date(clock.now()).toISOString()
      await manifest.append([{ kind: 'decision', request: `r${sequence}`, at, ...decision }])
      runner.wake()
      await this.untilApplied(scope, sequence)
    },
    async untilApplied(scope: string, sequence: number) {
      const newest = () => {
        const [step] = mirror.applied(scope as FeedName)
        return step?.sequence ?? 0
      }
      while (newest() < sequence) await new Promise(setImmediate)
    },
    /** In accept order. */
    held: (feed: string): Held[] => parseHeld(mirror.held().get(feed as FeedName)),
    /** Products that wait for an announced change, the next first. */
    switches: () => mirror.switchesDue(Number.POSITIVE_INFINITY, 1_000),
    /** All products as they are stored. */
    products() {
      const ids = [...mirror.pages()].flatMap((page) => page.map(({ productId }) => productId))
      const texts = [...mirror.read(ids)].map(([id, { document, partial }]) => {
        return [id, { document: document?.toString(), partial: partial?.toString() }] as const
      })
      return Object.fromEntries(texts.sort(([one], [other]) => (one < other ? -1 : 1)))
    },
    /** Sorted ids. */
    unsent() {
      return Object.keys(this.products()).filter((id) => mirror.isUnsent(id as ProductId))
    },
    deliverAll: () => mirror.acknowledgeAll(),
    approve(sequence: number, feed: string) {
      return this.decide({ decision: 'approve', import: sequence as AcceptSequence }, feed)
    },
    discard(sequence: number, feed: string) {
      return this.decide({ decision: 'discard', import: sequence as AcceptSequence }, feed)
    },
    async document(id: string): Promise<Record<string, unknown> | undefined> {
      const { document } = mirror.read([id as ProductId]).get(id as ProductId) ?? {}
      return document && JSON.parse(document.toString('utf8'))
    },
    async lane(id: string) {
      const [row] = mirror.sql(
        `SELECT lane FROM sending JOIN products ON key = product WHERE id = '${id}' AND lane IS NOT NULL`,
      )
      return row && ['urgent', 'new', 'deferred'][row.lane as number]
    },
    read: (path: string) => readFile(path, 'utf8'),
    async [Symbol.asyncDispose]() {
      await runner[Symbol.asyncDispose]()
      await mirror[Symbol.asyncDispose]()
      await watchdog[Symbol.asyncDispose]()
      await manifest[Symbol.asyncDispose]()
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
