import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import net from 'node:net'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { type TempDir, tempDir } from './temp-dir.ts'

export interface RedisServerOptions {
  /** AOF everysec; default false: a restart begins empty. */
  aof?: boolean
  /** Default: a free TCP port of 127.0.0.1. Ignored with `socket`. */
  port?: number
  /** True: listens on the Unix socket in its folder alone, and on no port. */
  socket?: boolean
  /** Default: a temporary folder, removed on disposal. */
  dir?: string
  /** Further settings, for instance `{ 'maxmemory-policy': 'noeviction' }`. */
  config?: Readonly<Record<string, string>>
}

/** A real redis-server of its own for a test. Port, socket and folder stay the same over `restart`. */
export interface RedisServer extends AsyncDisposable {
  readonly port: number
  readonly socketPath: string
  /** `redis://127.0.0.1:<port>`, or `unix:<path>` of a server on a socket. */
  readonly url: string
  readonly dir: string
  readonly pid: number
  /** Orderly end (SIGTERM); data is kept when `aof`. */
  stop(): Promise<void>
  /** SIGKILL, without a chance to write anything. */
  kill(): Promise<void>
  /** Starts again on the same folder after `stop` or `kill` (stops first when it still runs). */
  restart(options?: RestartOptions): Promise<void>
  /** SIGSTOP: connections stay open and silent, as behind a black-holed network. */
  pause(): void
  /** SIGCONT. */
  resume(): void
}

export interface RestartOptions {
  config?: Readonly<Record<string, string>>
  /** Resolves as soon as it listens, while it may still load its data. */
  untilListening?: boolean
}

const startDeadlineMs = 120_000

export async function startRedis(options: RedisServerOptions = {}): Promise<RedisServer> {
  const folder = options.dir === undefined ? await tempDir('redis') : undefined
  const dir = options.dir ?? (folder as TempDir).path
  const address = {
    port: options.socket ? 0 : (options.port ?? (await freePort())),
    socketPath: path.join(dir, 'redis.sock'),
  }
  const run = (restart: RestartOptions = {}) => {
    const config = { ...options.config, ...restart.config }
    return runServer({
      dir,
      ...address,
      options: { ...options, config },
      ready: restart.untilListening ? anything : ready,
    })
  }
  let running: ChildProcess | undefined = await run().catch(async (error: unknown) => {
    if (options.socket || options.port !== undefined) throw error
    // Somebody else took the port in between.
    address.port = await freePort()
    return run()
  })

  const end = async (signal: NodeJS.Signals) => {
    const child = running
    running = undefined
    if (!child || child.exitCode !== null || child.signalCode !== null) return
    const exited = once(child, 'exit')
    child.kill(signal)
    // A paused server takes note of anything but SIGKILL only when it runs again.
    if (signal !== 'SIGKILL') child.kill('SIGCONT')
    await exited
  }
  const runningPid = () => {
    if (running?.pid === undefined) throw new Error('the test redis-server is stopped')
    return running.pid
  }
  return {
    ...address,
    dir,
    url: options.socket ? `unix:${address.socketPath}` : `redis://127.0.0.1:${address.port}`,
    get pid() {
      return runningPid()
    },
    stop: () => end('SIGTERM'),
    kill: () => end('SIGKILL'),
    restart: async (restart) => {
      await end('SIGTERM')
      running = await run(restart)
    },
    pause: () => void process.kill(runningPid(), 'SIGSTOP'),
    resume: () => void process.kill(runningPid(), 'SIGCONT'),
    [Symbol.asyncDispose]: async () => {
      await end('SIGKILL')
      await folder?.[Symbol.asyncDispose]()
    },
  }
}

interface Run {
  dir: string
  port: number
  socketPath: string
  options: RedisServerOptions
  /** What it answers to PING when the wait for it is over. */
  ready: RegExp
}

const anything = /^[+-]/
/** Also a server that wants a password is ready. */
const ready = /^(\+PONG|-NOAUTH)/

async function runServer({ dir, port, socketPath, options, ready }: Run): Promise<ChildProcess> {
  const settings: Record<string, string> = {
    dir,
    port: String(port),
    bind: '127.0.0.1',
    save: '',
    appendonly: options.aof ? 'yes' : 'no',
    appendfsync: 'everysec',
    'maxmemory-policy': 'noeviction',
    logfile: path.join(dir, 'test-redis.log'),
    unixsocket: socketPath,
    unixsocketperm: '700',
    ...options.config,
  }
  const args = Object.entries(settings).flatMap(([key, value]) => [`--${key}`, value])
  const child = spawn('redis-server', args, { stdio: 'ignore' })
  // A test run that is interrupted must not leave servers behind.
  const killAtExit = () => void child.kill('SIGKILL')
  process.once('exit', killAtExit)
  child.once('exit', () => process.off('exit', killAtExit))
  await once(child, 'spawn')
  await untilAnswers(child, { socketPath, dir, ready })
  return child
}

/** Asked on its own socket: on the port another test's server may answer, and this one has ended without it. */
async function untilAnswers(
  child: ChildProcess,
  { socketPath, dir, ready }: Pick<Run, 'socketPath' | 'dir' | 'ready'>,
): Promise<void> {
  const deadline = performance.now() + startDeadlineMs
  while (!ready.test((await ping(socketPath)) ?? ' ')) {
    if (child.exitCode !== null || child.signalCode !== null || performance.now() > deadline) {
      child.kill('SIGKILL')
      const log = await readFile(path.join(dir, 'test-redis.log'), 'utf8').catch(() => '')
      throw new Error(`the test redis-server does not answer; its log ends:\n${log.slice(-2000)}`)
    }
    await delay(10)
  }
}

/** The answer to PING; undefined while nobody listens. */
function ping(socketPath: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    const socket = net.connect(socketPath)
    const settle = (answer: string | undefined) => {
      socket.destroy()
      resolve(answer)
    }
    socket.once('error', () => settle(undefined))
    socket.once('close', () => settle(undefined))
    socket.once('data', (reply) => settle(reply.toString('latin1')))
    socket.write('PING\r\n')
  })
}

/** A TCP port of 127.0.0.1 that was free a moment ago. */
export async function freePort(): Promise<number> {
  const server = net.createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as net.AddressInfo
  server.close()
  await once(server, 'close')
  return port
}
