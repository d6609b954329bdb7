import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { FieldRule } from '../../src/config/rule-model.ts'
import { bindTo, columnRule, recordOf } from './support.ts'

/** Takes every cell as it is, and through all steps. */
const pattern = { regex: '(?s)^(.*)$', result: undefined }

const options = fc.record<Partial<FieldRule>>(
  {
    when: fc.constantFrom({ a: 'InStock', b: '', '<=0': 'OutOfStock' }, { '1': '5', '': '7', '/^x/': '9' }),
    otherwise: fc.constantFrom('12', 'Invisible'),
    split: fc.constantFrom(',', ';', '|', '/', ' '),
    separator: fc.constantFrom('>', '|', '/', '&gt;'),
    slash: fc.constant('-'),
    decimal: fc.constantFrom('.', ','),
    thousands: fc.constantFrom('.', ',', ' ', "'"),
    date: fc.constantFrom('YYYY-MM-DD', 'DD.MM.YYYY', 'unix'),
    empty: fc.constantFrom('keep', 'clear'),
    optional: fc.constant(true),
    words: fc.constant('availability'),
  },
  { requiredKeys: [] },
)

const address = fc.constantFrom(
  'https://shop.example/p/1',
  'http://shop.example/a b',
  'https://shop.example/é?x=1,2;3',
  'https://x',
  'HTTPS://Shop.Example',
  '//shop.example/p',
  'https:// shop.example',
)
const amount = fc.oneof(
  fc
    .tuple(
      fc.integer({ min: -9_999, max: 99_999_999_999 }),
      fc.constantFrom('', '.0', '.50', ',5', '.123', '.123456', ' €'),
    )
    .map((all) => all.join('')),
  fc.constantFrom(
    '-0',
    '0.00',
    '01',
    '1.234',
    '1,299.00',
    '1e3',
    '.5',
    '5.',
    '−3',
    '12 kr',
    '9007199254740993',
  ),
)
const day = fc.constantFrom(
  '2026-02-28',
  '2026-02-30',
  '28.02.2026',
  '2026-02-28T10:00',
  '1767225600',
  '2026-2-8',
)
const path = fc.constantFrom('Home > Kitchen', 'a/b', ' /a//b', 'a &gt; b', 'a>b/c', '>', 'ä\u2028ö')
const word = fc.constantFrom(
  'a',
  'b',
  'x1',
  '1',
  '0',
  'in stock',
  'sold out',
  '["x","y"]',
  '[x]',
  '["x',
  '\ud800',
  'é–',
  '\u00a0',
)
const other = fc.oneof(address, amount, day, path, word, fc.string({ unit: 'binary', maxLength: 6 }))

/** What may stand in a rule of the field, and what its cells are made of. */
const fields: Record<string, readonly [parts: readonly (keyof FieldRule)[], fc.Arbitrary<string>]> = {
  name: [['when', 'otherwise', 'optional'], word],
  availability: [['when', 'otherwise', 'words'], fc.oneof(word, amount)],
  url: [['when', 'empty'], address],
  price: [['when', 'decimal', 'thousands'], amount],
  inventory_level: [['when', 'decimal', 'thousands', 'empty'], amount],
  rating_value: [['decimal', 'thousands'], amount],
  review_count: [['when', 'decimal', 'thousands'], amount],
  date_published: [['date'], day],
  tag1: [['split', 'empty'], word],
  alternate_image_urls: [['split'], address],
  categories: [['split', 'separator', 'slash'], path],
}

const feed = fc.constantFrom(...Object.entries(fields)).chain(([field, [parts, usual]]) => {
  const mark = fc.constantFrom('|', ',', ';', '/', ' ', '')
  const pieces = fc.array(fc.oneof(usual, other), { minLength: 1, maxLength: 3 })
  const list = fc.tuple(pieces, mark).map(([texts, between]) => texts.join(between))
  const cells = fc.array(fc.oneof(usual, usual, other, list), { minLength: 1, maxLength: 8 })
  const own = options.map((all) => {
    const some = Object.entries(all).filter(([part]) => parts.includes(part as keyof FieldRule))
    return { ...columnRule('cell'), ...Object.fromEntries(some) }
  })
  return fc.record({ field: fc.constant(field), rule: own, cells })
})

it('an ordinary cell says what all steps of its rule make of it', () => {
  fc.assert(
    fc.property(feed, ({ field, rule, cells }) => {
      const bind = (own: FieldRule) => bindTo(['id', 'cell'], { product_id: columnRule('id'), [field]: own })
      let general: ReturnType<typeof bind>
      try {
        general = bind({ ...rule, pattern })
      } catch (error) {
        // Neither of them is a rule then.
        expect(() => bind(rule)).toThrow((error as Error).message)
        return
      }
      const quick = bind(rule)
      for (const text of [...cells, ...cells]) {
        const record = recordOf(['P1', text])
        expect(quick.map(record)).toEqual(general.map(record))
      }
    }),
    { numRuns: 3_000 },
  )
})
