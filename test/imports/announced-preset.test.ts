import { expect, test } from 'vitest'
import { shiftedClock } from '../support/shifted-clock.ts'
import { openImports } from './harness.ts'

const hourMs = 3_600_000

function item({ from, until }: { from: number; until: number }): string {
  // As shops write it: with the offset of the shop, and no colon in it.
  const local = (time: number) => `${new Date(time + 2 * hourMs).toISOString().slice(0, 19)}+0200`
  return `<rss version="2.0" xmlns:g="http://base.google.com/ns/1.0"><channel><title>Shop</title><item>
<g:id>tent</g:id><title>Tent</title><link>https://camp.example/tent</link>
<g:image_link>https://camp.example/tent.jpg</g:image_link><g:availability>in stock</g:availability>
<g:price>200.00 EUR</g:price><g:sale_price>150.00 EUR</g:sale_price>
<g:sale_price_effective_date>${local(from)}/${local(until)}</g:sale_price_effective_date>
</item></channel></rss>`
}

test('a sale of a Google feed begins and ends at its time, with no file in between', async () => {
  const { clock, advance } = shiftedClock()
  await using box = await openImports('products: { drop: ./products, preset: google-merchant }', { clock })
  const second = Math.ceil(clock.now() / 1000) * 1000
  await box.import('products', item({ from: second + hourMs, until: second + 2 * hourMs }))
  expect(await box.document('tent')).toMatchObject({ price: 200, price_currency_code: 'EUR' })
  expect(await box.document('tent')).not.toHaveProperty('list_price')
  await box.deliverAll()

  advance(hourMs + 1000)
  while ((await box.document('tent'))?.price !== 150) await new Promise(setImmediate)
  expect(await box.document('tent')).toMatchObject({ list_price: 200 })
  expect(await box.lane('tent')).toBe('urgent')
  await box.deliverAll()

  advance(hourMs)
  while ((await box.document('tent'))?.price !== 200) await new Promise(setImmediate)
  expect(await box.document('tent')).not.toHaveProperty('list_price')
  expect(box.failures).toEqual([])
})
