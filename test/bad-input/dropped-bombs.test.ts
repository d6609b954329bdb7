import { mkdir, open, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ImportReport } from '../../src/imports/report.ts'
import { Workplace } from '../acceptance/daemon.ts'
import type { Child } from '../support/child.ts'
import { waitFor } from '../support/events.ts'
import { allBombs as every } from './all-bombs.ts'
import { repeated, writeText } from './bombs.ts'
import { csv, row } from './feed-text.ts'

// The program as its users run it, with one bomb after another in a drop folder, each followed by a file of another
// feed. CATALOGD_BOMB_TIMES prints what each takes, the median of so many times.

const times = Number(process.env.CATALOGD_BOMB_TIMES ?? 1)
/** Of the whole daemon, the thread of its mirror included, while it imports. */
const megabytesMax = 400
/** All of them take minutes: a few of every kind show that the daemon does with them what reading does. */
const allBombs = process.env.CATALOGD_BOMB_TIMES ? every : every.filter((_, at) => at % 6 === 0)
const smallFiles = Number(process.env.CATALOGD_BOMB_FILES ?? 50)

const fields = `
    fields:
      product_id: id
      name: { value: Pan }
      url: { value: "https://shop.example/p" }
      image_url: { value: "https://shop.example/p.jpg" }
      price: { value: "5" }
      price_currency_code: { value: EUR }
      availability: { value: InStock }
      categories: { value: A }`
const config = `
deferred: { after: 1s, atMost: 2s }
feeds:
  bombs:
    drop: ./drop/bombs
    files: "*"
    settle: 0s
    mode: delta
    rejects: { atMost: 100% }${fields}
  small: { drop: ./drop/small, files: "*", settle: 0s, mode: delta }
  good: { drop: ./drop/good, settle: 0s, mode: delta }
`

interface Fallen {
  report: ImportReport | undefined
  /** From the rename to the report. */
  milliseconds: number
  /** Of them, from the acceptance to the end of the import. */
  importMilliseconds: number
  megabytes: number
}

let place: Workplace
let daemon: Child
let fallen: readonly Fallen[][]
let dropped = 0

async function reportOf(file: string): Promise<ImportReport | undefined> {
  const folder = place.path('state', 'main', 'reports')
  const names = (await readdir(folder).catch(() => []))
    .filter((name) => /^\d+-bombs\.json$/.test(name))
    .sort()
  for (const name of names.reverse()) {
    const report = JSON.parse(await readFile(`${folder}/${name}`, 'utf8')) as ImportReport
    if (report.file === file) return report
  }
  return undefined
}

/** The most that the daemon had of the memory since the last reset. */
async function megabytesOf(child: Child): Promise<number> {
  const status = await readFile(`/proc/${child.pid}/status`, 'utf8')
  return Math.round(Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024)
}

/** Drops a file of the feed `bombs` by renaming it, and one of the feed `good` after it; waits for both. */
async function fall(write: (path: string) => Promise<void>): Promise<Fallen> {
  dropped += 1
  const file = `bomb-${dropped}`
  await write(place.path(file))
  // Acceptance waits until the file is on the disk, and that depends on how quick the disk is.
  await using written = await open(place.path(file))
  await written.sync()
  await writeFile(`/proc/${daemon.pid}/clear_refs`, '5')
  const began = process.hrtime.bigint()
  await rename(place.path(file), place.path('drop', 'bombs', file))
  await place.drop('good', `good-${dropped}.csv`, csv([row(`good-${dropped}`)]))
  const report = await waitFor(() => reportOf(file), {
    what: () => `a report of ${file}:\n${daemon.stderr.slice(-3000)}`,
  })
  const milliseconds = Number((process.hrtime.bigint() - began) / 1_000_000n)
  await place.untilTaken(`good-${dropped}`, 1)
  // So that the disk holds all of them one after another. The reports stay, by which they are counted. So
  // do hidden files: the daemon may still be writing a report there.
  const failed = place.path('state', 'main', 'failed', 'bombs')
  for (const name of await readdir(failed).catch(() => []))
    if (!/^[.]|json$/.test(name)) await rm(`${failed}/${name}`)
  const importMilliseconds = Date.parse(report.finishedAt) - Date.parse(report.acceptedAt)
  return { report, milliseconds, importMilliseconds, megabytes: await megabytesOf(daemon) }
}

const median = (numbers: readonly number[]) =>
  numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? 0

function print(title: string, of: readonly Fallen[]): void {
  if (!process.env.CATALOGD_BOMB_TIMES) return
  const [first] = of
  const milliseconds = median(of.map((one) => one.milliseconds))
  const importing = median(of.map((one) => one.importMilliseconds))
  const megabytes = Math.max(...of.map((one) => one.megabytes))
  const outcome = first?.report?.outcome ?? ''
  process.stdout.write(
    `${title}: ${outcome}, ${milliseconds} ms (${importing} ms since it was accepted), ${megabytes} MB\n`,
  )
}

beforeAll(async () => {
  place = await Workplace.open(config)
  await mkdir(place.path('drop', 'bombs'), { recursive: true })
  daemon = await place.start()
  if (process.env.CATALOGD_BOMB_TIMES) process.stdout.write(`at rest: ${await megabytesOf(daemon)} MB\n`)
  const all: Fallen[][] = []
  for (const { title, write } of allBombs) {
    const of: Fallen[] = []
    for (let time = 0; time < times; time++) of.push(await fall(write))
    print(title, of)
    all.push(of)
  }
  fallen = all
}, 3_600_000)
afterAll(() => place?.[Symbol.asyncDispose]())

describe('dropped into a folder of the daemon', () => {
  it.each(allBombs.map((bomb, at) => ({ ...bomb, at })))('$title is reported', ({ code, at }) => {
    for (const { report, megabytes } of fallen[at] ?? []) {
      expect(megabytes).toBeLessThan(megabytesMax)
      if (code === undefined) {
        expect(report).toMatchObject({ outcome: 'imported', records: 2, rejected: 1 })
        continue
      }
      expect(report).toMatchObject({
        outcome: 'refused',
        reason: expect.any(String),
        hint: expect.any(String),
      })
    }
  })

  it('millions of blank lines are no records', async () => {
    const lines = process.env.CATALOGD_BOMB_BYTES ? 10_000_000 : 100_000
    const of = [await fall((path) => writeText(path, 'id\n', repeated('\n', lines), 'last-1\n'))]
    print('blank lines', of)
    expect(of[0]?.report).toMatchObject({ outcome: 'imported', records: 1 })
    expect(of[0]?.megabytes).toBeLessThan(megabytesMax)
  })

  it('thousands of files of one byte are all reported, and others are imported meanwhile', async () => {
    await mkdir(place.path('many'))
    for (let at = 0; at < smallFiles; at++) await writeFile(place.path('many', `${at}.csv`), 'x')
    await writeFile(`/proc/${daemon.pid}/clear_refs`, '5')
    const began = process.hrtime.bigint()
    for (let at = 0; at < smallFiles; at++) {
      await rename(place.path('many', `${at}.csv`), place.path('drop', 'small', `${at}.csv`))
    }
    const milliseconds = () => Math.round(Number((process.hrtime.bigint() - began) / 1_000_000n))
    await place.drop('good', 'among.csv', csv([row('among-1')]))
    const untilGood = place.untilTaken('among-1', 1).then(milliseconds)
    const done = async () =>
      (await readdir(place.path('state', 'main', 'failed', 'small')).catch(() => [])).filter((name) =>
        name.endsWith('.report.json'),
      ).length >= smallFiles
    await waitFor(done, { withinMs: 600_000, what: () => daemon.stderr.slice(-2000) })
    const all = milliseconds()
    const megabytes = await megabytesOf(daemon)
    const good = await untilGood
    if (process.env.CATALOGD_BOMB_TIMES)
      process.stdout.write(`${smallFiles} files: ${all} ms, the good one after ${good} ms, ${megabytes} MB\n`)
    expect(megabytes).toBeLessThan(megabytesMax)
  }, 900_000)

  it('status counts what was refused, and the daemon runs', async () => {
    const { health, feeds } = await place.status()
    expect(health).toBe('attention')
    const refused = allBombs.filter(({ code }) => code !== undefined).length * times
    expect(feeds.find(({ feed }) => feed === 'bombs')?.refused.files).toBe(refused)
    expect(daemon.running).toBe(true)
    expect(daemon.stderr).not.toContain('imports pause')
  })
})
