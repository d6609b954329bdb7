import { readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { setImmediate as nextTurn } from 'node:timers/promises'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { ImportReport } from '../../src/imports/report.ts'
import type { AcceptSequence } from '../../src/lib/brand.ts'
import { feed, header, openImports, row } from './harness.ts'

// Runs of `files` files each; more with WALKS=1000, say. Every stretch of a walk is a sequence of its own.
const walks = Number(process.env.WALKS ?? 4)
const files = 30

/** Ways in which the rows of a walk are written, and how their feed says so. */
const kinds = {
  'rows of a table': { settings: '', write: (rows: readonly string[]) => feed(...rows) },
  'rows of one id': { settings: 'group: true,', write: (rows: readonly string[]) => feed(...rows) },
  'rows that name another one': {
    settings: 'group: { parent: description },',
    write: (rows: readonly string[]) => feed(...rows.map(asChild)),
  },
  'elements of XML': {
    settings: 'format: { type: xml, path: feed/item },',
    write: (rows: readonly string[], end: string) => {
      // What the elements inherit.
      const scope = end === '\n' ? '' : ' xmlns:g="http://base.google.com/ns/1.0"'
      return `<feed${scope}>\n${rows.map(asElement).join('\n')}\n</feed>\n`
    },
  },
} as const
type Kind = keyof typeof kinds

const feedsOf = (kind: Kind) => `
products: { drop: ./a, ${kinds[kind].settings} files: { full: "*.csv", delta: "*.delta" }, missing: { atMost: 50% }, rejects: { atMost: 60% } }
prices: { drop: ./b, mode: delta, fields: { product_id: product_id, price: price } }
`

/** The last cell names another row, or none. */
function asChild(text: string): string {
  return text.replace(/,text$/, ',').replace(/"of\ntwo, lines"$/, 'a')
}

function asElement(text: string): string {
  const cells = text.split(',')
  const values = header.split(',').map((name, index) => {
    const value = index === 7 ? cells.slice(7).join(',') : cells[index]
    return `<${name}>${value?.replaceAll('"', '')}</${name}>`
  })
  return `<item>${values.join('')}</item>`
}

type Box = Awaited<ReturnType<typeof openImports>>

describe('records that are skipped', () => {
  it.each(Object.keys(kinds) as Kind[])('make no difference to what becomes of %s', async (kind) => {
    const feeds = feedsOf(kind)
    let skipped = 0
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: files, maxLength: files }), async (steps) => {
        await using box = await openImports(feeds)
        await using plain = await openImports(feeds)
        let full: Step['rows'] = [row('a')]
        for (const given of steps) {
          const each = given.repeats && given.mode === 'full' ? { ...given, rows: full } : given
          if (each.mode === 'full') full = each.rows
          await spoil(box, each.spoil)
          // The same without any index.
          await rm(plain.dir.join('state/index'), { recursive: true, force: true })
          const [report, other] = [
            await take(box, kind, each),
            await take(plain, kind, { ...each, crashAt: undefined }),
          ]
          skipped += report.skipped?.records ?? 0
          expect(essenceOf(report)).toEqual(essenceOf(other))
          expect(box.products()).toEqual(plain.products())
          expect(box.unsent()).toEqual(plain.unsent())
          expect(box.held('products').map(essence)).toEqual(plain.held('products').map(essence))
          if (each.settles) await Promise.all([box.deliverAll(), plain.deliverAll()])
        }
      }),
      // A walk is too long to be shortened.
      { numRuns: walks, endOnFailure: true },
    )
    // One walk in four repeats nothing that could be skipped.
    if (walks >= 20) expect(skipped).toBeGreaterThan(0)
  })
})

/** What a walk does with one file, and what the operator then decides. */
async function take(box: Box, kind: Kind, given: Step): Promise<ImportReport> {
  const { feed: name, mode, rows, end, crashAt, decides } = given
  const options = { mode, name: `${name}.${mode === 'full' ? 'csv' : 'delta'}` }
  const text = name === 'products' ? kinds[kind].write(rows, end) : feed(...rows)
  const importing = box.import(name, text.replaceAll('\n', end), options)
  if (crashAt !== undefined) {
    for (let turn = 0; turn < crashAt; turn++) await nextTurn()
    await box.stop()
    box.start()
  }
  const report = await importing
  const [held] = box.held('products')
  if (held && decides !== 'nothing') await box[decides](held.sequence as AcceptSequence, 'products')
  return report
}

function essenceOf({ outcome, records, rejected, warned, changes, removals, reason }: ImportReport) {
  return { outcome, records, rejected, warned, changes, removals, reason }
}

function essence({ at: _, ...held }: { at: string }) {
  return held
}

async function spoil(box: Box, how: Step['spoil']): Promise<void> {
  const dir = box.dir.join('state/index')
  const [name] = await readdir(dir).catch(() => [])
  if (name === undefined || how === 'nothing') return
  if (how === 'loss') await rm(`${dir}/${name}`)
  if (how === 'damage') {
    const bytes = await readFile(`${dir}/${name}`)
    bytes[5] = (bytes[5] ?? 0) ^ 1
    await writeFile(`${dir}/${name}`, bytes)
  }
}

const ids = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']

/** Few values, so that they return; some of them are rejected, warned of, or stand on two lines. */
const line = fc
  .record({
    id: fc.constantFrom(...ids),
    price: fc.constantFrom('1', '1', '1', '1', '2', '', 'x'),
    stock: fc.constantFrom('InStock', 'InStock', 'InStock', 'OutOfStock', 'Maybe'),
    text: fc.constantFrom('text', 'text', 'text', '"of\ntwo, lines"', ''),
  })
  .map(({ id, ...rest }) => row(id, rest))

const others = line.map((text) => [text])
/** Most full files name most products once. */
const whole = fc
  .tuple(fc.shuffledSubarray(ids, { minLength: 5 }), fc.array(line, { maxLength: 3 }), fc.boolean())
  .map(([named, more, isSorted]) => {
    const rows = (isSorted ? named.toSorted() : named).map((id) => row(id, { price: '1' }))
    return [...rows, ...more]
  })

const step = fc
  .record({
    feed: fc.constantFrom('products', 'products', 'products', 'prices'),
    mode: fc.constantFrom('full' as const, 'full' as const, 'delta' as const),
    whole,
    some: fc.oneof(others, fc.array(line, { minLength: 1, maxLength: 4 })),
    isWhole: fc.constantFrom(true, true, true, false),
    end: fc.constantFrom('\n', '\n', '\r\n'),
    crashAt: fc.option(fc.nat(60), { nil: undefined, freq: 5 }),
    spoil: fc.constantFrom('nothing', 'nothing', 'nothing', 'nothing', 'nothing', 'loss', 'damage'),
    decides: fc.constantFrom('nothing' as const, 'approve' as const, 'discard' as const),
    settles: fc.boolean(),
    /** The full file before once more: what was changed since then shows. */
    repeats: fc.boolean(),
  })
  .map(({ feed: name, mode: wanted, whole: all, some, isWhole, ...rest }) => {
    const mode = name === 'prices' ? ('delta' as const) : wanted
    return { ...rest, feed: name, mode, rows: mode === 'full' && isWhole ? all : some }
  })

type Step = typeof step extends fc.Arbitrary<infer One> ? One : never
