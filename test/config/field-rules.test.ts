import { describe, expect, it } from 'vitest'
import { problemsOf, read, withFeed } from './support.ts'

const withRule = (field: string, rule: string) => withFeed(`fields:\n  product_id: sku\n  ${field}: ${rule}`)

async function ruleOf(field: string, rule: string): Promise<{ rule: unknown; folder: string }> {
  const { loaded, folder } = await read(withRule(field, rule), { plain: true })
  const feed = [...(loaded.config.catalogs.values().next().value?.feeds.values() ?? [])][0]
  return { rule: feed?.fields[field], folder }
}

describe('a rule of a field', () => {
  it.each<[string, string, unknown]>([
    [
      'price',
      '{ column: p, optional: "true", rows: min, where: { type: variation, qty: [1, ""], kind: { not: parent } } }',
      {
        from: { kind: 'columns', columns: ['p'] },
        optional: true,
        rows: 'min',
        where: {
          type: { values: ['variation'], not: false },
          qty: { values: ['1', ''], not: false },
          kind: { values: ['parent'], not: true },
        },
      },
    ],
    [
      'price',
      '{ column: [sale, p], during: { sale: { from: a, until: b }, p: span }, zone: Europe/Berlin, date: DD.MM.YYYY }',
      {
        from: { kind: 'columns', columns: ['sale', 'p'] },
        during: {
          sale: { kind: 'ends', from: 'a', until: 'b' },
          p: { kind: 'interval', column: 'span' },
        },
        zone: 'Europe/Berlin',
        date: 'DD.MM.YYYY',
      },
    ],
    [
      'price',
      '{ column: [sale, p], below: p }',
      { from: { kind: 'columns', columns: ['sale', 'p'] }, below: 'p' },
    ],
    [
      'variations',
      '{ each: rows, key: EAN, item: { price: p } }',
      {
        from: {
          kind: 'each',
          each: 'rows',
          key: { from: { kind: 'columns', columns: ['EAN'] } },
          item: { price: { from: { kind: 'columns', columns: ['p'] } } },
        },
      },
    ],
    [
      'custom_fields',
      '{ parts: [{ matching: "^Meta: (?<name>.+)$" }, { column: attrs, pairs: {} }, { entries: { "{k}": v } }] }',
      {
        from: {
          kind: 'parts',
          parts: [
            { from: { kind: 'matching', regex: '^Meta: (?<name>.+)$' } },
            { from: { kind: 'columns', columns: ['attrs'] }, pairs: { separator: ',', equals: '=' } },
            { from: { kind: 'entries', entries: { '{k}': { from: { kind: 'columns', columns: ['v'] } } } } },
          ],
        },
      },
    ],
  ])('%s: %s', async (field, rule, expected) => {
    expect((await ruleOf(field, rule)).rule).toEqual(expected)
  })

  it('finds its table beside the configuration', async () => {
    const { rule, folder } = await ruleOf(
      'categories',
      '{ column: c, lookup: { file: ./t.csv, key: id, value: path } }',
    )
    expect(rule).toMatchObject({ lookup: { file: `${folder}/t.csv`, key: 'id', value: 'path' } })
  })

  it.each<[string, string, string]>([
    ['price', '{ column: p, item: { a: b } }', '9:37 item: found no "each" beside it'],
    ['skus', '{ each: rows }', '9:11 item: is missing'],
    ['skus', '{ each: rows, item: { id: a }, trim: true }', 'trim: has no effect beside each'],
    ['skus', '{ each: rows, item: { id: { column: a, value: b } } }', 'item.id: found column and value'],
    ['variations', '{ each: rows, key: { pattern: x }, item: { price: p } }', 'key: is missing where'],
    ['price', '{ column: p, zone: UTC }', 'zone: found no "during" beside it'],
    ['price', '{ column: p, during: { q: r } }', 'during.q: is no column that the rule reads'],
    ['price', '{ column: [p, p], below: p }', 'below: is the only column that the rule reads'],
    ['price', '{ column: p, during: { p: {} } }', 'during.p: found neither from nor until'],
    ['tag1', '{ column: p, unescape: "\\\\" }', 'unescape: found no "split" beside it'],
    ['custom_fields', '{ parts: [{ pattern: x }] }', 'parts[0]: is missing where'],
    [
      'custom_fields',
      '{ entries: { a: { matching: x } } }',
      'entries.a.matching: found matching inside entries',
    ],
    ['custom_fields', '{ matching: x, split: y }', 'split: has no effect beside matching'],
    [
      'price',
      '{ column: p, rows: some }',
      'rows: found "some", expected one of first, last, all, min, max, sum, any',
    ],
    [
      'price',
      '{ column: p, where: { a: { nott: b } } }',
      'where.a.nott: found an unknown key; did you mean "not"?',
    ],
  ])('%s: %s is refused: %s', async (field, rule, message) => {
    const [first = '', ...more] = await problemsOf(withRule(field, rule), { plain: true })
    expect(more).toEqual([])
    expect(first.replace(`catalogs.main.feeds.products.fields.${field}.`, '')).toContain(message)
  })
})
