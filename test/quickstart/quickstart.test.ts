import { readdir, readFile, writeFile } from 'node:fs/promises'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { runCli } from '../cli/support.ts'
import { type Child, startChild } from '../support/child.ts'
import { waitFor } from '../support/events.ts'
import { leakCheck } from '../support/leak-check.ts'
import { type TempDir, tempDir } from '../support/temp-dir.ts'

// The second stage of `npm run quickstart`, as the set-up starts it. Everything that it makes lies in a folder of the
// test, so that anything left behind shows.

const script = new URL('../../src/quickstart/quickstart.ts', import.meta.url)
const leaks = leakCheck()
let folder: TempDir

beforeEach(async () => {
  await leaks.remember()
  folder = await tempDir('tour')
})
afterEach(async () => {
  await folder[Symbol.asyncDispose]()
  await leaks.check()
})

function start(environment: Record<string, string> = {}, args: readonly string[] = []): Promise<Child> {
  return startChild(script, { args, env: { TMPDIR: folder.path, ...environment } })
}

describe('the quickstart', () => {
  it('shows products, consents, an intent answer and a stack plan, and ends by itself', async () => {
    await using child = await start()
    await child.line('lane "deferred"')
    expect(await child.ended()).toEqual({ code: 0, signal: null })
    expect(child.stderr).toBe('')
    const { stdout } = child
    expect(stdout).toContain('5,000 read and checked, 0 rejected')
    expect(stdout).toContain('5,000 at the sandbox')
    expect(largestCall(stdout)).toBeLessThanOrEqual(2_000_000)
    expect(stdout).toMatch(/price +SKU-\d{8}: \d+\.\d\d → \d+\.\d\d, at the sandbox \d+ ms after the rename/)
    expect(stdout).toMatch(/1 waiting in the lane "deferred", due in \d+\.\d s/)
    expect(stdout).toContain('5,000 unchanged')
    // On a busy machine the description may become due meanwhile.
    expect(stdout).toMatch(/sent +[01]\n/)
    expect(stdout).toMatch(/first +3 calls, .*: 1 granted, 2 revoked\n/)
    expect(stdout).toMatch(/again +0 calls/)
    expect(stdout).toMatch(/state +delivered after \d+ ms; 0 granted, 3 revoked\n/)
    expect(stdout).toMatch(/in logs +[\w-]{22}, a keyed hash/)
    const [first = [], cheaper = []] = rankings(stdout)
    expect(first.length).toBe(3)
    expect(cheaper.length).toBeGreaterThan(0)
    expect(Math.max(...cheaper)).toBeLessThan(Math.max(...first))
    expect(stdout).toContain('3 to create, 0 unchanged.')
    expect(stdout).toContain('3 done, 0 failed')
    expect(stdout).toContain('Nothing to do: 3 items as in the files.')
    expect(stdout).toMatch(/240 tiles, \d+ match, \d+ changed/)
    expect(stdout).toMatch(/now ends with “Now with a longer cable\.”, \d+\.\d s after the rename/)
    expect(stdout).toContain('5,002 documents in')
    expect(stdout).toContain('0 products in two calls at once, 0 still to send; 4 consent calls.')
    for (const command of ['init', 'check', 'diff', 'load', 'start', 'sandbox']) {
      expect(stdout).toContain(`npm run -s catalogd -- ${command}`)
    }
    expect(stdout).not.toContain('\u001b')
    await expectNothingLeft(child)
  }, 300_000)

  it('keeps running with --keep, until it is interrupted', async () => {
    await using child = await start({}, ['--keep'])
    const [, url = ''] = /(http:\S+)\/sandbox\/summary/.exec(await child.line('/sandbox/summary')) ?? []
    const [, config = ''] = /--config (\S+) status/.exec(await child.line('--config')) ?? []
    expect(((await (await fetch(`${url}/sandbox/summary`)).json()) as { products: number }).products).toBe(
      5000,
    )
    const status = await runCli(['status', '--json', '--config', config])
    expect(status.exitCode).toBe(0)
    process.kill(child.pid, 'SIGINT')
    expect(await child.ended()).toEqual({ code: 0, signal: null })
    expect(child.stderr).toBe('')
    await expectNothingLeft(child)
  }, 300_000)

  it.each(['export.csv', `.Export: 12\u001b[31m\n${'ü'.repeat(90)}.csv`])(
    'takes a file of your own (%j), and ends with three of its products as they were sent',
    async (name) => {
      await using own = await tempDir('own-file')
      const file = own.join(name)
      const lines = ['A1', 'A2', 'A3', 'A4'].map(
        (sku) => `${sku},Lamp ${sku},https://s.example/${sku},https://s.example/${sku}.jpg,3,9.50,EUR\n`,
      )
      await writeFile(file, `sku,name,url,image,stock,price,currency\n${lines.join('')}`)
      await using child = await start({}, [file])
      expect(await child.ended()).toEqual({ code: 0, signal: null })
      expect(child.stderr).toBe('')
      const { stdout } = child
      expect(stdout).toMatch(/products +4 at the sandbox, 0 wait/)
      const shown = stdout.slice(stdout.indexOf('3. Some of its products'), stdout.indexOf('Next: keep'))
      expect(shown.match(/ {4}product_id +A\d\n {4}name +Lamp A\d\n/g)).toHaveLength(3)
      expect(stdout).toContain('catalogd -- start')
      expect(stdout).not.toMatch(/[^\P{Cc}\n]/u)
      await expectNothingLeft(child)
    },
    300_000,
  )

  it('says what to do with a file that it cannot read, once', async () => {
    await using own = await tempDir('own-file')
    await writeFile(own.join('stock.csv'), 'sku,stock\nA1,3\n')
    await using child = await start({}, [own.join('stock.csv')])
    expect(await child.ended()).toEqual({ code: 1, signal: null })
    expect(child.stderr).toMatch(/^The quickstart failed: stock.csv: no column [^→]*\n {2}→ Name the file/)
    expect(child.stderr.match(/Name the file/g)).toHaveLength(1)
    await expectNothingLeft(child)
  })

  it('refuses a word that it does not know', async () => {
    await using child = await start({}, ['--forever'])
    expect(await child.ended()).toEqual({ code: 2, signal: null })
    expect(child.stderr).toContain('--forever')
  })

  it.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)('leaves nothing behind when %s ends it', async (signal, code) => {
    await using child = await start()
    await child.line('are renamed into the folder')
    process.kill(child.pid, signal)
    expect(await child.ended()).toEqual({ code, signal: null })
    expect(child.stderr).toBe('')
    expect(child.stdout).not.toContain('Next: your own feed')
    await expectNothingLeft(child)
  })

  it('says what is missing and leaves nothing behind when it cannot begin', async () => {
    await using child = await start({ PATH: folder.path })
    expect(await child.ended()).toEqual({ code: 1, signal: null })
    expect(child.stderr).toMatch(/^The quickstart failed: .*redis-server/)
    await expectNothingLeft(child)
  })
})

/** The prices of each answer, in their order. */
function rankings(stdout: string): number[][] {
  return stdout
    .split('$ catalogd intent')
    .slice(1)
    .map((part) => [...part.matchAll(/^ +SKU-\d{8} +([\d.]+) EUR/gm)].map(([, price]) => Number(price)))
}

function largestCall(stdout: string): number {
  const [, bytes = ''] = /the largest of ([\d,]+) bytes/.exec(stdout) ?? []
  return Number.parseInt(bytes.replaceAll(',', ''), 10)
}

/** No file in the temporary folder, and no process that was started from there. */
async function expectNothingLeft(child: Child): Promise<void> {
  expect(child.running).toBe(false)
  expect(await readdir(folder.path)).toEqual([])
  await waitFor(async () => (await processesNaming(folder.path)).length === 0, {
    withinMs: 60_000,
    what: () => `the end of every process that names ${folder.path}`,
  })
}

async function processesNaming(text: string): Promise<string[]> {
  const pids = (await readdir('/proc').catch(() => [])).filter((name) => /^\d+$/.test(name))
  const found = await Promise.all(
    pids.map(async (pid) => {
      const command = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')
      const place = await readFile(`/proc/${pid}/environ`, 'utf8').catch(() => '')
      return command.includes(text) || place.includes(`TMPDIR=${text}`) ? [pid] : []
    }),
  )
  return found.flat()
}
