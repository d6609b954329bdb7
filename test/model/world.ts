import { copyMirror, copyRedis } from './copy.ts'
import { crashProcess } from './delivery.ts'
import { compareAgain, freshLoop } from './loop.ts'
import { freshMirror } from './mirror.ts'
import { adopt, compare } from './recover.ts'
import { allRules, type Rules } from './rules.ts'
import { freshRedis } from './scripts.ts'
import { type Installation, installationOf, lanes, limits, second, type World } from './state.ts'

// The world as it begins, and what befalls it from outside.

export function freshWorld(rules: Rules = allRules): World {
  const world: World = {
    rules,
    now: 100 * second,
    redis: freshRedis(1),
    snapshots: [],
    installations: [],
    made: 1,
    violations: [],
  }
  world.installations.push(freshInstallation(world, 0, 2), freshInstallation(world, 1, 1))
  return world
}

function freshInstallation(world: World, owner: number, processes: number): Installation {
  const inode = ++world.made
  const mirror = freshMirror(`g${++world.made}`, inode)
  return {
    owner,
    mirror,
    durable: mirror,
    backups: [],
    inode,
    closedRunId: -1,
    archive: [],
    accepted: new Map(),
    loop: freshLoop(),
    compared: false,
    processes: Array.from({ length: processes }, () => ({ calls: [] })),
    endpoint: { products: new Map(), requests: [], refusesAll: false, refused: new Set() },
    noticed: new Map(),
    started: false,
    pauseTold: false,
  }
}

/** Keeps Redis as it is, so that it can fall back to it. */
export function keepSnapshot(world: World): void {
  world.snapshots.push(copyRedis(world.redis))
  if (world.snapshots.length > limits.snapshots) world.snapshots.shift()
}

/** Redis ends and starts again, as it was so many snapshots ago. Nobody may know that it forgot nothing. */
export function rollBack(world: World, by: number): void {
  const snapshot = by === 0 ? world.redis : world.snapshots.at(-by)
  if (!snapshot) return
  if (by > 0) world.snapshots.length -= by - 1
  world.redis = { ...copyRedis(snapshot), runId: ++world.made }
  for (const installation of world.installations) installation.closedRunId = -1
}

/** FLUSHALL: the server goes on. */
export function wipe(world: World): void {
  world.redis = { ...freshRedis(world.redis.runId), written: world.redis.written + 1 }
}

/** An embedded server is closed in order; then perhaps an older copy of its files is put in their place. */
export function closeCleanly(world: World, installation: Installation, by: number): void {
  const { loop, mirror } = installation
  const { redis, rules } = world
  const isOurs = redis.guard?.open === true && redis.guard.generation === mirror.generation
  if (loop.state !== 'run' || loop.runId !== redis.runId || !isOurs || mirror.runId !== redis.runId) return
  if (rules['a clean close raises the beat']) {
    // Above what Redis has: a copy of a moment ago may hold the beat that was raised and is not durable yet.
    redis.beat++
    mirror.beat = redis.beat
  }
  const closed = redis.runId
  rollBack(world, by)
  installation.closedRunId = closed
  compareAgain(loop)
}

/** The importing process is killed. */
export function crash(installation: Installation): void {
  installation.closedRunId = -1
  installation.compared = false
  compareAgain(installation.loop)
}

/** The host of the mirror, its delivering process and an embedded Redis lose their power. */
export function powerCut(world: World, installation: Installation, by: number): void {
  const isDurable = world.rules['durable before offered']
  if (!isDurable) installation.mirror = copyMirror(installation.durable)
  crash(installation)
  const [process] = installation.processes
  if (process) crashProcess(world, process)
  rollBack(world, by)
}

export function sync(installation: Installation): void {
  installation.durable = copyMirror(installation.mirror)
}

export function backUp(installation: Installation): void {
  installation.backups.push(copyMirror(installation.mirror))
  if (installation.backups.length > 3) installation.backups.shift()
}

/**
 * An older mirror lies where the newer one was. `restored`: by the command, which starts over. `copied`: by hand, into a
 * new file. `in place`: the very file is as it was, as after the snapshot of a disk; the loop notices only when Redis is
 * more than one beat ahead, which is what is promised.
 */
export function putBack(
  world: World,
  installation: Installation,
  { which, how }: { which: number; how: 'restored' | 'copied' | 'in place' },
): void {
  const { mirror } = installation
  const backup = backupAt(installation, which)
  if (!backup || (how === 'in place' && !wouldNotice(world, installation, which))) return
  if (how !== 'in place') installation.inode = ++world.made
  // The manifest says it, where it has a decision.
  const { calls = backup.calls } = mirror
  installation.mirror = {
    ...copyMirror(backup),
    inode: how === 'in place' ? installation.inode : mirror.inode,
    calls,
  }
  installation.durable = installation.mirror
  crash(installation)
  if (how === 'restored') adopt(world, installation)
  else compare(world, installation)
}

function backupAt({ backups }: Installation, which: number): Installation['mirror'] | undefined {
  return which < 0 ? backups.at(which) : backups[which % Math.max(1, backups.length)]
}

export function wouldNotice({ redis }: World, installation: Installation, which: number): boolean {
  const { mirror } = installation
  const backup = backupAt(installation, which)
  const { guard, runId } = redis
  if (
    !guard?.open ||
    guard.runId !== runId ||
    guard.generation !== mirror.generation ||
    mirror.startOver !== null
  )
    return false
  if (!backup || backup.startOver !== null) return false
  return redis.beat > backup.beat + 1 || lanes.some((lane) => redis.positions[lane] > backup.last[lane])
}

/** The state folder of the other installation, which goes on, is copied over this one's. */
export function copyBeside(world: World, installation: Installation): void {
  const { mirror, archive, accepted } = installationOf(world, 1 - installation.owner)
  installation.mirror = copyMirror(mirror)
  installation.durable = installation.mirror
  installation.archive = [...archive]
  installation.accepted = new Map(accepted)
  copyInPlace(world, installation)
  compare(world, installation)
}

/** The file is replaced by a copy of itself. */
export function copyInPlace(world: World, installation: Installation): void {
  installation.inode = ++world.made
  crash(installation)
}
