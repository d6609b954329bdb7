import { expect, it } from 'vitest'
import type { FieldRule } from '../../src/config/rule-model.ts'
import { bindTo, columnRule, recordOf } from './support.ts'

function read(cell: unknown): unknown {
  const fields = {
    product_id: columnRule('id'),
    url: columnRule('cell'),
    alternate_image_urls: columnRule('cell'),
  }
  const { patch } = bindTo(['id', 'cell'], fields).map(recordOf(['1', cell]))
  return patch && [patch.set.url, ...(patch.set.alternate_image_urls as string[])]
}

it.each([
  ['https://a.example/Desk lamp.jpg?c=dark blue', 'https://a.example/Desk%20lamp.jpg?c=dark%20blue'],
  ['https://a.example?c=dark blue', 'https://a.example?c=dark%20blue'],
  ['https://a.example/a\u00a0b', 'https://a.example/a%C2%A0b'],
  ['https://a.example/Größe.jpg', 'https://a.example/Größe.jpg'],
  ['https://a.example/a%20b+c', 'https://a.example/a%20b+c'],
])('%j is the address %j', (cell, address) => expect(read(cell)).toEqual([address, address]))

it.each([
  'https://a b.example/c',
  'https://a.example b/c',
  'https://a.ex\ufeffample/c',
  'https://a.example/\ufeffc',
  'https://a.example b',
  'https://a.example/1.jpg https://a.example/2.jpg',
  'https://a.example/1.jpg, https://a.example/2 b.jpg',
  'https://a.example/1\nb',
  'https://a.example/1\tb',
  'a b.jpg',
])('%j is no one address', (cell) => expect(read(cell)).toBeUndefined())

it.each([
  ['https://a.example/1.jpg,https://a.example/2.jpg', true],
  ['https://a.example/ü.jpg;HTTPS://a.example/2.jpg', true],
  ['https://a.example/fetch/w_300,h_200/https://b.example/1.jpg', false],
  ['https://a.example/?from=https://b.example/1.jpg', false],
  ['https://a.example/a,b;c.jpg', false],
])('%j may be several addresses: %s', (cell, isWarned) => {
  const fields = {
    product_id: columnRule('id'),
    image_url: columnRule('a'),
    alternate_image_urls: columnRule('b'),
  }
  const { patch, issues } = bindTo(['id', 'a', 'b'], fields).map(recordOf(['1', cell, [cell]]))
  expect(patch?.set).toMatchObject({ image_url: cell, alternate_image_urls: [cell] })
  const warned = ['image_url', 'alternate_image_urls'].map((field) => [field, 'several-addresses', 'warn'])
  const found = issues.map(({ field, code, severity }) => [field, code, severity])
  expect(found).toEqual(isWarned ? warned : [])
})

it('members of skus may have such addresses', () => {
  const item = { url: columnRule('link') }
  const skus: FieldRule = { from: { kind: 'each', each: 'list', key: undefined, item } }
  const { patch } = bindTo(['id', 'list'], { product_id: columnRule('id'), skus }).map(
    recordOf(['1', [{ link: 'https://a.example/b c' }]]),
  )
  expect(patch?.set.skus).toEqual([{ url: 'https://a.example/b%20c' }])
})
