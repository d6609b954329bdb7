import { execFileSync } from 'node:child_process'
import { mkdir, open, readdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ImportReport } from '../../src/imports/report.ts'
import { productsToken, Workplace } from '../acceptance/daemon.ts'
import type { Child } from '../support/child.ts'
import { waitFor } from '../support/events.ts'
import { cases, secretCosts } from './cases.ts'
import { csv, row, wire } from './feed-text.ts'
import { findText } from './find-text.ts'

const config = `
deferred: { after: 1s, atMost: 2s }
feeds:
  any: { drop: ./drop/any, files: "*", settle: 0s, mode: delta, rejects: { atMost: 100% } }
  utf8: { drop: ./drop/utf8, settle: 0s, mode: delta, format: { encoding: utf-8 } }
  full:
    drop: ./drop/full
    settle: 0s
    missing: { action: out_of_stock, atMost: 10% }
    fields:
      product_id: sku
      name: title
      url: { value: "https://shop.example/p" }
      image_url: { value: "https://shop.example/p.jpg" }
      price: price
      price_currency_code: { value: EUR }
      availability: { value: InStock }
      categories: category
      supplier_cost: cost
`

let place: Workplace
let daemon: Child

/** By file name; of files with one name the newest. */
async function readReports(): Promise<Map<string, ImportReport>> {
  const folder = place.path('state', 'main', 'reports')
  const names = (await readdir(folder).catch(() => []))
    .filter((name) => /^\d+-[a-z0-9]+\.json$/.test(name))
    .sort()
  const reports = names.map(
    async (name) => JSON.parse(await readFile(`${folder}/${name}`, 'utf8')) as ImportReport,
  )
  return new Map((await Promise.all(reports)).map((report) => [report.file, report]))
}

async function untilReported(
  file: string,
  more: (report: ImportReport) => boolean = () => true,
): Promise<ImportReport> {
  const reported = async () => {
    const report = (await readReports()).get(file)
    return report && more(report) ? report : undefined
  }
  return waitFor(reported, { what: () => `a report of ${file}:\n${daemon.stderr.slice(-3000)}` })
}

beforeAll(async () => {
  place = await Workplace.open(config)
  daemon = await place.start()
  for (const { feed = 'any', file, content } of cases) await place.drop(feed, file, content)
  await waitFor(async () => (await readReports()).size >= cases.length, {
    withinMs: 180_000,
    what: () => `all reports:\n${daemon.stderr.slice(-3000)}`,
  })
  await place.untilQuiet()
})

afterAll(async () => {
  await place?.[Symbol.asyncDispose]()
})

describe('a feed file', () => {
  test.each(cases.map((entry) => [entry.title, entry] as const))('%s', async (_title, entry) => {
    const report = (await readReports()).get(entry.file)
    const { outcome, records, rejected, says = [], delivered = [], withheld = [] } = entry
    expect(report).toMatchObject({
      outcome,
      ...(records === undefined ? {} : { records }),
      ...(rejected === undefined ? {} : { rejected }),
    })
    // Nothing of a file reaches a terminal as it is.
    expect(report?.reason ?? '').not.toMatch(/\p{Cc}/u)
    const text = JSON.stringify(report, undefined, 1)
    for (const pattern of says) expect(text).toMatch(pattern)
    const documents = await place.documents()
    for (const document of delivered) expect(documents.get(String(document.product_id))).toEqual(document)
    for (const id of withheld) expect(documents.has(id)).toBe(false)
    if (outcome === 'refused') {
      const failed = await readdir(place.path('state', 'main', 'failed', entry.feed ?? 'any'))
      expect(failed).toEqual(expect.arrayContaining([entry.file, `${entry.file}.report.json`]))
    }
  })
})

describe('what the operator sees', () => {
  test('status counts refused files and rejected records, and asks for attention', async () => {
    const { stdout, code } = await place.run('status')
    expect(code).toBe(1)
    expect(stdout).toMatch(/catalog main: attention/)
    expect(stdout).toMatch(/13 refused files in .*failed\/any: the reports beside them say why/)
    expect(stdout).toMatch(
      /! Import \d+: 2 of 2 records of all-bad\.csv were rejected, for example record 1 \(line 2\): price/,
    )
    expect(stdout).toMatch(/1 refused \(catalogd dead list\)/)
    expect(stdout).toMatch(/incomplete: (some-1 lacks url|req-1 lacks name)/)
  })

  test('a product above the byte limit is a dead letter that says so', async () => {
    const { stdout } = await place.run('dead', 'show', 'large-1')
    expect(stdout).toMatch(
      /needs a call of 3000\d+ bytes, more than the 2000000 that one call may have; shorten/,
    )
    expect(daemon.stderr).toMatch(/"productId":"large-1"/)
  })

  test('the log has one line a file, a warning where something was wrong, with the way to the rejected records', () => {
    const lines = daemon.stderr.split('\n').filter((line) => line.startsWith('{'))
    const logged = lines.map((line) => JSON.parse(line) as Record<string, unknown>)
    const of = (file: string) => logged.find((line) => line.file === file && line.outcome !== undefined)
    expect(of('repeated.csv')).toMatchObject({ level: 'info', msg: 'imported' })
    expect(of('header.csv')).toMatchObject({ level: 'warn', msg: 'imported with a warning' })
    expect(of('zero.csv')).toMatchObject({ level: 'warn', msg: 'refused: nothing of the file was applied' })
    expect(of('zero.csv')).toHaveProperty('hint')
    expect(of('prices.csv')).toMatchObject({
      level: 'warn',
      msg: 'imported, but 4 of 6 records were rejected',
      rejectsFile: expect.stringContaining('.rejects.csv'),
    })
  })

  test('corrected rejects go in again as they are, without a word about the others', async () => {
    const { rejectsFile = '' } = (await readReports()).get('ragged.csv') ?? {}
    const rejects = await readFile(rejectsFile, 'utf8')
    expect(rejects).toMatch(/^catalogd_line,.*,catalogd_reason,catalogd_remedy,product_id,/)
    expect(rejects).toMatch(/"?has 2 cells, the header has 7"?,"?check .*"?,rag-2,Pan\n/)
    const corrected = rejects.replace('rag-2,Pan\n', `${row('rag-2')}\n`).replace(',more\n', '\n')
    await place.drop('any', 'corrected.csv', corrected)
    expect(await untilReported('corrected.csv')).toMatchObject({
      outcome: 'imported',
      records: 2,
      rejected: 0,
    })
    await place.untilTaken('rag-2', 1)
    await place.untilTaken('rag-3', 1)
  })
})

describe('a full feed', () => {
  const header = 'sku,title,price,category,cost'
  const product = (at: number, price = '5') => `full-${at},Pan,${price},A/B,${secretCosts[2]}`
  const file = (rows: readonly string[], head = header) => [head, ...rows].map((line) => `${line}\n`).join('')
  const all = (price: string) => Array.from({ length: 20 }, (_, at) => product(at, price))

  test('a mapped column that is gone holds the file; approve imports it without the column', async () => {
    await place.drop('full', 'full-1.csv', file(all('5')))
    await place.untilTaken('full-19', 1)
    await place.drop('full', 'gone.csv', file(all('6'), header.replace('category', 'kategory')))
    const report = await untilReported('gone.csv')
    expect(report).toMatchObject({ outcome: 'held' })
    expect(report.reason).toBe(
      'the header has no column "category" (for categories), did you mean "kategory"?; it has "sku", "title", "price", "kategory", "cost"',
    )
    expect(report.hint).toMatch(/Correct the file or the configuration .* or approve \d+/)
    expect((await place.run('approve', String(report.sequence))).code).toBe(0)
    const taken = await place.untilTaken('full-19', 2)
    expect(taken.document).toMatchObject({ price: 6, categories: ['A/B'] })
  })

  test('a file without the id column is refused and nothing changes', async () => {
    await place.drop('full', 'no-id.csv', file(all('7'), header.replace('sku', 'SKU_NR')))
    const report = await untilReported('no-id.csv')
    expect(report).toMatchObject({ outcome: 'refused', hint: expect.stringContaining('fields.product_id') })
    expect(report.reason).toMatch(/no column "sku" \(for product_id\), did you mean "SKU_NR"\?/)
  })

  test('a header alone and a file of rejects alone remove nothing', async () => {
    await place.drop('full', 'none.csv', file([]))
    expect(await untilReported('none.csv')).toMatchObject({
      outcome: 'held',
      reason: 'the file has no record',
      removals: { missing: 20, of: 20, held: true },
    })
    await place.drop('full', 'bad.csv', file([...all('x').slice(0, 10)]))
    expect(await untilReported('bad.csv')).toMatchObject({
      outcome: 'held',
      rejected: 10,
      reason: 'the file has no valid record: all 10 are rejected',
    })
    const { health, feeds } = await place.status()
    expect(health).toBe('attention')
    expect(feeds.find(({ feed }) => feed === 'full')?.held[0]?.reason).toMatch(/no valid record/)
    expect((await place.held('full-3'))?.document).toMatchObject({ availability: 'InStock' })
  })
})

describe('a drop folder', () => {
  test('folders, links and pipes are left alone and named', async () => {
    await mkdir(place.path('drop', 'any', 'folder.csv'))
    await symlink('/etc/passwd', place.path('drop', 'any', 'link.csv'))
    execFileSync('mkfifo', [place.path('drop', 'any', 'pipe.csv')])
    // Started again, because they are told with the next whole look into the folder.
    await daemon.kill('SIGTERM')
    daemon = await place.start()
    const told = () => /Left alone in .*drop\/any: .*regular files/.exec(daemon.stderr)?.[0]
    const text = await waitFor(told, { what: 'a notice about what is left alone' })
    expect(text).toMatch(/folder\.csv \(a folder\)/)
    expect(text).toMatch(/link\.csv \(a symbolic link\)/)
    expect(text).toMatch(/pipe\.csv \(no regular file\)/)
    expect((await readdir(place.path('drop', 'any'))).sort()).toEqual(['folder.csv', 'link.csv', 'pipe.csv'])
  })

  test('names with control characters, emoji, a leading dash and 255 bytes are taken and shown clean', async () => {
    const names = ['line\nend\x1b[31m.csv', '🍳 & "pan" $(x).csv', '-rf.csv', `${'é'.repeat(125)}x.csv`]
    for (const [at, name] of names.entries()) {
      await writeFile(place.path('drop', 'any', name), csv([row(`name-${at}`)]))
    }
    for (const at of names.keys()) await place.untilTaken(`name-${at}`, 1)
    const { stdout } = await place.run('imports')
    expect(stdout).toMatch(/line_end.*\.csv/)
    expect(stdout).not.toMatch(/[^\P{Cc}\n]/u)
  })

  test('a bare CSV that grows after it was taken is accepted again, whole', async () => {
    const path = place.path('drop', 'any', 'grows.csv')
    await using file = await open(path, 'a')
    await file.write(`${csv([row('grow-1')])}grow-2,Pan`)
    expect(await untilReported('grows.csv')).toMatchObject({ outcome: 'refused' })
    await file.write(`${row('grow-2').slice('grow-2,Pan'.length)}\n`)
    const report = await untilReported('grows.csv', ({ records }) => records === 2)
    expect(report).toMatchObject({ outcome: 'imported', rejected: 0 })
    const { document } = await place.untilTaken('grow-2', 1)
    expect(document).toEqual(wire('grow-2'))
    // Half of it stood among the refused files, and there is nothing left to do about it.
    const failed = await readdir(place.path('state', 'main', 'failed', 'any'))
    expect(failed.filter((name) => name.includes('grows.csv'))).toEqual([])
  })
})

test('after all that the daemon runs, and neither token nor supplier_cost stands in a log or a report', async () => {
  expect(daemon.running).toBe(true)
  const all =
    daemon.stderr + daemon.stdout + (await place.run('status')).stdout + (await place.run('imports')).stdout
  for (const secret of [productsToken, ...secretCosts]) expect(all).not.toContain(secret)
  const state = place.path('state')
  expect(await findText(state, productsToken)).toEqual([])
  for (const cost of secretCosts) {
    const found = await findText(state, cost)
    // The merchant's own files, rejected rows included, and what the mirror holds.
    expect(
      found.filter((file) => !/\/(archive|failed|redis)\/|\/catalog\.db|\.rejects\.csv$/.test(file)),
    ).toEqual([])
  }
})
