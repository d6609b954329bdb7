import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { Watchdog } from '../../src/lib/watchdog.ts'
import { Checkpointer, moveLog } from '../../src/mirror/checkpointer.ts'
import { MirrorStore } from '../../src/mirror/store.ts'
import { leakCheck } from '../support/leak-check.ts'
import { tempDir } from '../support/temp-dir.ts'
import { writeOf } from './writes.ts'

const leaks = leakCheck()
beforeEach(leaks.remember)
afterEach(leaks.check)

/** Frames of the log, and how many of them stand in the file. */
function readLog(file: string): { log: number; checkpointed: number } {
  using database = new DatabaseSync(file)
  return database.prepare('PRAGMA wal_checkpoint(NOOP)').get() as { log: number; checkpointed: number }
}

it('moves the log into the file while the writer goes on, and the writer begins it anew', async () => {
  await using dir = await tempDir('checkpointer')
  const file = dir.join('catalog.db')
  using store = MirrorStore.open({ file, isExpected: false })
  let number = 0
  const commit = (count: number) => {
    const writes = Array.from({ length: count }, () => writeOf(number++, '1'.repeat(9_000)))
    const chunks = [{ writes }]
    store.commit(() => chunks.pop(), 1)
  }
  while (!store.isLogLong()) commit(100)
  const { promise: moved, resolve: onMoved } = Promise.withResolvers<void>()
  await using watchdog = new Watchdog({ onStall: () => undefined })
  await using checkpointer = new Checkpointer(file, watchdog.runBeside(moveLog), onMoved)
  const long = readLog(file)
  expect(long.checkpointed).toBe(0)
  checkpointer.move()
  commit(1)
  await moved
  expect(readLog(file).checkpointed).toBeGreaterThanOrEqual(long.log)
  store.endCheckpoint()
  commit(1)
  expect(readLog(file).log).toBeLessThan(100)
})
