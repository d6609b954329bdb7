import { afterEach, beforeEach, expect, test } from 'vitest'
import { waitFor } from '../support/events.ts'
import { leakCheck } from '../support/leak-check.ts'
import { productsToken, Site } from './site.ts'
import { expectedDocuments, productId, versionFile } from './versions.ts'

const leaks = leakCheck()
beforeEach(leaks.remember)
afterEach(leaks.check)

const products = 1_000
const poison = productId(500)
/** All products of the test in one call. */
const delivery = '{ callBytes: 2MB, concurrency: 4, timeout: 5s, horizon: 1s, callsPerSecond: 200 }'

/** A daemon that has imported a file of products and is about to send all of them. */
async function openLoaded(): Promise<Site> {
  const site = await Site.open({ delivery })
  await site.start()
  await site.run('pause')
  await site.drop('v1_full.csv', versionFile(1, products))
  await waitFor(async () => (await site.work()).pending === products)
  return site
}

function withoutPoison(version: number) {
  const expected = expectedDocuments(version, products)
  expected.delete(poison)
  return expected
}

test('one product that is refused unnamed among 1,000 costs at most 2⌈log₂ n⌉+1 further calls', async () => {
  await using site = await openLoaded()
  await site.fault({ refuse: 'unnamed', productIds: [poison], reason: 'spoilt' })
  await site.run('resume')
  await site.untilQuiet()
  await site.expectDocuments(withoutPoison(1))
  const calls = (await site.calls()).filter((call) => call.products > 0)
  expect(calls[0]?.products).toBe(products)
  expect(calls.length - 1).toBeLessThanOrEqual(2 * Math.ceil(Math.log2(products)) + 1)
  expect(await site.run('dead', 'list', '--json')).toContain('spoilt')
  expect(await site.run('dead', 'list', '--json')).toContain(poison)
})

test('one product that is refused by name costs only the resend, and a newer document revives it', async () => {
  await using site = await openLoaded()
  await site.fault({ refuse: 'named', productIds: [poison], reason: 'image_url field is missing' })
  await site.run('resume')
  await site.untilQuiet()
  await site.expectDocuments(withoutPoison(1))
  expect((await site.calls()).filter((call) => call.products > 0).map((call) => call.products)).toEqual([
    products,
    products - 1,
  ])
  expect(await site.run('dead', 'list', '--json')).toContain('image_url field is missing')
  await site.clearFaults()
  await site.drop('v1-again_full.csv', versionFile(1, products))
  await site.untilQuiet()
  // The very document that was refused is not sent again.
  expect(await site.taken(poison)).toBeUndefined()
  await site.drop('poison_delta.csv', `product_id,price\n${poison},99\n`)
  await site.untilQuiet()
  expect((await site.taken(poison))?.document.price).toBe(99)
  expect((await site.work()).dead).toBe(0)
})

test('a dead letter that was dropped stays dropped when Redis is wiped, until a newer document comes', async () => {
  await using site = await openLoaded()
  await site.fault({ refuse: 'named', productIds: [poison], reason: 'image_url field is missing' })
  await site.run('resume')
  await site.untilQuiet()
  expect((await site.work()).dead).toBe(1)
  await site.run('dead', 'drop', poison)
  expect(await site.work()).toMatchObject({ dead: 0, pending: 0 })
  await site.redis.flushall()
  await site.untilQuiet()
  await waitFor(async () => (await site.work()).dead === 0, { what: 'the decision again' })
  await site.expectDocuments(withoutPoison(1))
  await site.clearFaults()
  await site.drop('poison_delta.csv', `product_id,price\n${poison},99\n`)
  await site.untilQuiet()
  expect((await site.taken(poison))?.document.price).toBe(99)
})

test('an endpoint that refuses everything pauses the catalog: nothing is buried, and resume goes on', async () => {
  await using site = await openLoaded()
  await site.fault({ status: 400, body: 'no' })
  await site.run('resume')
  await site.untilPaused('refuses-everything')
  // The mirror hears a moment later that they were taken back.
  await waitFor(async () => (await site.work()).dead === 0)
  expect(await site.work()).toMatchObject({ dead: 0, pending: products })
  await site.clearFaults()
  await site.run('resume')
  await site.untilQuiet()
  expect((await site.work()).dead).toBe(0)
  await site.expectDocuments(expectedDocuments(1, products))
})

test('a wrong token stops the line, and the right one in its file starts it again', async () => {
  await using site = await Site.open({ delivery, token: 'wrong' })
  await site.start()
  await site.drop('v1_full.csv', versionFile(1, products))
  await waitFor(async () => (await site.work().catch(() => undefined))?.pending === products)
  await site.untilPaused('credentials')
  const { total } = (await site.summary()).calls
  await site.drop('v2_full.csv', versionFile(2, products))
  await site.untilAccepted()
  expect((await site.calls()).slice(total).filter((call) => call.products > 0)).toEqual([])
  await site.writeToken(productsToken)
  await site.untilQuiet()
  expect((await site.work()).dead).toBe(0)
  await site.expectDocuments(expectedDocuments(2, products))
})

test('a 413 that was wrong leaves calls of 64 KiB at least, and resume makes them whole again', async () => {
  await using site = await openLoaded()
  await site.fault({ status: 413, overBytes: 70_000 })
  await site.run('resume')
  await site.untilQuiet()
  await site.expectDocuments(expectedDocuments(1, products))
  await site.clearFaults()
  const limit = async () => await site.redis.hget('catalogd:{main}:2:pace', 'bodyBytes')
  expect(Number(await limit())).toBeGreaterThanOrEqual(65_536)
  await site.run('resume')
  expect(await limit()).toBeNull()
  expect((await site.work()).dead).toBe(0)
})

test.each([
  ['a login page', '<!doctype html><title>Log in</title>', 'text/html', 'a web page (Log in)'],
  ['another server', { ok: true }, 'application/json', '{"ok":true}'],
])(
  '%s that answers 200 to everything takes nothing; the right one gets all',
  async (_, body, type, words) => {
    await using site = await openLoaded()
    await site.fault({ status: 200, body, headers: { 'content-type': type } })
    await site.run('resume')
    await waitFor(async () => (await site.summary()).calls.total >= 2)
    expect(await site.work()).toMatchObject({ pending: products, dead: 0 })
    expect(await site.redis.hget('catalogd:{main}:2:pace', 'lastFailure')).toContain(
      JSON.stringify(words).slice(1, -1),
    )
    await site.clearFaults()
    await site.untilQuiet()
    await site.expectDocuments(expectedDocuments(1, products))
  },
)
