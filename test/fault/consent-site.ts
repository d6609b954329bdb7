import { cp, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { expect } from 'vitest'
import { ConsentReader } from '../../src/consents/reader.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { type Child, startChild } from '../support/child.ts'
import { waitFor } from '../support/events.ts'
import { type ConsentCall, ConsentHistory } from './consent-history.ts'
import { type ConsentFile, exporters, feedLines, mailDomain } from './consent-versions.ts'
import { faultScale } from './random.ts'
import { Site } from './site.ts'

const program = fileURLToPath(new URL('../../src/main.ts', import.meta.url))
const token = 'email-token-of-the-fault-tests'
const callsPerPage = 10_000
const waitMs = 240_000 * faultScale
/** Everything that is ever said; of a long run it would not fit into a string. */
const logLevel = faultScale > 1 ? 'info' : 'debug'

export const concurrency = 4

interface SandboxConsents {
  calls: { total: number; open: number; byStatus: Record<string, number> }
  overlapping: { count: number }
}

/**
 * A daemon that takes consents from three exporters, and a sandbox to deliver them to, each a process of its own as a
 * user runs them. Knows what was accepted, and so what the sandbox may be called with.
 */
export class ConsentSite implements AsyncDisposable {
  readonly #site: Site
  readonly #sandbox: Child
  readonly #url: string
  readonly #files: ConsentFile[] = []
  readonly #applied: { files: number; atMs: number }[] = []
  #daemon: Child | undefined
  readonly #daemons: Child[] = []
  /** Peak resident memory of each daemon in MB, as long as it was looked at. */
  readonly peaks: number[] = []

  private constructor(site: Site, sandbox: Child, url: string) {
    this.#site = site
    this.#sandbox = sandbox
    this.#url = url
  }

  static async open({
    settings = '',
    latencyMs = 0,
  }: {
    settings?: string
    latencyMs?: number
  } = {}): Promise<ConsentSite> {
    const args = ['--port', '0', '--json', '--email-token', token, '--latency', String(latencyMs)]
    const env = { CATALOGD_LOG: logLevel }
    const sandbox = await startChild(program, { args: ['sandbox', ...args], env })
    const { url } = JSON.parse(await sandbox.line('"url"')) as { url: string }
    const dispose = { [Symbol.asyncDispose]: () => sandbox.kill('SIGTERM') }
    const site = await Site.open({
      sandbox: { url, ...dispose },
      env,
      catalog: () => `    api: { url: "${url}", emailToken: ${token} }
    consents: { concurrency: ${concurrency}, callsPerSecond: 10000, ${settings} }
${feedLines('./drop')}`,
    })
    for (const exporter of exporters) await mkdir(`${site.dropDir}/${exporter}`)
    return new ConsentSite(site, sandbox, url)
  }

  /** Accepted so far. */
  get files(): number {
    return this.#files.length
  }

  /** Waits until the daemon says so; '': does not wait. */
  async start(says = 'watching and importing'): Promise<void> {
    this.#daemon = await this.#site.spawn()
    this.#daemons.push(this.#daemon)
    if (says !== '') await this.#site.untilLogged(this.#daemon, says)
  }

  async stop(): Promise<void> {
    await this.#notePeak()
    await this.#daemon?.kill('SIGTERM')
  }

  async kill(): Promise<void> {
    await this.#notePeak()
    expect(this.#daemon?.running, this.logs()).toBe(true)
    await this.#daemon?.kill('SIGKILL')
  }

  async whileSuspended(work: () => Promise<void>): Promise<void> {
    const pid = this.#daemon?.pid ?? 0
    process.kill(pid, 'SIGSTOP')
    try {
      await work()
    } finally {
      process.kill(pid, 'SIGCONT')
    }
  }

  killRedis(): Promise<boolean> {
    return this.#site.killEmbeddedRedis()
  }

  /** As it stands on disk at this moment; answers a function that puts it back, while no Redis runs. */
  async copyRedis(): Promise<() => Promise<void>> {
    const [folder, copy] = [this.#path('state/redis/appendonlydir'), this.#path('appendonlydir')]
    const manifest = () => readFile(`${folder}/appendonly.aof.manifest`, 'utf8')
    // A rewrite of the file exchanges its parts.
    for (let before: string | undefined; before !== (await manifest()); ) {
      before = await manifest()
      await rm(copy, { recursive: true, force: true })
      await cp(folder, copy, { recursive: true })
    }
    return async () => {
      await rm(folder, { recursive: true })
      await rename(copy, folder)
    }
  }

  /** Nothing is left of it; no process may run. */
  async removeRedis(): Promise<void> {
    await rm(this.#path('state/redis'), { recursive: true })
  }

  #path(...segments: string[]): string {
    return this.#site.path(...segments)
  }

  run(...args: string[]): Promise<string> {
    return this.#site.run(...args)
  }

  fault(...faults: Record<string, unknown>[]): Promise<void> {
    return this.#site.fault(...faults.map((fault) => ({ group: 'consent', ...fault })))
  }

  /** Waits until it has been met as often as its `calls` say. */
  async faultNow(fault: Record<string, unknown>): Promise<void> {
    await this.fault(fault)
    const met = async () => {
      const answer = (await (await fetch(`${this.#url}/sandbox/faults`)).json()) as {
        faults: { remaining?: number }[]
      }
      return answer.faults.at(-1)?.remaining === 0
    }
    await waitFor(met, { what: () => `a fault was met\n${this.logs()}` })
  }

  clearFaults(): Promise<void> {
    return this.#site.clearFaults()
  }

  async wipeRedis(): Promise<void> {
    await this.#connected()
    await this.#site.redis.flushall()
  }

  /** Puts a file into its exporter's folder and waits until it was accepted, so that the order is known. */
  async drop(file: ConsentFile): Promise<void> {
    this.#files.push(file)
    const folder = `${this.#site.dropDir}/${file.exporter}`
    const name = `${this.#files.length}-${file.name}`
    await writeFile(`${folder}/.${name}.tmp`, file.content)
    await rename(`${folder}/.${name}.tmp`, `${folder}/${name}`)
    const accepted = async () => (await this.#site.accepted()).length >= this.#files.length
    await waitFor(accepted, { withinMs: waitMs, what: () => `${name} accepted\n${this.logs()}` })
  }

  /** What the accepted files say, in their order. */
  history(): ConsentHistory {
    return new ConsentHistory(
      this.#files.map(({ states }) => states),
      this.#applied,
    )
  }

  /** Waits until all accepted files are applied, and no call is under way that was begun before. */
  async noteApplied(): Promise<void> {
    let calls: number | undefined
    await this.#until('all files applied', async ({ isApplied, inFlight }) => {
      const { total } = (await this.summary()).calls
      if (isApplied) calls ??= total + concurrency
      return calls !== undefined && (inFlight === 0 || total > calls)
    })
    this.#applied.push({ files: this.#files.length, atMs: systemClock.now() })
  }

  /** All accepted files are applied, and all is sent but dead letters. */
  async untilQuiet(withinMs = waitMs): Promise<void> {
    const quiet = ({ isApplied, pending, dead, inFlight }: Work) =>
      isApplied && pending === dead && inFlight === 0
    await this.#until('quiet', quiet, withinMs)
    expect((await this.#site.accepted()).length).toBe(this.#files.length)
  }

  async #until(
    what: string,
    met: (work: Work) => boolean | Promise<boolean>,
    withinMs = waitMs,
  ): Promise<void> {
    let last = ''
    const ask = async () => {
      await delay(50)
      try {
        const work = await this.work()
        last = JSON.stringify(work)
        return await met(work)
      } catch (error) {
        // The daemon may be beginning.
        last = String(error)
        return false
      }
    }
    await waitFor(ask, { withinMs, what: () => `${what}; there is ${last}\n${this.logs()}` })
  }

  async work(): Promise<Work> {
    const accepted = (await this.#site.accepted()) as unknown as { sequence: number; feed: string }[]
    using consents = ConsentReader.open(this.#path('state/main'))
    if (!consents) throw new Error('there is no table yet')
    const isApplied = accepted.every(({ sequence, feed }) => consents.applied(feed) >= sequence)
    const { pending, dead, inFlight } = consents.overview(systemClock.now())
    return { isApplied, pending, dead, inFlight }
  }

  async #connected(): Promise<void> {
    if (this.#site.redis.status === 'wait') await this.#site.redis.connect()
  }

  /** So many calls were made since `calls`. */
  async untilCalled(calls: number, since: number): Promise<void> {
    const called = async () => (await this.summary()).calls.total >= since + calls
    await waitFor(called, { withinMs: waitMs, what: () => `${calls} calls\n${this.logs()}` })
  }

  /** So many more acknowledgements are durable. */
  async untilAcknowledged(count: number): Promise<void> {
    const taken = async () => {
      using consents = ConsentReader.open(this.#path('state/main'))
      const { 'acknowledged:u': revoked = 0, 'acknowledged:n': granted = 0 } = consents?.calls.counters ?? {}
      return revoked + granted
    }
    const before = await taken()
    const durable = async () => (await taken()) >= before + count
    await waitFor(durable, { what: () => `${count} acknowledgements\n${this.logs()}` })
  }

  /** Addresses in lower case → what the sandbox holds. */
  async held(): Promise<Map<string, boolean>> {
    const text = await (await fetch(`${this.#url}/sandbox/consents.ndjson`)).text()
    const lines = text.split('\n').filter((line) => line !== '')
    const consents = lines.map((line) => JSON.parse(line) as { email: string; consent: boolean })
    return new Map(consents.map(({ email, consent }) => [email.toLowerCase(), consent]))
  }

  async summary(): Promise<SandboxConsents> {
    return (await (await fetch(`${this.#url}/sandbox/consents?limit=0`)).json()) as SandboxConsents
  }

  /** In the order of their arrival. */
  async calls(): Promise<ConsentCall[]> {
    const calls: ConsentCall[] = []
    for (;;) {
      const query = `offset=${calls.length}&limit=${callsPerPage}`
      const page = await (await fetch(`${this.#url}/sandbox/consents/calls?${query}`)).json()
      calls.push(...(page as { calls: ConsentCall[] }).calls)
      if (calls.length >= (page as { total: number }).total) return calls
    }
  }

  /**
   * The last states, no older one after a newer, at most so many calls that repeat one which the sandbox answered well,
   * never two calls of one address at a time, and no address in a log.
   */
  async expectRight(repeatedMax = 0): Promise<void> {
    const history = this.history()
    const wrong = history.wrongStates(await this.held())
    if (wrong.length > 0) console.log(this.logs())
    expect({ wrong: wrong.length, examples: wrong.slice(0, 3) }).toEqual({ wrong: 0, examples: [] })
    const { repeated, stale } = history.judge(await this.calls())
    expect({ stale: stale.length, examples: stale.slice(0, 3) }).toEqual({ stale: 0, examples: [] })
    expect(repeated).toBeLessThanOrEqual(repeatedMax)
    expect((await this.summary()).overlapping).toMatchObject({ count: 0 })
    this.expectNoAddress()
  }

  expectNoAddress(): void {
    for (const { stdout, stderr } of [...this.#daemons, this.#sandbox]) {
      for (const line of `${stdout}\n${stderr}`.split('\n')) {
        if (line.toLowerCase().includes(mailDomain)) throw new Error(`an address stands in a log: ${line}`)
      }
    }
    expect(this.#daemons.some(({ stderr }) => stderr.includes(`"level":"${logLevel}"`))).toBe(true)
  }

  logs(): string {
    return this.#daemons.map(({ pid, stderr }) => `--- ${pid}\n${usual(stderr)}`).join('\n')
  }

  async #notePeak(): Promise<void> {
    const status = await readFile(`/proc/${this.#daemon?.pid}/status`, 'utf8').catch(() => '')
    const kilobytes = Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? 0)
    if (kilobytes > 0) this.peaks.push(Math.round(kilobytes / 1000))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#site[Symbol.asyncDispose]()
    await this.#sandbox.kill('SIGTERM')
  }
}

interface Work {
  isApplied: boolean
  pending: number
  dead: number
  inFlight: number
}

/** The end of a log without what is said in debugging only. */
function usual(log: string): string {
  const lines = log.split('\n').filter((line) => !line.includes('"level":"debug"'))
  return lines.slice(-12).join('\n')
}
