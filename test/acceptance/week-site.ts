import { mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises'
import { expect } from 'vitest'
import type { FeedName } from '../../src/lib/brand.ts'
import type { Sandbox } from '../../src/sandbox/sandbox.ts'
import { runCli } from '../cli/support.ts'
import { Site } from '../fault/site.ts'
import type { Child } from '../support/child.ts'
import { waitFor } from '../support/events.ts'
import type { WeekDocument } from './week-model.ts'
import type { WeekFile } from './week-plan.ts'

/** For what may take long on a machine that does much else. */
const patienceMs = 120_000

const catalog = (url: string) => `    api: { url: "${url}", productsTokenFile: ./token }
    delivery: { concurrency: 4, timeout: 5s, horizon: 1s, callsPerSecond: 200 }
    deferred: { after: 0s, atMost: 1s }
    feeds:
      catalogue:
        drop: ./drop/catalogue
        files: { full: "full_*", delta: "delta_*" }
        settle: 0s
        asOf: { name: "_(?<stamp>[0-9]{8}T[0-9]{4})" }
        rejects: { atMost: 30% }
        fields:
          product_id: { column: ["g:id", id] }
          name: { column: ["g:title", title] }
          description: { column: ["g:description", description] }
          url: { column: ["g:link", link] }
          image_url: { column: ["g:image_link", image_link] }
          brand: { column: ["g:brand", brand] }
          variation_id: { column: ["g:gtin", gtin] }
          price: { column: ["g:price", price], part: amount }
          price_currency_code: { column: ["g:price", price], part: currency }
          availability: { column: ["g:availability", availability], words: availability }
          inventory_level: { column: ["g:quantity", quantity] }
      stock:
        drop: ./drop/stock
        mode: delta
        settle: 0s
        fields:
          product_id: sku
          inventory_level: qty
          availability: { column: qty, when: { "0": OutOfStock }, otherwise: InStock }
        owns: [inventory_level, availability]
      prices:
        drop: ./drop/prices
        files: { full: "full_*", delta: "delta_*" }
        settle: 0s
        asOf: { column: Stand, date: "DD.MM.YYYY HH:mm" }
        format: { delimiter: ";", encoding: windows-1252 }
        key: variation_id
        fields:
          variation_id: EAN
          price: { column: Preis (€), decimal: ",", thousands: "." }
          list_price: { column: früher, decimal: ",", thousands: "." }
        owns: [price, list_price]
        missing: { action: ignore }
        changes: { atMost: { urgent: 60% } }
`

interface Line {
  kind: string
  sequence: number
  claim: string
  feed: FeedName
  name: string
}

interface Stop {
  signal: 'SIGKILL' | 'SIGTERM'
  /** SIGKILL for the redis-server, too. */
  withRedis: boolean
}

interface Report {
  file: string
  outcome: string
  rejected: number
}

/** The place where a week is lived through: three drop folders, a daemon that comes and goes, and the operator. */
export class WeekSite implements AsyncDisposable {
  readonly #site: Site
  #daemon: Child | undefined
  starts = 0

  private constructor(site: Site) {
    this.#site = site
  }

  /** `url`: of what stands before the sandbox. */
  static async open(sandbox: Sandbox, url: string): Promise<WeekSite> {
    const site = await Site.open({ sandbox, catalog: () => catalog(url) })
    for (const feed of ['catalogue', 'stock', 'prices'])
      await mkdir(site.path('drop', feed), { recursive: true })
    return new WeekSite(site)
  }

  get isUp(): boolean {
    return this.#daemon?.running === true
  }

  /** `waits`: until it works; else it may be killed while it starts. */
  async start({ waits = true } = {}): Promise<void> {
    if (!this.isUp) {
      this.#daemon = await this.#site.spawn()
      this.starts += 1
    }
    if (waits && this.#daemon)
      await this.#site.untilLogged(this.#daemon, 'watching and importing', patienceMs)
  }

  async stop({ signal, withRedis }: Stop): Promise<void> {
    expect(this.isUp, this.#site.logs()).toBe(true)
    await this.#daemon?.kill(signal)
    await this.#daemon?.ended()
    if (withRedis) await this.#site.killEmbeddedRedis()
  }

  async drop({ feed, name, content }: WeekFile): Promise<void> {
    const folder = this.#site.path('drop', feed)
    await writeFile(`${folder}/.${name}.tmp`, content)
    await rename(`${folder}/.${name}.tmp`, `${folder}/${name}`)
    this.#site.dropped += 1
  }

  /** Waits until whatever was dropped has been imported, held, late or refused. */
  async untilImported(): Promise<void> {
    const imported = async () => {
      const lines = await this.accepted()
      if (lines.length < this.#site.dropped) return false
      using mirror = this.#site.openMirror()
      return lines.every(({ claim }) => mirror.isApplied(claim))
    }
    const what = async () => `${(await this.accepted()).length} of ${this.#site.dropped} accepted`
    const last = await what()
    await waitFor(imported, { withinMs: patienceMs, what: () => `imports; ${last}\n${this.#site.logs()}` })
  }

  /** Approves or discards the import of a file as soon as it is held. */
  async decide(name: string, decision: 'approve' | 'discard'): Promise<void> {
    const held = async () => {
      const line = (await this.accepted()).find((one) => one.name === name)
      using mirror = line && this.#site.openMirror()
      const text = line && mirror?.held().get(line.feed)
      return text?.includes(`"sequence":${line?.sequence},`) ? line : undefined
    }
    const line = await waitFor(held, {
      withinMs: patienceMs,
      what: () => `${name} held\n${this.#site.logs()}`,
    })
    const config = ['--config', this.#site.path('catalogd.yaml')]
    const ran = await runCli([decision, String(line.sequence), ...config])
    expect(ran, ran.stderr).toMatchObject({ exitCode: 0 })
  }

  /** Waits until all is imported and nothing is left to send. */
  async untilQuiet(): Promise<void> {
    await this.untilImported()
    let left: unknown
    const quiet = async () => {
      left = await this.#site.work()
      const { pending, dead, claimed, echoes } = await this.#site.work()
      return pending + dead + claimed + echoes === 0
    }
    await waitFor(quiet, {
      withinMs: patienceMs,
      what: () => `${JSON.stringify(left)}\n${this.#site.logs()}`,
    })
  }

  /** In accept order, from the manifest. */
  async accepted(): Promise<Line[]> {
    return (await this.#site.accepted()) as Line[]
  }

  /** How each file ended, by its name. */
  async reports(): Promise<Map<string, Report>> {
    const folder = this.#site.path('state', 'main', 'reports')
    const names = (await readdir(folder)).filter((name) => /^\d+-[a-z]+\.json$/.test(name))
    const texts = await Promise.all(names.map((name) => readFile(`${folder}/${name}`, 'utf8')))
    const reports = texts.map((text) => JSON.parse(text) as Report)
    return new Map(reports.map((report) => [report.file, report]))
  }

  /** What the endpoint holds. */
  async delivered(): Promise<Map<string, WeekDocument>> {
    return (await this.#site.documents()) as Map<string, WeekDocument>
  }

  /** What the program holds. */
  async stored(): Promise<{ documents: Map<string, WeekDocument>; incomplete: string[] }> {
    using mirror = this.#site.openMirror()
    const ids = [...mirror.pages()].flatMap((page) => page.map(({ productId }) => productId))
    const parsed = [...mirror.read(ids)].flatMap(([id, { document }]) =>
      document ? [[String(id), JSON.parse(document.toString('utf8'))] as const] : [],
    )
    const incomplete = mirror.incomplete(ids.length).map(({ productId }) => productId)
    return { documents: new Map(parsed), incomplete }
  }

  async overlapping(): Promise<number> {
    return (await this.#site.summary()).overlapping.count
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#site[Symbol.asyncDispose]()
  }
}
