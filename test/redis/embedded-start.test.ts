import { execFileSync } from 'node:child_process'
import { readFile, stat, writeFile } from 'node:fs/promises'
import { Redis } from 'ioredis'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Child } from '../support/child.ts'
import { waitFor } from '../support/events.ts'
import { leakCheck } from '../support/leak-check.ts'
import { type TempDir, tempDir } from '../support/temp-dir.ts'
import { connect, gone, open, serverPid, startUser } from './embedded-users.ts'

const leaks = leakCheck()
beforeEach(leaks.remember)
afterEach(leaks.check)

const redisServer = execFileSync('sh', ['-c', 'command -v redis-server'], { encoding: 'utf8' }).trim()

describe('a server that dies before it is ready', () => {
  /** A program that is killed at its first starts, and writes a line for each start. */
  async function killedAtStart(bin: TempDir, times: number): Promise<Record<string, string>> {
    await writeFile(
      bin.join('redis-server'),
      `#!/bin/sh
echo started >> ${bin.join('starts')}
[ $(wc -l < ${bin.join('starts')}) -gt ${times} ] || kill -KILL $$
exec ${redisServer} "$@"
`,
      { mode: 0o700 },
    )
    return { PATH: `${bin.path}:${process.env.PATH}` }
  }
  const starts = async (bin: TempDir) => (await readFile(bin.join('starts'), 'utf8')).split('\n').length - 1

  test('by a signal is started again', async () => {
    await using dir = await tempDir('embedded')
    await using bin = await tempDir('bin')
    await using user = await startUser(dir.path, await killedAtStart(bin, 2))
    expect(await serverPid(user)).toBeGreaterThan(0)
    expect(await starts(bin)).toBe(3)
    user.send('leave')
    await user.line('left')
  })

  test('by a signal each time is given up', async () => {
    await using dir = await tempDir('embedded')
    await using bin = await tempDir('bin')
    await using user = await startUser(dir.path, await killedAtStart(bin, 1_000))
    expect(await user.line('failed')).toMatch(/was killed \(SIGKILL\) before it was ready\. Look for what/)
    expect(await starts(bin)).toBe(5)
    expect(await user.ended()).toMatchObject({ code: 1 })
  })

  test('for its settings is not started again', async () => {
    await using dir = await tempDir('embedded')
    await using bin = await tempDir('bin')
    const program = `#!/bin/sh
echo started >> ${bin.join('starts')}
exec ${redisServer} "$@" --no-such-setting 1
`
    await writeFile(bin.join('redis-server'), program, { mode: 0o700 })
    await using user = await startUser(dir.path, { PATH: `${bin.path}:${process.env.PATH}` })
    expect(await user.line('failed')).toContain('ended at its start')
    expect(await starts(bin)).toBe(1)
  })

  test.each(['SIGKILL', 'SIGTERM'] as const)(
    'by %s while it loads its data is started again by all who wait for it',
    async (signal) => {
      await using dir = await tempDir('embedded')
      await using bin = await tempDir('bin')
      await fill(dir.path, 60_000)
      const env = await slowAtFirstStart(bin)
      await using starter = await startUser(dir.path, env)
      const pid = await loadingServer(dir, starter)
      await using other = await startUser(dir.path, env)
      expect(await loadingServer(dir, other)).toBe(pid)
      process.kill(pid, signal)
      const next = await serverPid(starter)
      expect(next).not.toBe(pid)
      expect(await serverPid(other)).toBe(next)
      for (const user of [starter, other]) {
        user.send('get k59999')
        await user.line('answer x')
        user.send('leave')
        await user.line('left')
      }
      await gone(next)
    },
  )

  test('is started again by another process, too', async () => {
    await using dir = await tempDir('embedded')
    await using bin = await tempDir('bin')
    await fill(dir.path, 60_000)
    const env = await slowAtFirstStart(bin)
    await using starter = await startUser(dir.path, env)
    const pid = await loadingServer(dir, starter)
    await using other = await startUser(dir.path, env)
    await loadingServer(dir, other)
    await starter.kill('SIGKILL')
    process.kill(pid, 'SIGKILL')
    expect(await serverPid(other)).not.toBe(pid)
    other.send('leave')
    await other.line('left')
  })

  /** Its first start takes seconds to load what `fill` wrote. */
  async function slowAtFirstStart(bin: TempDir): Promise<Record<string, string>> {
    await writeFile(
      bin.join('redis-server'),
      `#!/bin/sh
mkdir ${bin.join('started')} && set -- "$@" --key-load-delay 300
exec ${redisServer} "$@"
`,
      { mode: 0o700 },
    )
    return { PATH: `${bin.path}:${process.env.PATH}` }
  }

  /** Waits until this user has joined the server, which still loads. */
  async function loadingServer(dir: TempDir, user: Child): Promise<number> {
    await waitFor(() => stat(dir.join('redis.sock')).catch(() => undefined))
    const watcher = new Redis({ path: dir.join('redis.sock'), enableReadyCheck: false })
    await waitFor(async () => String(await watcher.client('LIST')).includes(`:${user.pid}:presence `))
    const info = await watcher.info()
    watcher.disconnect()
    expect(info).toContain('loading:1')
    return Number(/process_id:(\d+)/.exec(info)?.[1])
  }
})

async function fill(dir: string, keys: number): Promise<void> {
  await using embedded = await open(dir)
  await using redis = await connect(embedded)
  const batch = redis.commands.pipeline()
  for (let i = 0; i < keys; i++) batch.set(`k${i}`, 'x')
  await batch.exec()
}
