import assert from 'node:assert/strict'
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { Redis } from 'ioredis'
import type { CatalogName, FeedName } from '../../src/lib/brand.ts'
import { MirrorReader } from '../../src/mirror/reader.ts'
import { catalogKeys } from '../../src/outbox/keys.ts'
import { openSandbox } from '../../src/sandbox/sandbox.ts'
import { type Child, startChild } from '../support/child.ts'
import { waitFor } from '../support/events.ts'
import { type TempDir, tempDir } from '../support/temp-dir.ts'
import type { Document } from './versions.ts'

const program = fileURLToPath(new URL('../../src/main.ts', import.meta.url))
const keys = catalogKeys('main' as CatalogName)
export const productsToken = 'token-of-the-fault-tests'

/** Without a trailing slash. */
export interface SiteEndpoint extends AsyncDisposable {
  readonly url: string
}

export interface SiteOptions {
  /** Default: the embedded one. */
  redisUrl?: string
  /** YAML of `delivery` in braces. */
  delivery?: string
  deferred?: string
  latencyMs?: number
  /** What it delivers to where it has no sandbox of its own; whoever opened it closes it. */
  sandbox?: SiteEndpoint
  /** Default: a temporary folder. Whoever opened it removes it. */
  dir?: TempDir
  dropDir?: string
  /** What stands in the token's file at first. */
  token?: string
  /** YAML of the catalog in place of the usual one; indented by four. */
  catalog?: (sandboxUrl: string) => string
  /** Of the processes. */
  env?: Readonly<Record<string, string>>
}

export interface Taken {
  times: number
  document: Document
}

export interface SandboxCall {
  products: number
  status: number | null
  ids: string[] | null
}

/** A state folder with its configuration, a sandbox to deliver to, and processes of the program that may be killed. */
export class Site implements AsyncDisposable {
  readonly #dir: TempDir
  readonly #options: SiteOptions
  readonly #processes: Child[] = []
  readonly #redis: Redis
  readonly sandbox: SiteEndpoint
  /** Files put into the drop folder so far. */
  dropped = 0
  /** What was left to do when it was looked at last. */
  #found = ''
  /** What is started; another version of it may be put here. */
  program = program

  private constructor(dir: TempDir, options: SiteOptions, sandbox: SiteEndpoint) {
    this.#dir = dir
    this.#options = options
    this.sandbox = sandbox
    const settings = { lazyConnect: true, maxRetriesPerRequest: 0, enableOfflineQueue: false } as const
    const { redisUrl } = options
    this.#redis = redisUrl
      ? new Redis(redisUrl, settings)
      : new Redis({ path: dir.join('state/redis/redis.sock'), ...settings })
    this.#redis.on('error', () => {})
  }

  static async open(options: SiteOptions = {}): Promise<Site> {
    const dir = options.dir ?? (await tempDir('fault'))
    const { latencyMs = 0, token = productsToken } = options
    const sandbox = options.sandbox ?? (await openSandbox({ port: 0, productsToken, latencyMs }))
    const site = new Site(dir, options, sandbox)
    await writeFile(dir.join('token'), `${token}\n`)
    await mkdir(site.dropDir, { recursive: true })
    await writeFile(dir.join('catalogd.yaml'), site.#config())
    return site
  }

  get dropDir(): string {
    return this.#options.dropDir ?? this.path('drop')
  }

  path(...segments: string[]): string {
    return this.#dir.join(...segments)
  }

  /** Starts a process of the program and does not wait until it works. */
  async spawn(...args: string[]): Promise<Child> {
    const child = await startChild(this.program, {
      args: args.length > 0 ? args : ['start'],
      cwd: this.#dir.path,
      env: { CATALOGD_CONFIG: undefined, ...this.#options.env },
    })
    this.#processes.push(child)
    return child
  }

  /** Starts a daemon and waits until it says that it works, or stands by. */
  async start({ says = 'watching and importing', args = ['start'] } = {}): Promise<Child> {
    const child = await this.spawn(...args)
    await this.untilLogged(child, says)
    return child
  }

  async untilLogged(child: Child, says: string, withinMs = 240_000): Promise<void> {
    const said = () => child.stderr.includes(says) || !child.running
    await waitFor(said, { withinMs, what: () => `"${says}" in the log:\n${tail(child)}` })
    if (!child.stderr.includes(says)) throw new Error(`the process ended:\n${tail(child)}`)
  }

  /** Runs a command to its end; it must succeed. */
  async run(...args: string[]): Promise<string> {
    const child = await this.spawn(...args)
    const what = () => `the end of ${args.join(' ')}:\n${child.stdout}\n${this.logs()}`
    await waitFor(() => !child.running, { withinMs: 240_000, what })
    const { code } = await child.ended()
    assert.equal(code, 0, child.stderr)
    return child.stdout
  }

  /** Waits until the catalog is paused for a reason that contains this. */
  async untilPaused(reason: string): Promise<void> {
    const paused = async () => (await this.#redis.hkeys(keys.pause)).includes(reason)
    await waitFor(paused, { what: () => `paused for ${reason}:\n${this.logs()}` })
  }

  /** SIGKILL for the server that the daemons of this site run, if there is one. */
  async killEmbeddedRedis(): Promise<boolean> {
    const record = await readFile(this.path('state/redis/server'), 'utf8').catch(() => '')
    const pid = Number(record.split('\n')[0])
    const command = pid > 0 ? await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '') : ''
    if (!command.includes('redis-server') || !command.includes(this.#dir.path)) return false
    process.kill(pid, 'SIGKILL')
    return true
  }

  /** Puts a file into the drop folder under a temporary name and renames it. */
  async drop(name: string, content: string): Promise<void> {
    await writeFile(`${this.dropDir}/.${name}.tmp`, content, { flush: true })
    await rename(`${this.dropDir}/.${name}.tmp`, `${this.dropDir}/${name}`)
    this.dropped += 1
  }

  async writeToken(token: string): Promise<void> {
    await writeFile(this.path('token'), `${token}\n`)
  }

  /** Waits until all dropped files were accepted. */
  async untilAccepted(files = this.dropped): Promise<void> {
    await waitFor(async () => (await this.accepted()).length >= files, { what: `${files} accepted files` })
  }

  /** Sequences of the accepted files, from the manifest. */
  async accepted(): Promise<{ sequence: number; name: string }[]> {
    const text = await readFile(this.path('state/main/manifest.ndjson'), 'utf8').catch(() => '')
    const lines = text.split('\n').slice(0, -1)
    return lines.map((line) => JSON.parse(line)).filter(({ kind }) => kind === 'accept')
  }

  /** Waits until every accepted file is imported and nothing is left to send, dead letters aside. */
  async untilQuiet({ withinMs = 240_000, files = this.dropped } = {}): Promise<void> {
    await waitFor(() => this.isQuiet(files), {
      withinMs,
      what: () => `quiet; there is ${this.#found}\n${this.logs()}`,
    })
    // Every file once, whatever was killed.
    const accepted = await this.accepted()
    assert.equal(accepted.length, files, JSON.stringify(accepted, undefined, 1))
  }

  async isQuiet(files = this.dropped): Promise<boolean> {
    await delay(100)
    const work = await this.work().catch((error: unknown) => ({ error: String(error) }))
    this.#found = JSON.stringify(work)
    if ('error' in work) return false
    const { accepted, last, applied, pending, dead, claimed, echoes, repairing } = work
    const isDone = accepted >= files && applied >= last && pending === dead && claimed === 0 && echoes === 0
    return isDone && !repairing
  }

  /** What is left to do, and how far it is. */
  async work() {
    if (this.#redis.status === 'wait') await this.#redis.connect()
    const accepts = await this.accepted()
    const [claimed, echoes] = await Promise.all([
      this.#redis.hlen(keys.claimed),
      this.#redis.zcard(keys.echoes),
    ])
    using mirror = this.openMirror()
    const { places, repeats, dead } = mirror.count()
    const pending = Object.values(places).reduce((sum, { waiting }) => sum + waiting, dead + repeats)
    const last = accepts.at(-1)?.sequence ?? 0
    const [newest] = mirror.applied('products' as FeedName)
    const applied = newest?.sequence ?? 0
    // After `adopt`, products wait only once the daemon has begun to send all of them.
    const { repairing } = mirror.repair()
    return { accepted: accepts.length, last, applied, pending, dead, claimed, echoes, repairing }
  }

  /** For reading; throws before the first start. */
  openMirror(): MirrorReader {
    return new MirrorReader(this.path('state/main/catalog.db'))
  }

  get redis(): Redis {
    return this.#redis
  }

  /** Asserts that the endpoint holds exactly these documents; a product's document there is the last it was sent. */
  async expectDocuments(expected: ReadonlyMap<string, Document>): Promise<void> {
    const held = await this.documents()
    const wrong: unknown[] = []
    for (const [id, document] of expected) {
      const got = held.get(id)
      if (JSON.stringify(sorted(got)) !== JSON.stringify(sorted(document)))
        wrong.push({ id, got, wanted: document })
    }
    if (wrong.length > 0) console.log(this.logs())
    assert.deepEqual({ wrong: wrong.length, examples: wrong.slice(0, 3) }, { wrong: 0, examples: [] })
    assert.equal(held.size, expected.size)
  }

  /** Over a connection of its own: the sandbox may close an idle one just when it is to be used again. */
  #get(path: string): Promise<Response> {
    return fetch(`${this.sandbox.url}/sandbox/${path}`, { headers: { connection: 'close' } })
  }

  async documents(): Promise<Map<string, Document>> {
    const text = await (await this.#get('products.ndjson')).text()
    const documents = text.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line) as Document]))
    return new Map(documents.map((document) => [String(document.product_id), document]))
  }

  async taken(id: string): Promise<Taken | undefined> {
    const answer = await this.#get(`products/${id}`)
    return answer.status === 200 ? ((await answer.json()) as Taken) : undefined
  }

  async summary(): Promise<{ products: number; overlapping: { count: number }; calls: { total: number } }> {
    return (await (await this.#get('summary')).json()) as never
  }

  async calls(): Promise<SandboxCall[]> {
    const answer = await this.#get('calls?ids=1&limit=10000')
    return ((await answer.json()) as { calls: SandboxCall[] }).calls
  }

  async fault(...faults: Record<string, unknown>[]): Promise<void> {
    const answer = await fetch(`${this.sandbox.url}/sandbox/faults`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(faults),
    })
    if (!answer.ok) throw new Error(`the sandbox refuses the faults: ${await answer.text()}`)
  }

  async clearFaults(): Promise<void> {
    await fetch(`${this.sandbox.url}/sandbox/faults`, { method: 'DELETE' })
  }

  /** The ends of all logs, for messages. */
  logs(): string {
    return this.#processes.map((child) => `--- ${child.pid}\n${tail(child)}`).join('\n')
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#redis.disconnect()
    // In order, so that the last user ends the embedded server.
    const ending = this.#processes.map((child) => child.kill('SIGTERM'))
    await Promise.all(ending)
    await this.killEmbeddedRedis()
    if (this.#options.sandbox === undefined) await this.sandbox[Symbol.asyncDispose]()
    if (this.#options.dir === undefined) await this.#dir[Symbol.asyncDispose]()
  }

  #config(): string {
    const { redisUrl = '', catalog } = this.#options
    const head = `state: ./state\nredis: "${redisUrl}"\ncatalogs:\n  main:\n`
    return head + (catalog ? catalog(this.sandbox.url) : this.#productCatalog())
  }

  #productCatalog(): string {
    const { delivery, deferred = '{ after: 1s, atMost: 5s }' } = this.#options
    const usual = '{ callBytes: 100KB, concurrency: 4, timeout: 5s, horizon: 3s, callsPerSecond: 200 }'
    return `    api: { url: "${this.sandbox.url}", productsTokenFile: ./token }
    delivery: ${delivery ?? usual}
    deferred: ${deferred}
    feeds:
      products:
        drop: "${this.dropDir}"
        files: { full: "*_full.csv", delta: "*_delta.csv" }
        settle: 0s
`
  }
}

function sorted(document: Document | undefined): unknown {
  return document && Object.entries(document).sort(([one], [other]) => (one < other ? -1 : 1))
}

function tail(child: Child): string {
  return child.stderr.split('\n').slice(-15).join('\n')
}
