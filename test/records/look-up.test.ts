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
