import { mkdir, rename, writeFile } from 'node:fs/promises'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { EventKeeper, openFolderEvents } from '../../src/sources/event-keeper.ts'
import { NoticeBoard } from '../../src/sources/notices.ts'
import { startChild } from '../support/child.ts'
import { waitFor } from '../support/events.ts'
import { leakCheck } from '../support/leak-check.ts'
import { tempDir } from '../support/temp-dir.ts'
import { silentLog } from './support/setup.ts'

const leaks = leakCheck()
beforeEach(leaks.remember)
afterEach(leaks.check)

describe('events of a folder', () => {
  it('name what changed directly in it', async () => {
    await using dir = await tempDir()
    await mkdir(dir.join('drop', 'sub'), { recursive: true })
    const named = new Set<string | undefined>()
    await using _events = await openFolderEvents({
      dir: dir.join('drop'),
      onEvent: (raw) => named.add(raw),
      onFailure: (error) => expect.unreachable(error.message),
    })
    await writeFile(dir.join('drop', 'sub', 'inside.csv'), 'x')
    await writeFile(dir.join('drop', 'größe.csv'), 'x')
    await writeFile(dir.join('moved.csv'), 'x')
    await rename(dir.join('moved.csv'), dir.join('drop', 'moved.csv'))
    await waitFor(() => named.has('moved.csv'))
    expect([...named]).toEqual([Buffer.from('größe.csv').toString('latin1'), 'moved.csv'])
  })

  it('follow a folder that is replaced', async () => {
    await using dir = await tempDir()
    await mkdir(dir.join('drop'))
    const named: unknown[] = []
    const notices = new NoticeBoard({ log: silentLog, onNotice: (_, text) => expect.unreachable(text) })
    await using keeper = new EventKeeper({
      dir: dir.join('drop'),
      place: 'products',
      notices,
      log: silentLog,
      onEvent: (raw) => named.push(raw),
    })
    expect(await keeper.refresh()).toBe(true)
    expect(await keeper.refresh()).toBe(false)
    await rename(dir.join('drop'), dir.join('old'))
    await mkdir(dir.join('drop'))
    expect(await keeper.refresh()).toBe(true)
    await writeFile(dir.join('drop', 'new.csv'), 'x')
    await waitFor(() => named.includes('new.csv'))
  })

  it('are replaced by looking when the system has none left, with a notice, until it has', async () => {
    await using dir = await tempDir()
    const script = new URL('support/exhaust-descriptors.ts', import.meta.url).pathname
    const wrapper = dir.join('limited.mjs')
    const command = `ulimit -n 60; exec '${process.execPath}' '${script}' '${dir.path}'`
    await writeFile(
      wrapper,
      `import { spawnSync } from 'node:child_process'
       spawnSync('sh', ['-c', ${JSON.stringify(command)}], { stdio: 'inherit' })`,
    )
    await using child = await startChild(wrapper)
    await child.line('end')
    const lines = child.stdout.trim().split('\n')
    expect(lines[0]).toMatch(/^notice watch:products: .*EMFILE.*inotify/)
    expect(lines.slice(1)).toEqual([
      'looked at every 2000',
      'notice watch:products: (over)',
      'opened true',
      'looked at every 30000',
      'end',
    ])
  })
})
