import { expect, test } from 'vitest'
import { shiftedClock } from '../support/shifted-clock.ts'
import { openImports } from './harness.ts'

const hourMs = 3_600_000

interface Sale {
  from: number
  until: number
}

function rss(...items: readonly string[]): string {
  return `<rss version="2.0" xmlns:g="http://base.google.com/ns/1.0"><channel><title>Shop</title>
${items.join('\n')}</channel></rss>`
}

function itemOf(id: string, { from, until }: Sale): string {
  // As shops write it: with the offset of the shop, and no colon in it.
  const local = (time: number) => `${new Date(time + 2 * hourMs).toISOString().slice(0, 19)}+0200`
  return `<item>
<g:id>${id}</g:id><title>Tent</title><link>https://camp.example/tent</link>
<g:image_link>https://camp.example/tent.jpg</g:image_link><g:availability>in stock</g:availability>
<g:price>200.00 EUR</g:price><g:sale_price>150.00 EUR</g:sale_price>
<g:sale_price_effective_date>${local(from)}/${local(until)}</g:sale_price_effective_date>
</item>`
}

test('a sale of a Google feed begins and ends at its time, with no file in between', async () => {
  const { clock, advance } = shiftedClock()
  await using box = await openImports('products: { drop: ./products, preset: google-merchant }', { clock })
  const second = Math.ceil(clock.now() / 1000) * 1000
  await box.import('products', rss(itemOf('tent', { from: second + hourMs, until: second + 2 * hourMs })))
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

test('prices that a file announces for later count for changes.atMost, once', async () => {
  const { clock } = shiftedClock()
  const watched =
    'products: { drop: ./products, preset: google-merchant, changes: { atMost: { urgent: 50% } } }'
  await using box = await openImports(watched, { clock })
  const second = Math.ceil(clock.now() / 1000) * 1000
  const past = { from: second - 2 * hourMs, until: second - hourMs }
  const later = { from: second + hourMs, until: second + 2 * hourMs }
  const ids = Array.from({ length: 20 }, (_, at) => `t${at}`)
  const feedOf = (announced: number) =>
    rss(...ids.map((id, index) => itemOf(id, index < announced ? later : past)))
  expect(await box.import('products', feedOf(0))).toMatchObject({ outcome: 'imported' })
  expect(await box.import('products', feedOf(10))).toMatchObject({ outcome: 'imported' })
  // Ten of them are announced already.
  expect(await box.import('products', feedOf(20))).toMatchObject({ outcome: 'imported' })
  expect(await box.import('products', feedOf(0))).toMatchObject({ outcome: 'imported' })
  const held = await box.import('products', feedOf(11))
  expect(held).toMatchObject({
    outcome: 'held',
    reason: "it changes 11 of the feed's 20 products (urgent), more than changes.atMost.urgent (50%)",
  })
  await box.approve(held.sequence, 'products')
  expect(await box.import('products', feedOf(11))).toMatchObject({ outcome: 'imported' })
})
