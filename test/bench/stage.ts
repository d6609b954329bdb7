import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import os from 'node:os'
import { fileURLToPath } from 'node:url'
import { Redis } from 'ioredis'
import { sampleFields } from '../../src/quickstart/sample-feed.ts'
import { freePort, startRedis } from '../support/redis-server.ts'
import { tempDir } from '../support/temp-dir.ts'

const main = fileURLToPath(new URL('../../src/main.ts', import.meta.url))
/** The kernel's unit of CPU times. */
const ticksPerSecond = 100

/** A sandbox, a Redis with AOF everysec and a configured catalogd, each a process of its own. */
export async function openStage(
  options: {
    deferredAfter?: string
    sandboxArgs?: readonly string[]
    /** YAML of the catalog in place of that of the sample products; indented by four. */
    catalog?: (sandboxUrl: string) => string
    /** The program that runs the commands; default: that of this checkout. */
    program?: string
  } = {},
) {
  const dir = await tempDir('bench')
  const redis = await startRedis({ aof: true })
  const port = await freePort()
  const sandbox = run(['sandbox', '--port', String(port), ...(options.sandboxArgs ?? [])])
  const url = `http://127.0.0.1:${port}`
  await once(sandbox.stdout as NodeJS.ReadableStream, 'data')
  await mkdir(dir.join('drop'))
  const config = `state: ./state
redis: ${redis.url}
catalogs:
  main:
${options.catalog?.(url) ?? sampleCatalog(url, options.deferredAfter ?? '15m')}`
  await writeFile(dir.join('catalogd.yaml'), config)
  const connection = new Redis(redis.url)
  const usedMemory = async () => Number(/used_memory:(\d+)/.exec(await connection.info('memory'))?.[1])
  return {
    dir,
    url,
    connection,
    /** Runs a command to its end and measures it. */
    async command(args: readonly string[]) {
      const began = performance.now()
      const child = run([...args, '--json', '--config', dir.join('catalogd.yaml')], options.program)
      const watched = watchPeak(child, usedMemory)
      let output = ''
      child.stdout?.on('data', (chunk: Buffer) => {
        output += chunk.toString()
      })
      const [code] = await once(child, 'exit')
      return { code, output, seconds: (performance.now() - began) / 1000, ...watched() }
    },
    usedMemory,
    start: (args: readonly string[] = []) => run(['start', ...args, '--config', dir.join('catalogd.yaml')]),
    summary: async () => (await fetch(`${url}/sandbox/summary`)).json() as Promise<SandboxSummary>,
    reset: () => fetch(`${url}/sandbox/reset`, { method: 'POST' }),
    async [Symbol.asyncDispose]() {
      connection.disconnect()
      sandbox.kill('SIGTERM')
      await once(sandbox, 'exit')
      await redis[Symbol.asyncDispose]()
      await dir[Symbol.asyncDispose]()
    },
  }
}

function sampleCatalog(url: string, deferredAfter: string): string {
  const fields = sampleFields.map((line) => `          ${line}`).join('\n')
  return `    api: { url: "${url}", productsToken: sandbox-token }
    deferred: { after: ${deferredAfter}, atMost: 1h }
    feeds:
      products:
        drop: ./drop
        files: { full: "*.csv", delta: "*.delta" }
        settle: 0s
        fields:
${fields}
`
}

export interface SandboxSummary {
  products: number
  documentsReceived: number
  calls: { total: number }
  bytes: number
  largestCallBytes: number
  overlapping: { count: number }
}

export function machine(): string {
  const [cpu] = os.cpus()
  return `${os.cpus().length} × ${cpu?.model.trim()}, ${Math.round(os.totalmem() / 2 ** 30)} GiB, Node ${process.versions.node}, load ${os.loadavg()[0]?.toFixed(1)}`
}

function run(args: readonly string[], program = main): ChildProcess {
  return spawn(process.execPath, [program, ...args], { stdio: ['ignore', 'pipe', 'ignore'] })
}

/** Memory and CPU of a process and the memory of Redis, sampled, because the kernel's counts are gone with the process. */
function watchPeak(child: ChildProcess, usedMemory: () => Promise<number>) {
  const seen = { peakMegabytes: 0, cpuSeconds: 0, peakRedisMegabytes: 0 }
  const timer = setInterval(async () => {
    const [status, stat] = await Promise.all(
      ['status', 'stat'].map((name) => readFile(`/proc/${child.pid}/${name}`, 'utf8').catch(() => '')),
    )
    const kilobytes = Number(/VmHWM:\s+(\d+)/.exec(status ?? '')?.[1] ?? 0)
    // Behind the name, which is in brackets: the state is the third field, user and system time are the 14th and 15th.
    const fields = stat?.split(') ')[1]?.split(' ') ?? []
    const ticks = Number(fields[11] ?? 0) + Number(fields[12] ?? 0)
    seen.peakMegabytes = Math.max(seen.peakMegabytes, Math.round(kilobytes / 1000))
    seen.cpuSeconds = Math.max(seen.cpuSeconds, ticks / ticksPerSecond)
    const redisMegabytes = (await usedMemory().catch(() => 0)) / 1e6
    seen.peakRedisMegabytes = Math.max(seen.peakRedisMegabytes, redisMegabytes)
  }, 100)
  child.once('exit', () => clearInterval(timer))
  return () => seen
}
