import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { waitFor } from '../../support/events.ts'
import { cpuOfTree, memoryOf, resetPeakMemory } from './process-tree.ts'

/** CATALOGD_PROGRAM: another one, such as that of the package. */
export const main = process.env.CATALOGD_PROGRAM
  ? resolve(process.env.CATALOGD_PROGRAM)
  : fileURLToPath(new URL('../../../src/main.ts', import.meta.url))
const watchEventLoop = new URL('./watch-event-loop.ts', import.meta.url).href

export interface EventLoopDelay {
  p99Ms: number
  maxMs: number
}

/** A running `catalogd start`. */
export interface Daemon extends AsyncDisposable {
  readonly pid: number
  /** Until it was ready. */
  readonly startCpuSeconds: number
  readonly startSeconds: number
  cpu(): number
  memory(): ReturnType<typeof memoryOf>
  resetPeakMemory(): void
  /** Of the main thread, since it was asked last. */
  eventLoopDelay(): Promise<EventLoopDelay>
  stop(): Promise<void>
}

/** Starts `catalogd start` and waits until it works. */
export async function startDaemon({
  config,
  args,
}: {
  config: string
  args: readonly string[]
}): Promise<Daemon> {
  const began = performance.now()
  const delayFile = `${config}.delay`
  const child = spawn(
    process.execPath,
    ['--import', watchEventLoop, main, 'start', ...args, '--config', config],
    { stdio: ['ignore', 'ignore', 'pipe'], env: { ...process.env, EVENT_LOOP_FILE: delayFile } },
  )
  const pid = child.pid as number
  await untilReady(child, args.length === 0 ? 'watching and importing' : 'catalogd runs')
  const stop = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return
    const exited = once(child, 'exit')
    child.kill('SIGTERM')
    await exited
  }
  return {
    pid,
    startSeconds: (performance.now() - began) / 1000,
    startCpuSeconds: cpuOfTree(pid),
    cpu: () => cpuOfTree(pid),
    memory: () => memoryOf(pid),
    resetPeakMemory: () => resetPeakMemory(pid),
    async eventLoopDelay() {
      rmSync(delayFile, { force: true })
      child.kill('SIGUSR2')
      await waitFor(() => existsSync(delayFile), { withinMs: 10_000, what: 'the delay of the event loop' })
      return JSON.parse(readFileSync(delayFile, 'utf8')) as EventLoopDelay
    },
    stop,
    [Symbol.asyncDispose]: stop,
  }
}

async function untilReady(child: ChildProcess, says: string): Promise<void> {
  let log = ''
  let isReady = false
  // It is read on to its end: a full pipe would stop the daemon.
  child.stderr?.on('data', (chunk: Buffer) => {
    if (isReady) return
    log += chunk.toString()
    isReady = log.includes(says)
  })
  const done = () => isReady || child.exitCode !== null
  await waitFor(done, { withinMs: 60_000, what: () => `"${says}" in the log:\n${log}` })
  if (!isReady) throw new Error(`the daemon ended:\n${log}`)
}
