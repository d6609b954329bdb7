import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { statSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { waitFor } from './events.ts'

export interface ChildOptions {
  args?: readonly string[]
  /** Added to the environment of the tests; undefined removes a variable. */
  env?: Readonly<Record<string, string | undefined>>
  cwd?: string
  /** Rights of files and folders bind it, which they do not bind root; see `boundUser`. */
  isBound?: boolean
}

/** A Node process that a test started. Killed, and waited for, on disposal. */
export interface Child extends AsyncDisposable {
  readonly pid: number
  /** All that it wrote so far. */
  readonly stdout: string
  readonly stderr: string
  readonly running: boolean
  /** The first line of standard output, from the beginning, that matches. */
  line(pattern: RegExp | string, withinMs?: number): Promise<string>
  send(line: string): void
  kill(signal?: NodeJS.Signals): Promise<void>
  /** Resolves when it ends by itself. */
  ended(): Promise<{ code: number | null; signal: NodeJS.Signals | null }>
}

/** Runs a script (a path or file URL) with the Node that runs the tests. */
export async function startChild(script: string | URL, options: ChildOptions = {}): Promise<Child> {
  const file = script instanceof URL ? script.pathname : path.resolve(script)
  const [command = '', ...args] = [
    ...(options.isBound ? withoutPrivileges() : []),
    process.execPath,
    file,
    ...(options.args ?? []),
  ]
  const child = spawn(command, args, {
    stdio: ['pipe', 'pipe', 'pipe'],
    env: { ...process.env, ...options.env },
    ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
  })
  const killAtExit = () => void child.kill('SIGKILL')
  process.once('exit', killAtExit)
  const closed = once(child, 'close')
  void closed.then(() => process.off('exit', killAtExit))
  await once(child, 'spawn')
  return follow(child, closed)
}

/** Of the user that `isBound` chooses. */
export interface BoundUser {
  uid: number
  gid: number
}

const checkout = new URL('../..', import.meta.url)

/**
 * The owner of this checkout, who may enter it wherever it lies, below a folder of mode 0700 too: another user may not
 * even start its Node.
 */
export function boundUser(): BoundUser {
  const { uid, gid } = statSync(checkout)
  return { uid, gid }
}

/** Root without its capabilities is a user like others, and so it may be that one. */
function withoutPrivileges(): string[] {
  const { uid, gid } = boundUser()
  return [
    'setpriv',
    ...[`--reuid=${uid}`, `--regid=${gid}`, '--clear-groups', '--bounding-set=-all', '--inh-caps=-all'],
  ]
}

function follow(child: ChildProcess, closed: Promise<unknown[]>): Child {
  const written = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'] as const) {
    child[name]?.setEncoding('utf8').on('data', (text: string) => {
      written[name] += text
    })
  }
  child.stdin?.on('error', () => {})
  const running = () => child.exitCode === null && child.signalCode === null
  const ended = async () => {
    await closed
    return { code: child.exitCode, signal: child.signalCode }
  }
  const kill = async (signal: NodeJS.Signals = 'SIGKILL') => {
    if (running()) child.kill(signal)
    await closed
  }
  return {
    pid: child.pid as number,
    get stdout() {
      return written.stdout
    },
    get stderr() {
      return written.stderr
    },
    get running() {
      return running()
    },
    line: async (pattern, withinMs = 240_000) => {
      const found = () => written.stdout.split('\n').slice(0, -1).find(matcher(pattern))
      return waitFor(
        () => {
          const line = found()
          if (line === undefined && !running()) {
            throw new Error(`the child ended before "${pattern}":\n${written.stdout}\n${written.stderr}`)
          }
          return line
        },
        { withinMs, what: () => `a line with "${pattern}" in:\n${written.stdout}\n${written.stderr}` },
      )
    },
    send: (line) => void child.stdin?.write(`${line}\n`),
    kill,
    ended,
    [Symbol.asyncDispose]: () => kill('SIGKILL'),
  }
}

function matcher(pattern: RegExp | string): (line: string) => boolean {
  return typeof pattern === 'string' ? (line) => line.includes(pattern) : (line) => pattern.test(line)
}

/** True while a process runs, whoever started it. One that ended and waits to be collected does not run. */
export async function isRunning(pid: number): Promise<boolean> {
  try {
    process.kill(pid, 0)
  } catch {
    return false
  }
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')
  return stat.slice(stat.lastIndexOf(')') + 2, stat.lastIndexOf(')') + 3) !== 'Z'
}
