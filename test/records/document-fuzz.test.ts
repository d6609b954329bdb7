import fc from 'fast-check'
import { SaxesParser } from 'saxes'
import { expect, it } from 'vitest'
import { CheckedXml } from '../../src/records/checked-xml.ts'
import { JsonSplitter } from '../../src/records/json-splitter.ts'
import type { RecordSlice, TextSplitter } from '../../src/records/model.ts'
import { parseXml } from '../../src/records/read-records.ts'
import { XmlSplitter } from '../../src/records/xml-splitter.ts'

// saxes and JSON.parse over the whole text are the truth.

const cuts = fc.array(fc.integer({ min: 1, max: 12 }), { minLength: 1, maxLength: 6 })
const options = { name: 'feed', recordBytes: 1_000_000, firstRecord: 1, batch: { records: 2, bytes: 1000 } }

/** What `take` gives for each record, or undefined when the text is refused. */
function split<T>(
  text: string,
  cutsOf: readonly number[],
  splitter: TextSplitter,
  take: (slice: RecordSlice, batch: Parameters<typeof parseXml>[0]) => T,
): T[] | undefined {
  const bytes = Buffer.from(text)
  const taken: T[] = []
  try {
    for (let at = 0, turn = 0; at < bytes.length; turn++) {
      const size = cutsOf[turn % cutsOf.length] as number
      for (const batch of splitter.push(Buffer.from(bytes.subarray(at, at + size)))) {
        for (const slice of batch) {
          expect(bytes.subarray(slice.offset, slice.offset + slice.bytes.length).equals(slice.bytes)).toBe(
            true,
          )
          taken.push(take(slice, [slice]))
        }
      }
      at += size
    }
    for (const _ of splitter.end()) throw new Error('a document ends its own records')
    return taken
  } catch (error) {
    expect((error as Error).name).toBe('FileRefusedError')
    // Refused for where its records are, which a parser knows nothing of.
    return /path/.test((error as { code: string }).code) ? [] : undefined
  }
}

const mutation = fc.record({
  at: fc.nat(400),
  cut: fc.nat(3),
  add: fc.constantFrom(
    '',
    '',
    '<',
    '>',
    '/',
    '"',
    "'",
    '&',
    ']]>',
    '-->',
    '--',
    '<!--',
    '<![CDATA[',
    '<?',
    '?>',
    '</item>',
    '<item>',
    '<c>',
    '</c>',
    ' a="1"',
    '\u0085',
    '\ufeff',
    '\u0001',
    '{',
    '}',
    '[',
    ']',
    ',',
    ':',
    '\\',
    '\\u12',
    '01',
    '.',
    'e',
    '\n',
  ),
})
const mutations = fc.array(mutation, { maxLength: 3 })

function mutated(text: string, changes: readonly { at: number; cut: number; add: string }[]): string {
  const changed = changes.reduce((all, { at, cut, add }) => {
    const place = at % (all.length + 1)
    return all.slice(0, place) + add + all.slice(place + cut)
  }, text)
  return changed.toWellFormed()
}

const { content } = fc.letrec<{ content: string; node: string }>((tie) => ({
  content: fc.array(tie('node'), { maxLength: 4 }).map((nodes) => nodes.join('')),
  node: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.constantFrom(
      't',
      '\n',
      '\r\n',
      '\r',
      '&#65;',
      'é',
      '😀',
      ']]',
      '>',
      '<!-- </item> - -->',
      '<?p </item>?>',
    ),
    fc.constantFrom(
      '<![CDATA[</item>]]>',
      '<![CDATA[]]]]>',
      '<item/>',
      "<g:id q='>'/>",
      '<__proto__ a="&lt;"/>',
    ),
    fc
      .tuple(
        fc.constantFrom('item', 'item', 'a', 'g:id'),
        fc.constantFrom('', ' x=">"', " y='\"'"),
        tie('content'),
      )
      .map(([name, attribute, inner]) => `<${name}${attribute}>${inner}</${name}>`),
  ),
}))
const documents = fc
  .tuple(
    fc.constantFrom('', '<?xml version="1.0" encoding="latin1"?>\n', '<?xml version="1.1"?>', '<!-- c -->'),
    content,
    content,
  )
  .map(([head, one, two]) => `${head}<r xmlns:g="u"><c>${one}</c><c xmlns="v">${two}</c></r>\n`)

/** Texts of the records, joined; undefined when the document is not well-formed or has a document type. */
function recordTexts(text: string): string[] | undefined {
  const parser = new SaxesParser({ xmlns: true })
  const texts: string[] = []
  const open: string[] = []
  let start = 0
  parser.on('opentag', ({ name }) => {
    open.push(name)
    if (open.join('/') === 'r/c/item') start = texts.push('') && open.length
  })
  const add = (piece: string) => {
    if (start > 0) texts.push(`${texts.pop() ?? ''}${piece}`)
  }
  parser.on('text', add)
  parser.on('cdata', add)
  parser.on('closetag', () => {
    if (open.length === start) start = 0
    open.pop()
  })
  parser.on('doctype', () => {
    throw new Error('doctype')
  })
  try {
    parser.write(text).close()
    return texts
  } catch {
    return undefined
  }
}

/** All text of a parsed record. */
function textIn(value: unknown): number {
  if (typeof value === 'string') return value.replace(/[ \t\r\n]/g, '').length
  if (typeof value !== 'object' || value === null) return 0
  return Object.entries(value).reduce((sum, [key, part]) => sum + (key.startsWith('@') ? 0 : textIn(part)), 0)
}

it('XML records are those that saxes finds, in both passes, and what it refuses is refused', () => {
  fc.assert(
    fc.property(documents, mutations, cuts, (document, changes, cutsOf) => {
      const text = mutated(document, changes)
      const expected = recordTexts(text.startsWith('\ufeff') ? `\ufeff${text}` : text)
      const checked = new CheckedXml({ ...options, path: 'r/c/item' })
      const first = split(text, cutsOf, checked, (slice) => checked.sourceOf(slice))
      expect(first?.length).toBe(expected?.length)
      if (expected === undefined || first === undefined) return
      const lengths = expected.map((one) => textIn(one))
      expect(first.map(textIn)).toEqual(lengths)
      const second = split(
        text,
        cutsOf,
        new XmlSplitter({ ...options, path: 'r/c/item' }),
        (_, batch) => parseXml(batch, [])[0],
      )
      expect(second).toMatchObject(first.map((source) => ({ parsed: { source } })))
    }),
    { numRuns: 3000 },
  )
})

it('records of XML that were known to be well-formed need not be read to tell what is, and what the others hold', () => {
  let known = 0
  fc.assert(
    fc.property(
      documents,
      mutations,
      cuts,
      fc.infiniteStream(fc.boolean()),
      (document, changes, cutsOf, coin) => {
        const nameOf = ({ bytes, scope }: RecordSlice) => JSON.stringify([bytes.toString(), scope])
        const before = new Set<string>()
        const noted = (slice: RecordSlice) => coin.next().value && before.add(nameOf(slice))
        if (!split(document, cutsOf, new CheckedXml({ ...options, path: 'r/c/item' }), noted)) return
        const text = mutated(document, changes)
        const expected = recordTexts(text.startsWith('\ufeff') ? `\ufeff${text}` : text)
        const checked = new CheckedXml({ ...options, path: 'r/c/item' })
        checked.isKnown = (slice) => before.has(nameOf(slice))
        const found = split(text, cutsOf, checked, (slice) =>
          before.has(nameOf(slice)) ? undefined : textIn(checked.sourceOf(slice)),
        )
        expect(found?.length).toBe(expected?.length)
        const others = found?.flatMap((length, at) => (length === undefined ? [] : at)) ?? []
        for (const at of others) expect(found?.[at]).toBe(textIn(expected?.[at]))
        known += (found?.length ?? 0) - others.length
      },
    ),
    { numRuns: 3000 },
  )
  expect(known).toBeGreaterThan(100)
})

const values = fc.json({ maxDepth: 3, noUnicodeString: false } as fc.JsonSharedConstraints)
const lists = fc.array(values, { maxLength: 4 }).map((items) => `[${items.join(' ,\r\n')}]`)

it.each([
  ['', (list: string, _: string) => list],
  ['p', (list: string, other: string) => `{"x":${other}, "p" :${list},"y":${other}}`],
  ['p.q', (list: string, other: string) => `\n{"p":{"x":${other},"\\u0071":${list}}}`],
])('JSON records at "%s" are those of JSON.parse, and what it refuses is refused', (path, wrap) => {
  const keys = path === '' ? [] : path.split('.')
  fc.assert(
    fc.property(lists, values, mutations, cuts, (list, other, changes, cutsOf) => {
      const text = mutated(wrap(list, other), changes)
      const splitter = new JsonSplitter({ ...options, path })
      const records = split(text, cutsOf, splitter, ({ bytes }) => JSON.parse(bytes.toString()))
      let whole: unknown
      try {
        whole = JSON.parse(text)
      } catch {
        // A key that stands twice ends the reading before the text does.
        if (records !== undefined) expect(records).toEqual([])
        return
      }
      const found = keys.reduce(
        (value: unknown, key) => (value as Record<string, unknown> | null)?.[key],
        whole,
      )
      if (records?.length === 0) return
      expect(records).toEqual(found)
    }),
    { numRuns: 1500 },
  )
})
