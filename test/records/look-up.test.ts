import { expect, it } from 'vitest'
import { lookUp } from '../../src/records/look-up.ts'
import { Repeated } from '../../src/records/repeated.ts'

const links = Repeated.from([
  { '@rel': 'alternate', '@href': 'a' },
  { '@href': 'b', '#text': 'text' },
  { '@rel': 'self', '@href': 'c' },
  'plain',
])

it.each([
  ['link[@rel=alternate].@href', 'a'],
  ['link[@rel=self].@href', 'c'],
  ['link[@rel=].@href', 'b'],
  ['link[@rel=]', ['text', 'plain']],
  ['link[@rel=enclosure].@href', undefined],
  ['one[@rel=].@href', 'd'],
  ['one[@rel=x].@href', undefined],
  ['none[@rel=].@href', undefined],
  ['deep.link[@rel=self].@href', 'c'],
  ['shop[kind=own].name', 'Ours'],
  ['odd[1]', 'as it stands'],
  ['odd[2]', undefined],
])('%s is %j', (column, expected) => {
  const shop = Repeated.from([
    { kind: { '@id': 1, '#text': 'own' }, name: 'Ours' },
    { kind: 'other', name: 'Theirs' },
  ])
  const source = { link: links, one: { '@href': 'd' }, deep: { link: links }, shop, 'odd[1]': 'as it stands' }
  expect(lookUp(source, column)).toEqual(expected)
})

it.each([
  ['images.src', ['a', 'b']],
  ['variants.was', [5, null, null]],
  ['variants.sizes', ['S', 'M', null, 'L']],
  ['variants.none', undefined],
  ['images.0.src', 'a'],
  ['fields[code=key].value', 'k'],
  ['fields[code=none].value', undefined],
  ['texts.src', undefined],
])('through lists of JSON, %s is %j', (column, expected) => {
  const source = {
    images: [{ src: 'a' }, { src: 'b' }],
    variants: [{ was: 5, sizes: ['S', 'M'] }, {}, { was: null, sizes: ['L'] }],
    fields: [
      { code: 'key', value: 'k' },
      { code: 'name', value: 'n' },
    ],
    texts: ['a', 'b'],
  }
  expect(lookUp(source, column)).toEqual(expected)
})
