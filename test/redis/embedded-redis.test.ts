import { appendFile, readdir, readFile, rm, stat, symlink, truncate, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { isRunning } from '../support/child.ts'
import { waitFor } from '../support/events.ts'
import { leakCheck } from '../support/leak-check.ts'
import { collectLog } from '../support/log-lines.ts'
import { tempDir } from '../support/temp-dir.ts'
import { connect, gone, open, serverPid, startUser } from './embedded-users.ts'

const leaks = leakCheck()
beforeAll(leaks.remember)
afterAll(leaks.check)

/** Of the users of a folder, and what they become after their user was killed. */
async function guardsOf(dir: string): Promise<string[]> {
  const lines = await Promise.all(
    (await readdir('/proc')).map((entry) => readFile(`/proc/${entry}/cmdline`, 'utf8').catch(() => '')),
  )
  return lines.filter((line) => line.endsWith(`\0${dir}\0`) && /catalogd-guard|end-unused/.test(line))
}

describe('one server for all commands of a state folder', () => {
  test('is started for the first, keeps its data, and ends with the last', async () => {
    await using dir = await tempDir('embedded')
    const first = await open(dir.join('redis'))
    const second = await open(dir.join('redis'))
    expect(second.pid).toBe(first.pid)
    expect(second.socketPath).toBe(first.socketPath)
    const redis = await connect(second)
    await redis.commands.set('key', 'kept')
    expect(await redis.commands.config('GET', 'maxmemory-policy', 'appendfsync', 'port', 'save')).toEqual(
      expect.arrayContaining(['noeviction', 'everysec', '0', '']),
    )
    await redis[Symbol.asyncDispose]()

    await first[Symbol.asyncDispose]()
    expect(await isRunning(first.pid)).toBe(true)
    await second[Symbol.asyncDispose]()
    await gone(first.pid)

    await using third = await open(dir.join('redis'))
    await using again = await connect(third)
    expect(await again.commands.get('key')).toBe('kept')
  })

  test('nobody else may enter its folder or socket', async () => {
    await using dir = await tempDir('embedded')
    await using redis = await open(dir.join('redis'))
    expect((await stat(dir.join('redis'))).mode & 0o777).toBe(0o700)
    expect((await stat(redis.socketPath)).mode & 0o777).toBe(0o700)
  })

  test('several processes that start at once share one', async () => {
    await using dir = await tempDir('embedded')
    const users = await Promise.all([1, 2, 3].map(() => startUser(dir.path)))
    const pids = await Promise.all(users.map(serverPid))
    expect(new Set(pids).size).toBe(1)
    for (const user of users) user.send('leave')
    await Promise.all(users.map((user) => user.line('left')))
    await gone(pids[0] as number)
    for (const user of users) expect(await user.ended()).toMatchObject({ code: 0 })
  })

  // Guards look every ten seconds.
  test.concurrent('outlives the process that started it while another uses it', async () => {
    await using dir = await tempDir('embedded')
    await using starter = await startUser(dir.path)
    const pid = await serverPid(starter)
    const user = await open(dir.path)
    await starter.kill('SIGKILL')
    expect(user.pid).toBe(pid)
    // The guard of the killed one has looked, and found this process.
    await waitFor(async () => (await guardsOf(dir.path)).length === 1)
    const redis = await connect(user)
    expect(await redis.commands.ping()).toBe('PONG')
    await redis[Symbol.asyncDispose]()
    await user[Symbol.asyncDispose]()
    await gone(pid)
  })

  test.concurrent('ends some time after its last user was killed, and takes nothing with it', async () => {
    await using dir = await tempDir('embedded')
    await using killed = await startUser(dir.path)
    const pid = await serverPid(killed)
    killed.send('set key kept')
    await killed.line('answer OK')
    await killed.kill('SIGKILL')
    await waitFor(async () => !(await isRunning(pid)))
    await using redis = await open(dir.path)
    await using again = await connect(redis)
    expect(await again.commands.get('key')).toBe('kept')
  })

  test.concurrent('ends after its last user was killed and its folder deleted', async () => {
    await using dir = await tempDir('embedded')
    await using killed = await startUser(dir.join('redis'))
    const pid = await serverPid(killed)
    await killed.kill('SIGKILL')
    await rm(dir.join('redis'), { recursive: true })
    await waitFor(async () => !(await isRunning(pid)))
  })

  test('an orphan of a killed process is adopted by the next command, and ended by it', async () => {
    await using dir = await tempDir('embedded')
    await using killed = await startUser(dir.path)
    const pid = await serverPid(killed)
    await killed.kill('SIGKILL')
    expect(await isRunning(pid)).toBe(true)
    const next = await open(dir.path)
    expect(next.pid).toBe(pid)
    await next[Symbol.asyncDispose]()
    await gone(pid)
  })
})

describe('a server that dies', () => {
  test('is started again for its users, at the same place, with its data', async () => {
    await using dir = await tempDir('embedded')
    const { log, lines } = collectLog()
    const first = await open(dir.path, log)
    await using other = await startUser(dir.path)
    const before = await serverPid(other)
    const socketBefore = first.socketPath
    await using redis = await connect(first)
    await redis.commands.set('key', 'kept')
    process.kill(before, 'SIGKILL')
    const after = Number((await other.line('restarted')).split(' ')[1])
    expect(after).not.toBe(before)
    await redis.waitUntilReady()
    await waitFor(() => first.pid === after)
    expect(first.socketPath).toBe(socketBefore)
    expect(await redis.commands.get('key')).toBe('kept')
    expect(lines.map((line) => line.msg)).toContain('the embedded Redis runs again')

    await first[Symbol.asyncDispose]()
    other.send('get key')
    await other.line('answer kept')
    other.send('leave')
    await other.line('left')
    await gone(after)
  })

  test('leaves a socket file and a record that do not hinder the next start', async () => {
    await using dir = await tempDir('embedded')
    await using user = await startUser(dir.path)
    const pid = await serverPid(user)
    process.kill(user.pid, 'SIGSTOP')
    process.kill(pid, 'SIGKILL')
    await user.kill('SIGKILL')
    expect(await readdir(dir.path)).toEqual(expect.arrayContaining(['redis.sock', 'server']))
    await using next = await open(dir.path)
    expect(next.pid).not.toBe(pid)
  })

  test('a half-written end of its file is cut off', async () => {
    await using dir = await tempDir('embedded')
    await using user = await startUser(dir.path)
    const pid = await serverPid(user)
    user.send('set first 1')
    await user.line('answer OK')
    process.kill(user.pid, 'SIGSTOP')
    process.kill(pid, 'SIGKILL')
    await user.kill('SIGKILL')
    await appendFile(await newestAof(dir.path), '*3\r\n$3\r\nSET\r\n$6\r\nsec')
    await using next = await open(dir.path)
    await using redis = await connect(next)
    expect(await redis.commands.get('first')).toBe('1')
  })

  test('a damaged file stops the start with what the server says about it', async () => {
    await using dir = await tempDir('embedded')
    const first = await open(dir.path)
    const redis = await connect(first)
    await redis.commands.set('key', 'value')
    await redis[Symbol.asyncDispose]()
    await first[Symbol.asyncDispose]()
    const file = await newestAof(dir.path)
    await truncate(file, (await stat(file)).size - 12)
    await appendFile(file, 'rubbish, and more of it\r\n*1\r\n$4\r\nPING\r\n')
    const { log, lines } = collectLog()
    await expect(open(dir.path, log)).rejects.toMatchObject({
      code: 'redis-start',
      message: expect.stringMatching(/ended at its start.*redis-check-aof/s),
      hint: expect.stringContaining('redis-check-aof'),
    })
    expect(lines.filter(({ level }) => level === 'warn')).toEqual([])
  })

  test('a server whose socket file was deleted is ended and started again', {
    timeout: 300_000,
  }, async () => {
    await using dir = await tempDir('embedded')
    await using user = await startUser(dir.path)
    const pid = await serverPid(user)
    await user.kill('SIGKILL')
    await rm(dir.join('redis.sock'))
    await using next = await open(dir.path)
    expect(next.pid).not.toBe(pid)
    await gone(pid)
  })
})

describe('where it listens', () => {
  test('a state folder with a long path gets a short private folder for the socket', async () => {
    await using dir = await tempDir('embedded')
    const deep = dir.join(
      'a-rather-long-name-of-a-folder',
      'another-rather-long-name',
      'and-one-more-of-them',
      'redis',
    )
    const first = await open(deep)
    expect(Buffer.byteLength(first.socketPath)).toBeLessThan(104)
    const folder = path.dirname(first.socketPath)
    expect((await stat(folder)).mode & 0o777).toBe(0o700)
    // Another process with another temporary folder finds the same server.
    await using other = await startUser(deep, { TMPDIR: dir.path })
    expect(await serverPid(other)).toBe(first.pid)
    other.send('leave')
    await other.line('left')
    await first[Symbol.asyncDispose]()
    await rm(folder, { recursive: true })
  })

  test('a short folder that is a link of somebody else is refused', async () => {
    await using dir = await tempDir('embedded')
    await using tmp = await tempDir('tmp')
    const deep = dir.join(
      'a-rather-long-name-of-a-folder',
      'another-rather-long-name',
      'and-one-more-of-them',
      'redis',
    )
    await using first = await startUser(deep, { TMPDIR: tmp.path })
    await serverPid(first)
    first.send('leave')
    await first.line('left')
    const [name = ''] = await readdir(tmp.path)
    await rm(tmp.join(name), { recursive: true })
    await symlink(dir.path, tmp.join(name))
    await using second = await startUser(deep, { TMPDIR: tmp.path })
    expect(await second.line('failed')).toContain('belongs to another user')
  })

  test('a record that came with a copy of the folder leads to no other server', async () => {
    await using dir = await tempDir('embedded')
    await using original = await open(dir.join('one'))
    await using other = await open(dir.join('two'))
    await other[Symbol.asyncDispose]()
    await writeFile(dir.join('two', 'server'), await readFile(dir.join('one', 'server')))
    await using copy = await open(dir.join('two'))
    expect(copy.pid).not.toBe(original.pid)
    expect(await isRunning(original.pid)).toBe(true)
  })

  test('without a server program the message says how to install one', async () => {
    await using dir = await tempDir('embedded')
    await using user = await startUser(dir.join('redis'), { PATH: dir.path })
    const line = await user.line('failed')
    expect(line).toContain('Neither redis-server nor valkey-server is installed')
    for (const words of ['apt-get install redis-server', 'apk add redis', 'brew install redis']) {
      expect(line).toContain(words)
    }
    expect(await user.ended()).toMatchObject({ code: 1 })
  })

  test('valkey-server serves where redis-server is absent', async () => {
    await using dir = await tempDir('embedded')
    await using bin = await tempDir('bin')
    await symlink('/usr/bin/redis-server', bin.join('valkey-server'))
    await using user = await startUser(dir.path, { PATH: bin.path })
    expect(await serverPid(user)).toBeGreaterThan(0)
    user.send('leave')
    await user.line('left')
  })
})

async function newestAof(dir: string): Promise<string> {
  const files = await readdir(path.join(dir, 'appendonlydir'))
  const newest = files
    .filter((name) => name.endsWith('.incr.aof'))
    .sort()
    .at(-1)
  return path.join(dir, 'appendonlydir', newest as string)
}
