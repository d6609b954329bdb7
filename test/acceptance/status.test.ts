import { readFile, rm, writeFile } from 'node:fs/promises'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { Workplace } from './daemon.ts'

// What status says, and its exit code, where something waits that nothing else tells of.

const header = 'product_id,name,url,image_url,availability,price,price_currency_code'
const rowOf = (id: string, price: number) =>
  `${id},Name,https://shop.example/${id},https://shop.example/i.jpg,InStock,${price},EUR`
const feedOf = (ids: readonly string[], price = 10) =>
  `${[header, ...ids.map((id) => rowOf(id, price))].join('\n')}\n`

let workplace: Workplace

async function opened(feeds: string): Promise<void> {
  workplace = await Workplace.open(`
deferred: { after: 0s, atMost: 1s }
delivery: { horizon: 1s }
feeds:
${feeds}
`)
}
afterEach(() => workplace?.[Symbol.asyncDispose]())

describe('without a daemon', () => {
  beforeEach(() => opened('  shop: { drop: ./drop/shop, settle: 0s, mode: delta, files: "*.csv" }'))

  it('is ok where nothing waits, asks for one where a file does', async () => {
    expect((await workplace.runHere('status')).code).toBe(0)
    await workplace.drop('elsewhere', 'a.csv', feedOf(['p1', 'p2']))
    await workplace.runHere('load', 'shop', workplace.path('drop', 'elsewhere', 'a.csv'))
    const loaded = await workplace.runHere('status')
    expect(loaded, loaded.stdout).toMatchObject({ code: 0, stdout: expect.stringContaining('main: ok') })

    await workplace.drop('shop', 'b.csv', feedOf(['p1'], 11))
    const waits = await workplace.runHere('status')
    expect(waits.code, waits.stdout).toBe(1)
    expect(waits.stdout).toContain('catalog main: attention')
    expect(waits.stdout).toContain('no daemon runs, and this waits for one: 1 file in the drop folder.')
    expect(waits.stdout).toContain('catalogd start')
  })

  it('tells no time of a trouble where only the time of this look is known', async () => {
    await workplace.drop('shop', 'b.csv', feedOf(['p1']))
    await workplace.drop('shop', 'a.txt', 'x')
    const { stdout } = await workplace.runHere('status')
    const told = stdout.split('\n').filter((line) => line.startsWith('  ! '))
    expect(told).toEqual([expect.stringContaining('Left alone'), expect.stringContaining('no daemon runs')])
    expect(told.join()).not.toContain('(since')
    const { notices } = await workplace.status()
    expect(notices).toMatchObject([{ at: null }, { at: null }])
  })

  it('asks for one where products are not delivered', async () => {
    await workplace.runHere('pause')
    await workplace.drop('elsewhere', 'a.csv', feedOf(['p1', 'p2', 'p3']))
    await workplace.runHere('load', 'shop', workplace.path('drop', 'elsewhere', 'a.csv'), '--no-wait')
    const { stdout } = await workplace.runHere('status')
    expect(stdout).toContain('no daemon runs, and this waits for one: 3 products.')
  })

  it('load tells of the lanes in which products wait: one that was never delivered stays new', async () => {
    await workplace.runHere('pause')
    await workplace.drop('elsewhere', 'a.csv', feedOf(['p1']))
    await workplace.runHere('load', 'shop', workplace.path('drop', 'elsewhere', 'a.csv'), '--no-wait')
    await workplace.drop('elsewhere', 'b.csv', feedOf(['p1']).replace('Name', 'Another name'))
    const edited = workplace.path('drop', 'elsewhere', 'b.csv')
    const diff = await workplace.runHere('diff', 'shop', edited)
    expect(diff.stdout).toContain('lanes: 0 urgent, 1 new, 0 deferred')
    const { stdout } = await workplace.runHere('load', 'shop', edited, '--no-wait')
    expect(stdout).toMatch(/^lanes +0 urgent, 1 new, 0 deferred$/m)
    const { lanes } = (await workplace.status()).overview
    expect(lanes).toMatchObject({ new: { waiting: 1 }, deferred: { waiting: 0 } })
  })
})

describe('a file that is not taken', () => {
  it('is named, with the time of its last change and what it waits for', async () => {
    await opened(`  still: { drop: ./drop/still, settle: 1h, mode: delta, files: "*.csv" }
  marked: { drop: ./drop/marked, done: "*.done", mode: delta, files: "*.csv" }
  checked: { drop: ./drop/checked, settle: 0s, verify: md5, mode: delta, files: "*.csv" }`)
    await workplace.drop('still', 'grows.csv', feedOf(['p1']))
    await workplace.drop('marked', 'export.csv', feedOf(['p1']))
    await workplace.drop('checked', 'sums.csv', feedOf(['p1']))
    const { stdout } = await workplace.runHere('status')
    expect(stdout).toMatch(
      /^ {6}grows\.csv, changed last at .* ago\): it may still grow.* for 60 min \(settle\)$/m,
    )
    expect(stdout).toMatch(
      /^ {6}export\.csv, .*: its marker is missing: export\.csv\.done or export\.done \(done\)$/m,
    )
    expect(stdout).toMatch(/^ {6}sums\.csv, .*: its side file is missing.*: sums\.csv\.md5$/m)
    const [still] = (await workplace.status()).feeds
    expect(still).toMatchObject({
      dropped: 1,
      droppedFiles: [{ waitsFor: { kind: 'settle', forMs: 3_600_000 } }],
    })
  })

  it('because no pattern matches is told at once, in the order of the names', async () => {
    await opened('  shop: { drop: ./drop/shop, settle: 0s, mode: delta, files: "*.csv" }')
    await workplace.start()
    for (const name of ['z.txt', 'm.txt', 'a.txt']) await workplace.drop('shop', name, 'x')
    const { stdout, code } = await workplace.runHere('status')
    expect(stdout).toMatch(/Left alone in .*: a\.txt \(matches none of: \*\.csv\), m\.txt .*, z\.txt /)
    expect(code).toBe(1)
    for (const name of ['z.txt', 'm.txt', 'a.txt']) await rm(workplace.path('drop', 'shop', name))
    expect((await workplace.runHere('status')).stdout).not.toContain('Left alone')
  })
})

describe('a feed of which nothing is used', () => {
  const fields = 'fields: { product_id: product_id, price: price }'
  const shop = '  shop: { drop: ./drop/shop, settle: 0s, mode: delta'

  async function bothLoaded(): Promise<void> {
    for (const [feed, price] of [
      ['shop', 10],
      ['prices', 12],
    ] as const) {
      await workplace.drop('elsewhere', `${feed}.csv`, feedOf(['p1', 'p2'], price))
      await workplace.runHere('load', feed, workplace.path('drop', 'elsewhere', `${feed}.csv`))
    }
  }

  it('is told of, with the feed that overrides it, the fields and the remedy', async () => {
    await opened(`${shop} }\n  prices: { drop: ./drop/prices, mode: delta, ${fields} }`)
    await bothLoaded()
    const { stdout, code } = await workplace.runHere('status')
    expect(stdout).toContain(
      'Nothing that prices.csv (import 2) says is used: all its 2 records are overridden, price by feed shop',
    )
    expect(stdout).toContain('catalogd why <product_id>')
    expect(stdout).toContain('owns: [price] in feed prices, or in feed shop')
    expect(code).toBe(1)
    // The configuration alone mends no product.
    const file = workplace.path('catalogd.yaml')
    const text = await readFile(file, 'utf8')
    await writeFile(file, text.replace(fields, `${fields}, owns: [price]`))
    const after = await workplace.runHere('status')
    expect(after.stdout).toContain(
      'By now feed prices writes price, and its next file counts: load this one again',
    )
    expect(after.code).toBe(1)
    await workplace.runHere('load', 'prices', workplace.path('drop', 'elsewhere', 'prices.csv'))
    expect(await workplace.runHere('status')).toMatchObject({ code: 0 })
  })

  it('is as it was meant where the other feed owns the fields', async () => {
    await opened(`${shop}, owns: [price] }\n  prices: { drop: ./drop/prices, mode: delta, ${fields} }`)
    await bothLoaded()
    expect(await workplace.runHere('status')).toMatchObject({ code: 0 })
  })
})
