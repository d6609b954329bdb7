import { expect, test } from 'vitest'
import { MirrorStore } from '../../src/mirror/store.ts'
import { write } from '../outbox/harness.ts'
import { tempDir } from '../support/temp-dir.ts'

test('who opens the mirror is its writer; who had it open before writes nothing more', async () => {
  await using dir = await tempDir('writer')
  const file = dir.join('catalog.db')
  const put = (mirror: MirrorStore, id: string) => {
    let chunk: { writes: ReturnType<typeof write>[] } | undefined = { writes: [write(id, '{}', 'urgent')] }
    mirror.commit(() => {
      const next = chunk
      chunk = undefined
      return next
    }, 0)
  }
  using sleeper = MirrorStore.open({ file, isExpected: false })
  put(sleeper, 'a')
  // It has changed nothing yet.
  using early = MirrorStore.open({ file, isExpected: true })
  using other = MirrorStore.open({ file, isExpected: true })
  put(other, 'b')
  for (const wake of [
    () => put(sleeper, 'c'),
    () => sleeper.writer.check(),
    () => sleeper.remember({ beat: 9 }),
  ])
    expect(wake).toThrow('is written by another process')
  expect(() => put(early, 'c')).toThrow('is written by another process')
  put(other, 'd')
  expect(other.readIdentity()).toMatchObject({ last: { urgent: 3 }, beat: 0 })
  // Moving the log changes nothing that anybody remembers.
  other.endCheckpoint()
  put(other, 'e')
  expect(() => put(sleeper, 'f')).toThrow('is written by another process')
})
