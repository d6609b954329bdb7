import { statSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { Daemon } from './daemon.ts'
import { type Dropped, dropFile } from './drop.ts'
import { type Figure, medianOf, medianRun, type Run, ratioOf } from './figure.ts'
import { type PeerRun, runPeer } from './peer.ts'
import { openStage } from './stage.ts'

export interface Files {
  rows: number
  base: string
  /** 1 % of the prices differ. */
  changed: string
}

/** Everything of one round over the same files, ours and the peers' in turns. */
interface Round {
  first: Dropped
  again: Dropped
  changed: Dropped
  startCpu: number[]
  steadyMegabytes: number
  redis: { peakMegabytes: number; restMegabytes: number }
  mirrorBytes: number
  peers: Record<PeerName, PeerRun<number>>
}

const peerNames = ['bulk', 'fetch-loop', 'csv-parse', 'csv-parse arrays', 'duckdb', 'diff'] as const
type PeerName = (typeof peerNames)[number]

const callBytes = 2_000_000
/** Its threads collect some seconds after they have come to rest, and the thread that indexes words ends. */
const steadyAfterMs = 12_000
const restMsMax = 240_000
/** Of one processor: what looks around takes less. */
const restBusyMax = 0.1

export async function measureLoads(files: Files, rounds: number): Promise<Figure[]> {
  const all: Round[] = []
  for (let round = 0; round < rounds; round += 1) {
    all.push(await runRound(files, round % 2 === 1))
    console.log(`  round ${round + 1} of ${rounds}: ${describeRound(all.at(-1) as Round)}`)
  }
  return [...comparisons(all), ...bounds(all, files.rows)]
}

function describeRound({ first, again, changed, peers }: Round): string {
  const seconds = (run: Run) => `${run.seconds.toFixed(2)} s`
  const own = `first ${seconds(first)}, again ${seconds(again)}, 1 % changed ${seconds(changed)}`
  return `${own}; ${peerNames.map((name) => `${name} ${seconds(peers[name])}`).join(', ')}`
}

/** After a load the daemon compresses the file in the archive and indexes the words of products, in turns. */
async function untilAtRest(daemon: Daemon): Promise<void> {
  const deadline = performance.now() + restMsMax
  let busy: number
  do {
    const before = daemon.cpu()
    await delay(steadyAfterMs)
    busy = (daemon.cpu() - before) / (steadyAfterMs / 1_000)
  } while (busy > restBusyMax && performance.now() < deadline)
}

/** The daemon is started anew before each file: its index is on the disk, and no code of it is warm. */
async function runRound({ base, changed }: Files, peersFirst: boolean): Promise<Round> {
  await using stage = await openStage()
  const peers = {} as Round['peers']
  const startCpu: number[] = []
  const runPeers = async (...names: PeerName[]) => {
    for (const name of names) peers[name] = await runPeerOf(name, { base, changed, url: stage.endpoint.url })
  }
  const own = async (file: string, name: string) => {
    const daemon = await stage.start()
    startCpu.push(daemon.startCpuSeconds)
    const dropped = await dropFile(stage, daemon, { file, name })
    return { daemon, dropped }
  }
  const inTurn = async <T>(work: () => Promise<T>, ...names: PeerName[]): Promise<T> => {
    if (peersFirst) await runPeers(...names)
    const result = await work()
    if (!peersFirst) await runPeers(...names)
    return result
  }
  const loaded = await inTurn(
    async () => {
      const { daemon, dropped } = await own(base, 'first.csv')
      await untilAtRest(daemon)
      const redis = {
        peakMegabytes: await stage.usedMemory('used_memory_peak'),
        restMegabytes: await stage.usedMemory(),
      }
      const steadyMegabytes = daemon.memory().nowMegabytes
      await daemon.stop()
      const mirrorBytes = statSync(join(stage.state, 'catalog.db')).size
      return { first: dropped, redis, steadyMegabytes, mirrorBytes }
    },
    'bulk',
    'fetch-loop',
  )
  const reimport = async (file: string, name: string) => {
    const { daemon, dropped } = await own(file, name)
    await daemon.stop()
    return dropped
  }
  const again = await inTurn(() => reimport(base, 'again.csv'), 'csv-parse', 'csv-parse arrays')
  const repriced = await inTurn(() => reimport(changed, 'changed.csv'), 'duckdb', 'diff')
  return { ...loaded, again, changed: repriced, peers, startCpu }
}

function runPeerOf(
  name: PeerName,
  { base, changed, url }: { base: string; changed: string; url: string },
): Promise<PeerRun<number>> {
  switch (name) {
    case 'bulk':
    case 'fetch-loop':
      return runPeer(name, base, url)
    case 'csv-parse':
      return runPeer('csv-parse', changed, 'objects')
    case 'csv-parse arrays':
      return runPeer('csv-parse', changed, 'arrays')
    case 'duckdb':
    case 'diff':
      return runPeer(name, base, changed)
  }
}

function comparisons(rounds: readonly Round[]): Figure[] {
  const own = (step: 'first' | 'again' | 'changed') => medianRun(rounds.map((round) => round[step]))
  const peer = (name: PeerName) => medianRun(rounds.map(({ peers }) => peers[name]))
  const compare = (
    step: 'first' | 'again' | 'changed',
    name: PeerName,
    given: Pick<Figure, 'id' | 'name' | 'goal' | 'acceptable'> & { peerName: string; note?: string },
  ): Figure => {
    const { peerName, ...figure } = given
    const [ours, theirs] = [own(step), peer(name)]
    return {
      ...figure,
      value: ratioOf(ours, theirs),
      ...{ unit: '×', better: 'more', ours: runOf(ours), peer: { name: peerName, ...runOf(theirs) } },
    }
  }
  const changedNote =
    'the peer only parses the file; catalogd finds what changed, delivers it, and is durable'
  return [
    compare('changed', 'csv-parse', {
      ...{ id: 'changed', name: '1 % of the prices changed', goal: 35, acceptable: 20 },
      ...{ peerName: 'csv-parse alone, objects', note: changedNote },
    }),
    compare('changed', 'csv-parse arrays', {
      ...{ id: 'changed-arrays', name: '  the same', peerName: 'csv-parse alone, arrays' },
    }),
    compare('changed', 'duckdb', {
      ...{ id: 'changed-duckdb', name: '  telling what changed', peerName: 'DuckDB, except over both files' },
    }),
    compare('changed', 'diff', {
      ...{ id: 'changed-diff', name: '  the same', peerName: 'GNU diff of both files, by lines' },
    }),
    compare('again', 'csv-parse', {
      ...{ id: 'unchanged', name: 'the same file again', peerName: 'csv-parse alone, objects' },
    }),
    compare('first', 'bulk', {
      ...{ id: 'first-load', name: 'first load', goal: 2, acceptable: 1.3 },
      ...{
        peerName: 'csv-parse + helpers.bulk',
        note: 'the peer neither checks, compares nor survives a crash',
      },
    }),
    compare('first', 'fetch-loop', {
      ...{ id: 'first-load-fetch', name: '  the same', peerName: 'csv-parse + fetch, one after another' },
    }),
  ]
}

function runOf({ seconds, cpuSeconds, redisCpuSeconds }: Run): Run {
  return { seconds, cpuSeconds, ...(redisCpuSeconds === undefined ? {} : { redisCpuSeconds }) }
}

function bounds(rounds: readonly Round[], rows: number): Figure[] {
  const middle = (read: (round: Round) => number) => medianOf(rounds.map(read))
  const loadMegabytes = 400 + (24 * rows) / 1e6
  const fillOf = ({ sizes, bytes }: Dropped) => (100 * bytes) / (sizes.length * callBytes)
  const largest = Math.max(...rounds.flatMap(({ first }) => first.sizes))
  const less = (id: string, name: string, unit: Figure['unit'], value: number, goal: number, note?: string) =>
    ({ id, name, value, unit, better: 'less', goal, ...(note ? { note } : {}) }) satisfies Figure
  const loop = (read: (round: Round) => number) => middle(read)
  return [
    {
      ...{ id: 'fill', name: 'calls of the first load: how full', unit: '%', better: 'more', goal: 97 },
      value: middle(({ first }) => fillOf(first)),
      note: `largest ${largest} bytes, half of the calls above ${medianOf(rounds.flatMap(({ first }) => first.sizes))}`,
    },
    less(
      'rss-steady',
      'memory of the daemon after the load',
      'MB',
      middle((round) => round.steadyMegabytes),
      256,
    ),
    less(
      'rss-load',
      'memory of the daemon, at most',
      'MB',
      middle(({ first }) => first.peakMegabytes),
      loadMegabytes,
    ),
    less(
      'redis-rest',
      'Redis at rest',
      'MB',
      middle(({ redis }) => redis.restMegabytes),
      16,
    ),
    less(
      'redis-peak',
      'Redis at most',
      'MB',
      middle(({ redis }) => redis.peakMegabytes),
      700,
    ),
    less(
      'mirror',
      'mirror on the disk',
      'MB',
      middle(({ mirrorBytes }) => mirrorBytes / 1e6),
      middle(({ first }) => (1.2 * first.bytes + 100 * rows) / 1e6),
      `documents ${(middle(({ first }) => first.bytes) / 1e6).toFixed(0)} MB`,
    ),
    less(
      'event-loop',
      'event-loop delay of the main thread, first load, p99',
      'ms',
      loop(({ first }) => first.eventLoop.p99Ms),
      20,
      `at most ${loop(({ first }) => first.eventLoop.maxMs).toFixed(0)} ms; 1 % changed p99 ${loop(({ changed }) => changed.eventLoop.p99Ms).toFixed(1)} ms`,
    ),
  ]
}
