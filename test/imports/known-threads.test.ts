import { describe, expect, it } from 'vitest'
import { feed, openImports, row } from './harness.ts'

const feeds = `
products: { drop: ./a, files: { full: "*.csv", delta: "*.delta" } }
`

type Box = Awaited<ReturnType<typeof openImports>>

/** Long enough for threads. Some texts have quotes and line ends. */
const count = 9_000
const text = 'long '.repeat(400)
const rows = Array.from({ length: count }, (_, index) =>
  row(`p${index}`, { text: index % 3 === 0 ? `"${text}\n""${index}"""` : `${text}${index}` }),
)

describe('a long file', () => {
  it('is told from the one before over its bytes, and what is not known is as in the file', async () => {
    await using box = await openImports(feeds)
    await box.import('products', feed(...rows))
    expect(await box.import('products', feed(...rows))).toMatchObject({
      ...{ records: count, unchanged: count, rejected: 0, skipped: { records: count } },
      removals: { missing: 0, of: count, held: false },
    })
    const changed = rows.with(4_500, row('p4500', { price: '11' })).with(8_990, row('p8990', { price: 'x' }))
    const added = [...changed.slice(0, 100), ' ', ...changed.slice(200), row('new')]
    const report = await box.import('products', feed(...added))
    // All but the two, the new one, and the last one of the first batch are told; the blank line is no record.
    expect(report).toMatchObject({
      ...{ records: count - 99, rejected: 1, changes: { added: 1, changed: 1, missing: 100 } },
      ...{ skipped: { records: count - 102 }, removals: { missing: 100, of: count + 1, held: false } },
    })
    const lines = feed(...added).split('\n')
    const line = lines.findIndex((each) => each.startsWith('p8990,')) + 1
    expect(report.problems[0]?.examples[0]).toMatchObject({ line, record: 8_891 })
    expect(await priceOf(box, 'p4500')).toBe(11)
    expect(await box.import('products', feed(...added))).toMatchObject({
      ...{ records: count - 99, rejected: 1, changes: { changed: 0, missing: 0 } },
      ...{ skipped: { records: count - 100 }, removals: { missing: 0, of: count - 99 } },
    })
  })

  it('is refused when it was cut off, and judged whole when a known product stands in it twice', async () => {
    await using box = await openImports(feeds)
    await box.import('products', feed(...rows))
    const cut = feed(...rows).slice(0, -text.length - 60)
    expect(await box.import('products', cut)).toMatchObject({ outcome: 'refused' })
    const open = `${feed(...rows)}p1,"never closed`
    expect(await box.import('products', open)).toMatchObject({ outcome: 'refused' })
    const twice = await box.import('products', feed(...rows, row('p5', { price: '12' })))
    expect(twice).toMatchObject({
      changes: { changed: 1, superseded: 1 },
      skipped: { records: 0, because: 'records that are known share their ids with others' },
    })
    expect(await priceOf(box, 'p5')).toBe(12)
    const twin = await box.import('products', feed(...rows, ...rows.slice(0, 2)))
    expect(twin).toMatchObject({ records: count + 2, changes: { changed: 1 } })
    expect(await priceOf(box, 'p5')).toBe(10)
  })

  it('is refused when it was cut off and the thread of its end knew none of its first records', async () => {
    await using box = await openImports(feeds)
    // Of ranges for two threads; the second one reads a megabyte before it gives up.
    const large = Array.from({ length: 350 }, (_, index) =>
      row(`p${index}`, { text: text.repeat(50) + index }),
    )
    await box.import('products', feed(...large))
    const changed = large.map((each, index) => (index > 170 && index < 200 ? `${each} changed` : each))
    const cut = feed(...changed).slice(0, -50 * text.length - 60)
    expect(await box.import('products', cut)).toMatchObject({ outcome: 'refused' })
  })
})

async function priceOf(box: Box, id: string): Promise<unknown> {
  return ((await box.document(id)) as { price: unknown }).price
}
