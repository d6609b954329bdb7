import { statSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as delay } from 'node:timers/promises'
import type { FeedName } from '../../../src/lib/brand.ts'
import { waitFor } from '../../support/events.ts'
import type { Bench } from './bench.ts'
import type { MountedDisk } from './mounted-disk.ts'

/** Put before the daemon. */
export const tellFailedCommits = `--import=${new URL('tell-failed-commits.ts', import.meta.url).href}`
/** SQLITE_FULL. */
const commitFailed = 'a commit of products failed: 13\n'
/** The disk stays full: products fail after it. */
const anyFailed = ' failed: 13\n'
const otherFailed = 'a commit of no product failed: 13\n'
const attemptsMax = 20
/** Of the mirror's log: products of the file are there. */
const withinFileBytes = 500_000

/** There is no room in the midst of a file, and some again before its end. */
export async function fillWithinFile(bench: Bench, disk: MountedDisk): Promise<void> {
  const { random, shop } = bench
  const log = bench.site.path('state/main/catalog.db-wal')
  const makeRoom = await fillBeforeCommit({ bench, disk, failure: commitFailed }, async () => {
    shop.flip(shop.all(), random.pick(['price', 'stock'] as const))
    await bench.drop('full', shop.full())
    await waitFor(() => statSync(log).size > withinFileBytes)
  })
  await makeRoom()
}

/** Files come while there is no room; the daemon may not live to see some. */
export async function fillForLong(bench: Bench, disk: MountedDisk): Promise<void> {
  const { random, shop } = bench
  await bench.loadFor(random.between(300, 2_000))
  await bench.stopLoad()
  const makeRoom = await fillBeforeCommit({ bench, disk, failure: anyFailed }, async () => {
    // The first is accepted, and the others make sure that not all are imported yet.
    for (let files = 0; files < 4; files += 1)
      await bench.drop('delta', shop.flip(shop.some(), random.pick(['price', 'stock'] as const)))
    await bench.site.untilAccepted(bench.site.dropped - 3)
    await delay(random.between(0, 50))
  })
  await bench.loadFor(random.between(500, 4_000))
  const isKilled = random.chance(0.3)
  if (isKilled) await bench.killDaemon()
  await makeRoom()
  if (isKilled) await bench.startDaemon()
}

/**
 * The disk fills while files that were dropped are not imported, and a commit of their products meets that. Returns what
 * makes room. Where the daemon was done before, or had not begun, it is tried again.
 */
async function fillBeforeCommit(
  { bench, disk, failure }: { bench: Bench; disk: MountedDisk; failure: string },
  dropAndWait: () => Promise<void>,
): Promise<() => Promise<void>> {
  for (let attempt = 0; attempt < attemptsMax; attempt += 1) {
    shrinkLog(bench)
    await dropAndWait()
    const { daemon } = bench
    process.kill(daemon.pid, 'SIGSTOP')
    const told = daemon.stderr.length
    const makeRoom = await disk.fill()
    process.kill(daemon.pid, 'SIGCONT')
    const failed = () => daemon.stderr.includes(failure, told)
    // An import begins with a commit that carries none.
    const isTooEarly = () => daemon.stderr.includes(otherFailed, told)
    await waitFor(async () => failed() || isTooEarly() || !(await filesWait(bench)) || !daemon.running)
    if (failed()) return makeRoom
    await makeRoom()
  }
  throw new Error(`no commit met the full disk in ${attemptsMax} attempts`)
}

/** Commits reuse what the log has on the disk: only one that has to grow needs room. */
function shrinkLog({ site }: Bench): void {
  const mirror = new DatabaseSync(site.path('state/main/catalog.db'), { timeout: 60_000 })
  try {
    mirror.exec('PRAGMA wal_checkpoint(TRUNCATE)')
  } finally {
    mirror.close()
  }
}

/** Accepted ones, which the mirror does not have yet. */
async function filesWait({ site }: Bench): Promise<boolean> {
  const accepted = await site.accepted()
  using mirror = site.openMirror()
  const [newest] = mirror.applied('products' as FeedName)
  return (accepted.at(-1)?.sequence ?? 0) > (newest?.sequence ?? 0)
}
