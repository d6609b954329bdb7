import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { chmod, chown, mkdir, readFile, writeFile } from 'node:fs/promises'
import { describe, expect, test, vi } from 'vitest'
import { productsToken, Workplace } from '../acceptance/daemon.ts'
import { boundUser } from '../support/child.ts'
import { waitFor } from '../support/events.ts'
import { startRedis } from '../support/redis-server.ts'
import { csv, row } from './feed-text.ts'
import { fillDisk, mountSmallDisk } from './fill-disk.ts'

/** Most of it waits (for back-off, for the next look into a folder), so the tests run side by side. */
vi.setConfig({ testTimeout: 600_000 })

const isRoot = process.getuid?.() === 0

const catalog = `
delivery: { timeout: 1s, horizon: 20s }
feeds:
  products: { drop: ./drop/products, settle: 0s, mode: delta }
`

/** Waits until `status` prints something, and answers all of it. */
async function untilStatus(
  place: Workplace,
  pattern: RegExp,
): Promise<{ stdout: string; code: number | null }> {
  let last = ''
  const shown = async () => {
    const { stdout, code } = await place.run('status')
    last = stdout
    return pattern.test(stdout) && { stdout, code }
  }
  return waitFor(shown, { withinMs: 120_000, what: () => `${pattern} in:\n${last}` })
}

async function clearFaults(place: Workplace): Promise<void> {
  await fetch(`${place.sandbox.url}/sandbox/faults`, { method: 'DELETE' })
}

describe.concurrent('what the operator is told about the endpoint', () => {
  test('each trouble by what was answered, what happens next, and what to do', async () => {
    await using place = await Workplace.open(catalog)
    const daemon = await place.start()
    const troubles: readonly { fault: Record<string, unknown>; shown: RegExp; code: number }[] = [
      {
        fault: { status: 500 },
        shown: /failed calls? in a row, the last at \S+ \S+ \(.+ ago\): the endpoint answered 500: /,
        code: 1,
      },
      {
        fault: { status: 429, headers: { 'retry-after': '2' } },
        shown: /throttled: next call in [12] s/,
        code: 1,
      },
      {
        fault: { status: 404 },
        shown: /the endpoint answered 404: .* Check `api\.url` of this catalog/,
        code: 1,
      },
      { fault: { hang: true }, shown: /upsert: no whole answer within 1000 ms/, code: 1 },
      { fault: { reset: 'before' }, shown: /upsert: .*ECONNRESET/, code: 1 },
      {
        fault: { status: 401, body: 'no such key' },
        shown:
          /paused \(credentials\) since \S+ \S+ \(.+ ago\): the endpoint answered 401: no such key\. Check the API_PRODUCTS token of this catalog in the environment of catalogd \(variable API_PRODUCTS_TOKEN\), then restart it; it is tried again every 5 to 30 s/,
        code: 3,
      },
    ]
    for (const [at, { fault, shown, code }] of troubles.entries()) {
      await place.fault(fault)
      await place.drop('products', `trouble-${at}.csv`, csv([row(`trouble-${at}`)]))
      const status = await untilStatus(place, shown)
      // A single failed call asks for nobody yet.
      expect([0, code]).toContain(status.code)
      expect(status.stdout).toMatch(/[1-9]\d* not delivered yet/)
      await clearFaults(place)
      // The last one waits for its probe.
      await place.untilTaken(`trouble-${at}`, 1)
    }
    expect(daemon.running).toBe(true)
    expect(daemon.stderr).toMatch(/the endpoint takes the credentials: delivery resumes/)
    expect(daemon.stderr).not.toContain(productsToken)
  })

  test('a body that is too large once teaches a limit, which is shown', async () => {
    await using place = await Workplace.open(catalog)
    await place.start()
    await place.fault({ status: 413, overBytes: 3_000 })
    await place.drop('products', 'many.csv', csv(Array.from({ length: 60 }, (_, at) => row(`many-${at}`))))
    await place.untilImported(1)
    await place.untilQuiet()
    expect((await place.documents()).size).toBe(60)
    const { stdout } = await place.run('status')
    expect(stdout).toMatch(/calls have at most [\d,]+ bytes: the endpoint refused larger ones \d+ \w+ ago/)
    expect(stdout).toMatch(/catalog main: ok/)
  })
})

describe.concurrent('the configuration', () => {
  test('an unknown key ends start with its place, what was found and a suggestion', async () => {
    await using place = await Workplace.open(catalog.replace('settle: 0s', 'setle: 0s'))
    for (const command of [['start'], ['config', 'check'], ['status']]) {
      const { code, stderr } = await place.run(...command)
      expect(code).toBe(2)
      expect(stderr).toMatch(/catalogd\.yaml:\d+:\d+ catalogs\.main\.feeds\.products\.setle: .*settle/)
      expect(stderr).not.toContain('    at ')
    }
  })
})

describe.skipIf(!isRoot).concurrent('disks and permissions', () => {
  test('a full disk: nothing is taken or lost, every command says so, and all goes on afterwards', async () => {
    await using place = await Workplace.open(catalog)
    await mkdir(place.path('state'))
    using _disk = mountSmallDisk(place.path('state'), 24)
    const daemon = await place.start()
    await place.drop('products', 'before.csv', csv([row('before-1')]))
    await place.untilTaken('before-1', 1)
    const giveBack = await fillDisk(place.path('state'))
    await place.drop('products', 'during.csv', csv([row('during-1')]))
    await waitFor(
      () =>
        /The disk of \S+ is full.*; files stay in their drop folders\. Free some space/.test(daemon.stderr),
      {
        what: () => daemon.stderr,
      },
    )
    await untilStatus(
      place,
      /! The disk of \S+ is full \(0 of \d+ MB free, 16 MB are needed\); files stay in their drop folders\. Free some space/,
    )
    const pause = await place.run('pause')
    expect(pause.code).toBe(4)
    expect(pause.stderr).toMatch(/ENOSPC.*\nMake room on that disk/s)
    await giveBack()
    // The next look into the folder comes by itself, or with the next file.
    await place.drop('products', 'after.csv', csv([row('after-1')]))
    await place.untilTaken('after-1', 1)
    await waitFor(async () => (await place.held('during-1')) !== undefined, { withinMs: 180_000 })
    expect(daemon.running).toBe(true)
    await place.untilQuiet()
    await daemon.kill('SIGTERM')
    const giveBackAgain = await fillDisk(place.path('state'))
    // The first command may still write into what the daemon has left behind.
    for (let time = 0; time < 2; time++) {
      const { code, stderr } = await place.run('status')
      expect([code, stderr]).toEqual([4, expect.stringMatching(/disk is full.*\nFree space on the disk/s)])
      await waitFor(() => !existsSync(place.path('state/redis/redis.sock')))
    }
    await giveBackAgain()
    expect(await place.run('status')).toMatchObject({ stdout: expect.stringContaining('catalog main:') })
  })

  test('a disk that fills while products wait: Redis refuses changes, status says so, and they arrive afterwards', async () => {
    await using place = await Workplace.open(catalog)
    await mkdir(place.path('state'))
    using _disk = mountSmallDisk(place.path('state'), 24)
    const daemon = await place.start()
    await place.fault({ status: 500 })
    await place.drop('products', 'waits.csv', csv([row('waits-1')]))
    await waitFor(() => /the endpoint answered 500/.test(daemon.stderr), { what: () => daemon.stderr })
    const giveBack = await fillDisk(place.path('state'))
    const { code } = await untilStatus(
      place,
      /redis .* cannot write its append-only file .* Free disk space there/,
    )
    expect(code).toBe(4)
    await clearFaults(place)
    await giveBack()
    await place.untilTaken('waits-1', 1)
    await untilStatus(place, /redis {5}up/)
    // One line an outage and kind of work, however long it lasts.
    expect(daemon.stderr.match(/delivery waits: the outbox cannot be used/g)?.length ?? 0).toBeLessThan(7)
    expect(daemon.running).toBe(true)
    await daemon.kill('SIGTERM')
  })

  test('a drop folder and a file that the daemon may not read are named with a remedy; others go on', async () => {
    await using place = await Workplace.open(`
feeds:
  closed: { drop: ./drop/closed, settle: 0s, mode: delta }
  open: { drop: ./drop/open, settle: 0s, mode: delta }
`)
    for (const folder of ['state', 'drop/closed', 'drop/open'])
      await mkdir(place.path(folder), { recursive: true })
    const { uid, gid } = boundUser()
    const other = uid + 12_345
    for (const folder of ['', 'catalogd.yaml', 'state', 'drop', 'drop/open']) {
      await chown(place.path(folder), uid, gid)
    }
    await chmod(place.path('drop', 'closed'), 0o700)
    await chown(place.path('drop', 'closed'), other, other)
    const daemon = await place.start({ isBound: true })
    await waitFor(
      () =>
        new RegExp(
          `drop/closed cannot be read and written \\(EACCES\\)\\. catalogd runs as uid ${uid} .*chown or chmod`,
        ).test(daemon.stderr),
      {
        what: () => daemon.stderr,
      },
    )
    const secret = place.path('drop', 'open', 'secret.csv')
    await writeFile(`${secret}.tmp`, csv([row('secret-1')]), { mode: 0o600 })
    await chown(`${secret}.tmp`, other, other)
    execFileSync('mv', [`${secret}.tmp`, secret])
    await place.drop('closed', 'closed.csv', csv([row('closed-1')]))
    await place.drop('open', 'open.csv', csv([row('open-1')]))
    await place.untilTaken('open-1', 1)
    const { stdout, code } = await untilStatus(
      place,
      new RegExp(`secret\\.csv in \\S+ cannot be taken \\(EACCES\\)\\. Let uid ${uid} `),
    )
    expect(code).toBe(1)
    expect(stdout).toMatch(/! The drop folder \S+closed cannot be read/)
    await chown(place.path('drop', 'closed'), uid, gid)
    await chmod(secret, 0o644)
    for (const id of ['closed-1', 'secret-1']) {
      await waitFor(async () => (await place.held(id)) !== undefined, {
        withinMs: 180_000,
        what: `${id} to arrive`,
      })
    }
    expect(daemon.running).toBe(true)
    await daemon.kill('SIGTERM')
  })
})

test.concurrent('Redis stopped and started again: status says so, files wait, and go in afterwards', async () => {
  await using redis = await startRedis({ aof: true })
  await using place = await Workplace.open(catalog)
  const config = place.path('catalogd.yaml')
  await writeFile(config, `redis: ${redis.url}\n${await readFile(config, 'utf8')}`)
  const daemon = await place.start()
  await redis.stop()
  await place.drop('products', 'during.csv', csv([row('during-1')]))
  const { code, stdout } = await place.run('status')
  expect(code).toBe(4)
  expect(stdout).toMatch(/down at redis:\/\/\S+: .*Start Redis; until then files are imported/)
  await redis.restart()
  await place.untilTaken('during-1', 1).catch((error: unknown) => {
    throw new Error(daemon.stderr, { cause: error })
  })
  expect(daemon.running).toBe(true)
  expect(daemon.stderr).toMatch(/Redis is back/)
})
