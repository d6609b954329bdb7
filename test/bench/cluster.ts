import { copyFile, mkdir, rename, writeFile } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { Redis } from 'ioredis'
import { sampleFields, writeSampleFeed } from '../../src/quickstart/sample-feed.ts'
import { startRedis } from '../support/redis-server.ts'
import { tempDir } from '../support/temp-dir.ts'
import { machine } from './stage.ts'
import { startDaemon } from './suite/daemon.ts'
import { untilImported, untilSettled } from './suite/drop.ts'
import { openEndpoint } from './suite/endpoint.ts'
import { cpuOfTree } from './suite/process-tree.ts'

const masters = 3
const catalogs = 8
const slots = 16_384
const fields = sampleFields.map((line) => `          ${line}`).join('\n')

/**
 * First loads of 8 catalogs at once, with their keys in a Redis Cluster of three masters, then with one redis-server. All
 * keys of a catalog lie in one slot; a daemon talks to one master, so each master has a daemon with the catalogs of its
 * slots. `npm run bench -- cluster [products of each catalog]`
 */
export async function benchCluster([count = '10000']: readonly string[]): Promise<void> {
  console.log(`${catalogs} catalogs of ${count} products each; ${machine()}`)
  for (const size of [masters, 1]) {
    const { seconds, cpuSeconds, redisCpu, shares, megabytes } = await measure(Number(count), size)
    const rate = Math.round((catalogs * Number(count)) / seconds)
    console.log(
      `${size} masters, ${size} daemons with ${shares.join(' + ')} catalogs: ${seconds.toFixed(1)} s, ${rate} products a second, CPU ${cpuSeconds.toFixed(1)} s, of Redis ${redisCpu.map((cpu) => cpu.toFixed(1)).join(' + ')} s; Redis at rest ${megabytes.map((one) => one.toFixed(1)).join(' + ')} MB`,
    )
  }
}

async function measure(products: number, size: number) {
  await using stack = new AsyncDisposableStack()
  const dir = stack.use(await tempDir('bench-cluster'))
  const endpoint = stack.use(await openEndpoint())
  const servers = await Promise.all(
    Array.from({ length: size }, async () => {
      const config = size > 1 ? { 'cluster-enabled': 'yes' } : {}
      return stack.use(await startRedis({ aof: true, config }))
    }),
  )
  const masterOf = size > 1 ? await joinCluster(servers.map(({ port }) => port)) : () => 0
  const names = Array.from({ length: catalogs }, (_, n) => `shop-${n}`)
  const owners = names.map(masterOf)
  const file = dir.join('feed.tmp')
  await writeSampleFeed(file, { products })
  const shares = servers.map((_, server) => names.filter((_, n) => owners[n] === server))
  const sites = await Promise.all(
    servers.map(async ({ url }, server) => {
      const folder = dir.join(`daemon-${server}`)
      await mkdir(folder)
      const config = `${folder}/catalogd.yaml`
      const own = shares[server] ?? []
      for (const name of own) {
        await mkdir(`${folder}/drop-${name}`)
        await copyFile(file, `${folder}/.${name}`)
      }
      await writeFile(config, configOf(url, endpoint.url, own))
      return { folder, own, daemon: stack.use(await startDaemon({ config, args: [] })) }
    }),
  )
  const cpu = () => sites.map(({ daemon }) => daemon.cpu()).reduce((sum, one) => sum + one, 0)
  const redis = () => servers.map(({ pid }) => cpuOfTree(pid))
  const [cpuBefore, redisBefore, beganMs] = [cpu(), redis(), Date.now()]
  await Promise.all(
    sites.flatMap(({ folder, own }) =>
      own.map(async (name) => {
        await rename(`${folder}/.${name}`, `${folder}/drop-${name}/feed.csv`)
        const state = `${folder}/state/${name}`
        await untilImported({ state }, 'feed.csv')
        await untilSettled({ state })
      }),
    ),
  )
  const { lastMs } = await endpoint.stats()
  const megabytes = await Promise.all(servers.map(usedMegabytes))
  return {
    seconds: (lastMs - beganMs) / 1000,
    cpuSeconds: cpu() - cpuBefore,
    redisCpu: redis().map((one, server) => one - (redisBefore[server] ?? 0)),
    megabytes,
    shares: shares.map(({ length }) => length),
  }
}

async function usedMegabytes({ port }: { port: number }): Promise<number> {
  const connection = new Redis(port)
  const memory = await connection.info('memory')
  connection.disconnect()
  return Number(/used_memory:(\d+)/.exec(memory)?.[1]) / 1e6
}

/** Gives each master its part of the slots. The answer tells which of them has a catalog's keys. */
async function joinCluster(ports: readonly number[]): Promise<(catalog: string) => number> {
  const connections = ports.map((port) => new Redis(port))
  const share = Math.ceil(slots / ports.length)
  for (const [n, connection] of connections.entries()) {
    await connection.call('CLUSTER', 'ADDSLOTSRANGE', n * share, Math.min(slots, (n + 1) * share) - 1)
    await connection.call('CLUSTER', 'MEET', '127.0.0.1', String(ports[0]))
  }
  const isOk = async (connection: Redis) =>
    String(await connection.call('CLUSTER', 'INFO')).includes('state:ok')
  for (const connection of connections) while (!(await isOk(connection))) await delay(50)
  const placed = new Map<string, number>()
  const [first] = connections
  for (let n = 0; n < catalogs; n += 1) {
    const slot = Number(await first?.call('CLUSTER', 'KEYSLOT', `catalogd:{shop-${n}}:`))
    placed.set(`shop-${n}`, Math.floor(slot / share))
  }
  for (const connection of connections) connection.disconnect()
  return (catalog) => placed.get(catalog) ?? 0
}

function configOf(redis: string, endpoint: string, names: readonly string[]): string {
  const catalog = (name: string) => `  ${name}:
    api: { url: "${endpoint}/${name}", productsToken: bench-token }
    delivery: { callsPerSecond: 200 }
    feeds:
      products:
        drop: ./drop-${name}
        files: "*.csv"
        settle: 0s
        fields:
${fields}
`
  return `state: ./state\nredis: ${redis}\ncatalogs:\n${names.map(catalog).join('')}`
}
