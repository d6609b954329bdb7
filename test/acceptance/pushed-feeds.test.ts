import { appendFile } from 'node:fs/promises'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openWebhook } from '../alerts/webhook-server.ts'
import { waitFor } from '../support/events.ts'
import { leakCheck } from '../support/leak-check.ts'
import { RawConnection } from '../support/raw-http.ts'
import { freePort } from '../support/redis-server.ts'
import { Workplace } from './daemon.ts'

const leaks = leakCheck()
beforeEach(leaks.remember)
afterEach(leaks.check)

const catalog = `
feeds:
  products:
    drop: ./drop/products
    files: "*.csv"
    mode: delta
    settle: 0s
    expectEvery: 1s
    fields: { product_id: sku, name: title, url: link, image_url: link, availability: { value: InStock }, price: price, price_currency_code: { value: EUR } }
`
const token = 'push-token'

/** A workplace whose daemon has a console, and a webhook for its alerts. */
async function openPlace() {
  const stack = new AsyncDisposableStack()
  const place = stack.use(await Workplace.open(catalog))
  const webhook = stack.use(await openWebhook())
  const port = await freePort()
  await appendFile(
    place.path('catalogd.yaml'),
    `console: { listen: "127.0.0.1:${port}", token: ${token} }\nalerts: { url: "${webhook.url}" }\n`,
  )
  const url = `http://127.0.0.1:${port}`
  const push = async (body: string, headers: Record<string, string> = {}) => {
    const answer = await fetch(`${url}/feeds/products`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, ...headers },
      body,
    })
    return { status: answer.status, body: (await answer.json()) as { sequence?: number; error?: string } }
  }
  const health = async () => {
    const answer = await fetch(`${url}/health`)
    return { code: answer.status, ...((await answer.json()) as { parts: Record<string, string> }) }
  }
  return { place, webhook, url, push, health, [Symbol.asyncDispose]: () => stack.disposeAsync() }
}

function record(sku: string, price: number) {
  return { sku, title: `Product ${sku}`, link: `https://shop.example/${sku}`, price }
}

describe('the console of a daemon', () => {
  it('takes files and JSON arrays by the mapping of the feed, and delivers them', async () => {
    await using site = await openPlace()
    const { place, push } = site
    await place.start()
    const json = { 'content-type': 'application/json' }
    const sent = [
      await push('sku,title,link,price\n1,One,https://shop.example/1,9.5\n'),
      await push(JSON.stringify([record('2', 5), record('3', 7)]), { ...json, 'idempotency-key': 'a' }),
      await push(JSON.stringify([record('2', 5), record('3', 7)]), { ...json, 'idempotency-key': 'a' }),
    ]
    expect(sent.map(({ status, body }) => [status, body.sequence])).toEqual([
      [202, 1],
      [202, 2],
      [202, 2],
    ])
    for (const id of ['1', '2', '3']) await place.untilTaken(id, 1)
    const documents = await place.documents()
    expect(['1', '2', '3'].map((id) => documents.get(id)?.price)).toEqual([9.5, 5, 7])
    expect(await site.health()).toEqual({
      ...{ code: 200, status: 'ok', parts: { redis: 'ok', disk: 'ok', intake: 'active', calls: 'ok' } },
    })
  })

  it('lets a push that is being received end, and another daemon go on', async () => {
    await using site = await openPlace()
    const { place } = site
    const first = await place.start()
    const second = await place.start({ standsBy: true })
    await place.untilLogged(second, 'another process uses the port')
    const body = 'sku,title,link,price\n1,One,https://shop.example/1,9.5\n'
    await using slow = await RawConnection.open(site.url)
    slow.write(
      `POST /feeds/products HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${token}\r\nContent-Length: ${body.length}\r\n\r\nsku,`,
    )
    // Answered by the same daemon, so the one above has begun there.
    expect((await site.health()).code).toBe(200)
    const ended = first.kill('SIGTERM')
    slow.write(body.slice(4))
    expect((await slow.answer())?.status).toBe(202)
    await ended
    await place.untilLogged(second, 'the console listens')
    await place.untilTaken('1', 1)
    const again = await waitFor(async () => {
      const answer = await site.push(body)
      return answer.status === 202 ? answer : undefined
    })
    expect(again.body.sequence).toBe(2)
  })

  it('tells the webhook what needs an operator, and the command sends a test', async () => {
    await using site = await openPlace()
    const { place, webhook } = site
    const test = await place.runHere('alert', 'test')
    expect([test.code, webhook.taken[0]?.kind]).toEqual([0, 'test'])
    expect(test.stdout).not.toContain('s3cret')
    webhook.answers.push(404)
    const refused = await place.runHere('alert', 'test')
    expect([refused.code, refused.stderr]).toEqual([3, expect.stringMatching(/webhook at \S+ answers 404/)])
    const daemon = await place.start()
    // Cut off: nothing of it is applied.
    await place.drop('products', 'a.csv', 'sku,title\n1,"never closed\n')
    const failed = await webhook.until('failed', 'firing')
    expect(failed).toMatchObject({ subject: 'products', feed: 'products', catalog: 'main' })
    expect(daemon.stderr).not.toContain('s3cret')
    // The file that failed is the last that came.
    await webhook.until('stale', 'firing', 'products')
    const { stdout } = await place.runHere('status')
    expect(stdout).toMatch(/no file for \d+ s, one is expected every 1 s/)
  })
})
