import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, readdir, rename, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { openSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts'
import { runCli } from '../cli/support.ts'
import { type Child, startChild } from '../support/child.ts'
import { waitFor } from '../support/events.ts'
import { type TempDir, tempDir } from '../support/temp-dir.ts'

const program = fileURLToPath(new URL('../../src/main.ts', import.meta.url))
export const productsToken = 'acceptance-token'
const emailToken = 'acceptance-email-token'

export interface Ran {
  code: number | null
  stdout: string
  stderr: string
}

export interface Held {
  times: number
  receivedAtMs: number[]
  document: Record<string, unknown>
}

/** What `status --json` says, as far as tests look at it. */
export interface StatusView {
  daemon: { pid: number } | null
  catalogs: {
    health: string
    calls: { lastAcknowledgedAt: string | null; lastMinute: unknown }
    consents: { pending: number; dead: number; inFlight: number; paused: { reason: string }[] } | null
    overview: {
      products: number
      incomplete: number
      pending: number
      dead: number
      inFlight: number
      echoes: { waiting: number }
      lanes: Record<string, { waiting: number }>
      paused: { reason: string; hint: string; nextTryMs?: number }[]
    }
    feeds: {
      feed: string
      lastFile: { outcome: string | null; decision: string | null } | null
      waitingFiles: number
      dropped: number
      droppedFiles: { name: string }[]
      refused: { files: number }
      held: { sequence: number; reason: string }[]
    }[]
    notices: { key: string; text: string }[]
  }[]
}

/**
 * A folder with a configuration, a sandbox to deliver to, and the program as its users run it: every daemon, and every
 * command of `run`, is a process of its own. Disposal ends the daemons and removes the folder.
 */
export class Workplace implements AsyncDisposable {
  readonly #dir: TempDir
  readonly #daemons: Child[] = []
  readonly sandbox: Sandbox

  private constructor(dir: TempDir, sandbox: Sandbox) {
    this.#dir = dir
    this.sandbox = sandbox
  }

  /** `catalog`: the YAML of the catalog below `api`, not indented. Without a token for consents it has none. `top`: further sections. */
  static async open(catalog: string, { hasConsents = false, top = '' } = {}): Promise<Workplace> {
    const dir = await tempDir('acceptance')
    const sandbox = await openSandbox({ port: 0, productsToken, emailToken })
    const email = hasConsents ? `, emailToken: ${emailToken}` : ''
    const indented = catalog.trim().replace(/^/gm, '    ')
    const config = `state: ./state
${top}catalogs:
  main:
    api: { url: "\${CATALOG_API_URL}", productsToken: "\${API_PRODUCTS_TOKEN}"${email} }
${indented}
`
    await writeFile(dir.join('catalogd.yaml'), config)
    return new Workplace(dir, sandbox)
  }

  path(...segments: string[]): string {
    return this.#dir.join(...segments)
  }

  /** Starts a daemon and waits until it works, or stands by. */
  async start({
    standsBy = false,
    isBound = false,
    args = [],
    env = {},
  }: {
    args?: readonly string[]
    standsBy?: boolean
    isBound?: boolean
    env?: NodeJS.ProcessEnv
  } = {}): Promise<Child> {
    const child = await startChild(program, {
      args: ['start', ...args],
      cwd: this.#dir.path,
      env: { ...this.#environment(), ...env },
      isBound,
    })
    this.#daemons.push(child)
    const says = standsBy ? 'standing by' : 'watching and importing'
    await this.untilLogged(child, says)
    return child
  }

  async untilLogged(child: Child, says: string): Promise<void> {
    const said = () => child.stderr.includes(says) || !child.running
    await waitFor(said, { withinMs: 180_000, what: () => `"${says}" in the log:\n${child.stderr}` })
    if (!child.stderr.includes(says)) throw new Error(`the daemon ended:\n${child.stderr}`)
  }

  /** Runs one command to its end. */
  async run(...args: string[]): Promise<Ran> {
    return this.#spawn(args, this.#environment())
  }

  /** The same without an address and a token of the endpoint. */
  async runBare(...args: string[]): Promise<Ran> {
    return this.#spawn(args, {
      ...process.env,
      CATALOG_API_URL: undefined,
      API_PRODUCTS_TOKEN: undefined,
      CATALOGD_CONFIG: undefined,
    })
  }

  /** Runs one command to its end inside this process, which spares the start of another. */
  async runHere(...args: string[]): Promise<Ran> {
    const { exitCode, stdout, stderr } = await runCli(['--config', this.path('catalogd.yaml'), ...args], {
      env: { CATALOG_API_URL: this.sandbox.url, API_PRODUCTS_TOKEN: productsToken },
    })
    return { code: exitCode, stdout, stderr }
  }

  /** Runs a command with `--json` inside this process, and reads what it prints. */
  async ask<T>(...args: string[]): Promise<T> {
    const ran = await this.runHere(...args, '--json')
    if (ran.stdout === '') throw new Error(`${args.join(' ')} prints nothing: ${ran.stderr}`)
    return JSON.parse(ran.stdout) as T
  }

  /** Puts a file into a drop folder under a temporary name and renames it, as a careful exporter does. */
  async drop(feed: string, name: string, content: string | Uint8Array): Promise<void> {
    const folder = this.path('drop', feed)
    await mkdir(folder, { recursive: true })
    await writeFile(`${folder}/.${name}.tmp`, content)
    await rename(`${folder}/.${name}.tmp`, `${folder}/${name}`)
  }

  /** Waits until so many files have been imported, held or refused since the state folder began. */
  async untilImported(files: number): Promise<void> {
    const reports = async () => {
      const names = await readdir(this.path('state', 'main', 'reports')).catch(() => [])
      return names.filter((name) => /^\d+-[a-z0-9_-]+\.json$/.test(name)).length >= files
    }
    await waitFor(reports, { withinMs: 180_000, what: `${files} imports` })
  }

  /** Waits until nothing is left to send, dead letters aside. */
  async untilQuiet(): Promise<void> {
    let last: StatusView['catalogs'][number] | undefined
    await waitFor(
      async () => {
        last = await this.status()
        const { overview, consents, feeds } = last
        const waits = feeds.some(({ waitingFiles }) => waitingFiles > 0) || overview.echoes.waiting > 0
        const outboxes = consents ? [overview, consents] : [overview]
        return !waits && outboxes.every(({ pending, dead, inFlight }) => pending === dead && inFlight === 0)
      },
      { withinMs: 180_000, what: () => `an empty outbox: ${JSON.stringify(last)}` },
    )
  }

  async status(): Promise<StatusView['catalogs'][number]> {
    const [catalog] = (await this.ask<StatusView>('status')).catalogs
    if (!catalog) throw new Error('status shows no catalog')
    return catalog
  }

  /** All documents that the sandbox holds, by id. */
  async documents(): Promise<Map<string, Record<string, unknown>>> {
    const answer = await fetch(`${this.sandbox.url}/sandbox/products.ndjson`)
    const lines = (await answer.text()).split('\n').filter((line) => line !== '')
    const documents = lines.map((line) => JSON.parse(line) as Record<string, unknown>)
    return new Map(documents.map((document) => [String(document.product_id), document]))
  }

  /** Undefined while the sandbox has never taken the product. */
  async held(id: string): Promise<Held | undefined> {
    const answer = await fetch(`${this.sandbox.url}/sandbox/products?id=${encodeURIComponent(id)}`)
    return answer.status === 200 ? ((await answer.json()) as Held) : undefined
  }

  /** Waits until the sandbox has taken a product so often. */
  async untilTaken(id: string, times: number): Promise<Held> {
    const taken = async () => {
      const held = await this.held(id)
      return held !== undefined && held.times >= times ? held : undefined
    }
    return waitFor(taken, { withinMs: 180_000, what: `${id} taken ${times} times` })
  }

  async summary(): Promise<{
    documentsTaken: number
    calls: { total: number }
    overlapping: { count: number }
  }> {
    return (await (await fetch(`${this.sandbox.url}/sandbox/summary`)).json()) as never
  }

  async fault(fault: Record<string, unknown>): Promise<void> {
    const answer = await fetch(`${this.sandbox.url}/sandbox/faults`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(fault),
    })
    if (!answer.ok) throw new Error(`the sandbox refuses the fault: ${await answer.text()}`)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const ends = await Promise.all(
      this.#daemons.map(async (daemon) => {
        await daemon.kill('SIGTERM')
        return daemon.ended()
      }),
    )
    // Who did not end well left its redis-server behind; the next command adopts it, and ends it.
    if (ends.some(({ code }) => code !== 0)) await this.runHere('status')
    await this.sandbox[Symbol.asyncDispose]()
    await this.#dir[Symbol.asyncDispose]()
  }

  #environment(): NodeJS.ProcessEnv {
    return {
      ...process.env,
      CATALOGD_CONFIG: undefined,
      CATALOG_API_URL: this.sandbox.url,
      API_PRODUCTS_TOKEN: productsToken,
    }
  }

  async #spawn(args: readonly string[], env: NodeJS.ProcessEnv): Promise<Ran> {
    const child = spawn(process.execPath, [program, ...args], {
      cwd: this.#dir.path,
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const ran: Ran = { code: null, stdout: '', stderr: '' }
    for (const name of ['stdout', 'stderr'] as const) {
      child[name].setEncoding('utf8').on('data', (chunk: string) => {
        ran[name] += chunk
      })
    }
    await once(child, 'close')
    ran.code = child.exitCode
    return ran
  }
}
