import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { tempDir } from '../../support/temp-dir.ts'
import type { SeededRandom } from '../random.ts'
import { Bench } from './bench.ts'
import { boundaries, killAt, preload } from './boundaries.ts'
import { fillForLong, fillWithinFile, tellFailedCommits } from './full-disk.ts'
import { MountedDisk } from './mounted-disk.ts'
import { AofCopies, RdbCopies, type RedisCopies } from './redis-copies.ts'

/** One kind of fault, which comes again and again to one bench. */
export interface FaultRow {
  name: string
  /** In the whole table, and in the share that every test run plays. */
  times: number
  share: number
  /** At rest, all products are compared after so many; default 1. */
  compareEvery?: number
  needsMounts?: boolean
  /** Not part of the whole table: it needs the machine for itself. */
  isOnlyNamed?: boolean
  /** The first file is not waited for. */
  duringFirstLoad?: boolean
  play(random: SeededRandom, repeat: Repeat): Promise<void>
}

/** Lets a fault come as often as asked for; the load goes on until it has come. */
export type Repeat = (bench: Bench, fault: (nth: number) => Promise<void>) => Promise<void>

/** Seconds that Redis falls back by, in turn. */
const ages = [1, 10, 1, 60, 10, 1, 60, 10, 1, 60]

export const rows: readonly FaultRow[] = [
  {
    name: 'redis-aof-rolled-back',
    ...{ times: 10, share: 2 },
    async play(random, repeat) {
      await using bench = await Bench.open({ random, redis: 'aof', horizonMs: 8_000 })
      using copies = new AofCopies(bench.redis?.dir ?? '')
      await repeat(bench, (nth) => rollBack(bench, copies, nth))
    },
  },
  {
    name: 'redis-rdb-rolled-back',
    ...{ times: 10, share: 1 },
    async play(random, repeat) {
      await using bench = await Bench.open({ random, redis: 'rdb', horizonMs: 8_000 })
      using copies = new RdbCopies(bench.redis?.dir ?? '', bench.site.redis)
      await repeat(bench, (nth) => rollBack(bench, copies, nth))
    },
  },
  {
    name: 'embedded-redis-rolled-back',
    ...{ times: 10, share: 1 },
    async play(random, repeat) {
      await using bench = await Bench.open({ random, redis: 'embedded', horizonMs: 8_000 })
      using copies = new AofCopies(bench.site.path('state/redis'))
      await repeat(bench, (nth) => rollBack(bench, copies, nth))
    },
  },
  {
    name: 'redis-flushed',
    ...{ times: 15, share: 2 },
    async play(random, repeat) {
      await using bench = await Bench.open({ random, redis: 'aof', horizonMs: 8_000 })
      await repeat(bench, async () => {
        await bench.loadUntilFault(random.between(300, 3_000))
        await bench.site.redis.flushall()
        await goOn(bench)
      })
    },
  },
  {
    name: 'redis-files-deleted',
    ...{ times: 15, share: 1 },
    async play(random, repeat) {
      await using bench = await Bench.open({ random, redis: 'aof', horizonMs: 8_000 })
      const { redis } = bench
      await repeat(bench, async () => {
        await bench.loadUntilFault(random.between(300, 3_000))
        await redis?.kill()
        await rm(`${redis?.dir}/appendonlydir`, { recursive: true, force: true })
        await delay(random.between(0, 1_500))
        await redis?.restart()
        await goOn(bench)
      })
    },
  },
  {
    name: 'million-flushed',
    ...{ times: 1, share: 0 },
    ...{ isOnlyNamed: true, duringFirstLoad: true },
    async play(random, repeat) {
      const products = 1_000_000
      await using bench = await Bench.open({ random, redis: 'aof', products, restWithinMs: 1_800_000 })
      await repeat(bench, () => flushWhileMany(bench, products))
    },
  },
  {
    name: 'daemon-killed',
    ...{ times: 200, share: 5 },
    compareEvery: 20,
    async play(random, repeat) {
      await using bench = await Bench.open({ random, redis: 'aof', horizonMs: 25_000 })
      await repeat(bench, async (nth) => {
        if (nth % 20 === 19) return killWithLateCalls(bench)
        await bench.loadFor(random.between(0, 1_500))
        await bench.killDaemon()
        // While it starts, now and then.
        if (random.chance(0.3)) {
          const starting = await bench.site.spawn()
          await delay(random.between(50, 1_500))
          await starting.kill('SIGKILL')
        }
        await bench.startDaemon()
      })
    },
  },
  {
    name: 'daemon-killed-at-boundary',
    ...{ times: boundaries.length, share: 3 },
    compareEvery: 8,
    async play(random, repeat) {
      const env: Record<string, string> = { NODE_OPTIONS: preload }
      await using bench = await Bench.open({ random, redis: 'aof', env })
      // A share is not always of the same.
      const first = random.between(0, boundaries.length - 1)
      await repeat(bench, (nth) => killAt(bench, env, boundaries[(first + nth) % boundaries.length] ?? ''))
    },
  },
  {
    name: 'power-cut-of-the-mirror',
    ...{ times: 10, share: 1 },
    needsMounts: true,
    async play(random, repeat) {
      await using disk = await MountedDisk.open()
      await using drop = await tempDir('drop')
      await using bench = await Bench.open({ random, redis: 'aof', dir: disk, dropDir: drop.path })
      // Its configuration.
      await disk.sync()
      await repeat(bench, async () => {
        await bench.loadUntilFault(random.between(300, 4_000))
        await bench.stopLoad()
        await bench.killDaemon()
        await disk.cutPower()
        await bench.startDaemon()
      })
    },
  },
  {
    name: 'mirror-behind-redis',
    ...{ times: 5, share: 1 },
    async play(random, repeat) {
      await using bench = await Bench.open({ random, redis: 'aof', horizonMs: 25_000 })
      await repeat(bench, () => putMirrorBack(bench))
    },
  },
  {
    name: 'disk-full-during-commit',
    ...{ times: 10, share: 1 },
    needsMounts: true,
    async play(random, repeat) {
      await using disk = await MountedDisk.open()
      await using drop = await tempDir('drop')
      const env = { NODE_OPTIONS: tellFailedCommits }
      const options = { random, redis: 'aof', dir: disk, dropDir: drop.path, env, products: 10_000 } as const
      await using bench = await Bench.open(options)
      await repeat(bench, (nth) => (nth % 2 === 0 ? fillWithinFile(bench, disk) : fillForLong(bench, disk)))
    },
  },
  {
    name: 'power-loss-with-a-call-in-flight',
    ...{ times: 10, share: 1 },
    async play(random, repeat) {
      await using bench = await Bench.open({ random, redis: 'aof', horizonMs: 8_000 })
      using copies = new AofCopies(bench.redis?.dir ?? '')
      await repeat(bench, () => losePower(bench, copies))
    },
  },
  {
    name: 'power-loss-of-an-embedded-redis',
    ...{ times: 10, share: 1 },
    async play(random, repeat) {
      await using bench = await Bench.open({ random, redis: 'embedded', horizonMs: 8_000 })
      using copies = new AofCopies(bench.site.path('state/redis'))
      await repeat(bench, () => losePower(bench, copies))
    },
  },
]

async function rollBack(bench: Bench, copies: RedisCopies<unknown>, nth: number): Promise<void> {
  const { random } = bench
  const ageMs = 1_000 * (ages[nth % ages.length] as number)
  bench.load()
  await copies.untilThere(ageMs)
  await bench.loadUntilFault(random.between(300, 2_000))
  await stopRedis(bench)
  copies.putBack(ageMs)
  await startRedis(bench)
  await goOn(bench)
}

/** In half of the cases files come while that is repaired. */
async function goOn(bench: Bench): Promise<void> {
  if (bench.random.chance(0.5)) await bench.loadFor(bench.random.between(0, 3_000))
}

/** An embedded server is never stopped alone: the daemon would start it again at once. */
async function stopRedis(bench: Bench): Promise<void> {
  if (bench.redis) return bench.redis.kill()
  await bench.killDaemon()
  await bench.site.killEmbeddedRedis()
}

async function startRedis(bench: Bench): Promise<void> {
  if (bench.redis) await bench.redis.restart()
  else await bench.startDaemon()
}

/** Twice during the first load, with some changes that are undone in between. */
async function flushWhileMany(bench: Bench, products: number): Promise<void> {
  const { endpoint, site, shop } = bench
  const changed = Array.from({ length: 2_000 }, (_, index) => (index * products) / 2_000)
  endpoint.trouble = 0.08
  await site.redis.connect()
  for (const calls of [300, 1_200]) {
    while (endpoint.calls < calls) await delay(20)
    await bench.drop('delta', shop.flip(changed, 'price'))
    await site.redis.flushall()
  }
}

/** The calls under way take effect when the leases of the killed daemon have ended, and the products were sent back. */
async function killWithLateCalls(bench: Bench): Promise<void> {
  await bench.stopLoad()
  const { sendBack } = await bench.holdChanges()
  await bench.killDaemon()
  void bench.endpoint.settled()
  await bench.startDaemon()
  await sendBack()
}

/** The state folder keeps its files, and their content is of a moment before: a disk that lied, a machine's snapshot. */
async function putMirrorBack(bench: Bench): Promise<void> {
  const { site, random } = bench
  const file = site.path('state/main/catalog.db')
  await bench.loadFor(random.between(300, 1_500))
  await bench.killDaemon()
  const saved = [file, `${file}-wal`].map((name) => [name, readFileSync(name)] as const)
  await bench.startDaemon()
  await bench.loadFor(random.between(3_000, 6_000))
  await bench.stopLoad()
  const { sendBack } = await bench.holdChanges()
  await bench.killDaemon()
  if (random.chance(0.7)) await sendBack()
  void bench.endpoint.settled()
  for (const [name, content] of saved) writeFileSync(name, content)
  rmSync(`${file}-shm`, { force: true })
  const refused = await site.spawn()
  const { code } = await refused.ended()
  if (code === 0 || !refused.stderr.includes('catalogd adopt'))
    throw new Error(`an older mirror was not refused with a remedy:\n${refused.stderr}`)
  bench.tally.refusals += 1
  await site.run('adopt', '--yes')
  await bench.startDaemon()
}

/** The calls under way have not taken effect yet, and the last 200 ms of Redis are gone; then everything is as before. */
async function losePower(bench: Bench, copies: AofCopies): Promise<void> {
  const { endpoint, random } = bench
  await bench.compare()
  const { sendBack } = await bench.holdChanges()
  await delay(random.between(0, 100))
  await bench.killDaemon()
  await stopRedis(bench)
  copies.putBack(200)
  if (random.chance(0.7)) await sendBack()
  void endpoint.settled()
  await bench.redis?.restart()
  await bench.startDaemon()
}
