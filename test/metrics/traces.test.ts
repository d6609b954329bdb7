import { once } from 'node:events'
import { readFile, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { Workplace } from '../acceptance/daemon.ts'
import { waitFor } from '../support/events.ts'

// A daemon that sends its traces to a receiver of OTLP/HTTP.

interface ReceivedSpan {
  traceId: string
  spanId: string
  parentSpanId?: string
  name: string
  startTimeUnixNano: string
  endTimeUnixNano: string
  attributes: { key: string; value: Record<string, string | number> }[]
  status?: { code?: number }
}

interface Export {
  resourceSpans: { scopeSpans: { spans: ReceivedSpan[] }[] }[]
}

const feeds = `feeds:
  shop: { drop: ./drop/shop, files: "*.csv", settle: 0s }
`
const header = 'product_id,name,url,image_url,availability,price,price_currency_code,list_price'
const row = (id: string, price: string) =>
  `${id},Lamp,https://shop.example/p,https://shop.example/i.jpg,InStock,${price},EUR,12`

let workplace: Workplace
let receiver: Server
const spans: ReceivedSpan[] = []
const bodies: string[] = []
const secrets: (string | undefined)[] = []

beforeAll(async () => {
  receiver = createServer(async (request, response) => {
    const body = await text(request)
    bodies.push(body)
    secrets.push(request.headers['x-key'] as string | undefined)
    const { resourceSpans } = JSON.parse(body) as Export
    spans.push(...resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap((scope) => scope.spans)))
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}')
  }).listen(0, '127.0.0.1')
  await once(receiver, 'listening')
  const { port } = receiver.address() as AddressInfo
  workplace = await Workplace.open(feeds)
  const config = workplace.path('catalogd.yaml')
  const traces = `traces: { url: "http://127.0.0.1:${port}/v1/traces", headers: { x-key: secret-key } }`
  await writeFile(config, `${traces}\n${await readFile(config, 'utf8')}`)
  await workplace.start()
}, 300_000)
afterAll(async () => {
  await workplace?.[Symbol.asyncDispose]()
  receiver.closeAllConnections()
  receiver.close()
})

it('tells the way of a file from its acceptance to the acknowledgement', async () => {
  await workplace.drop(
    'shop',
    'anna@person.example.csv',
    `${[header, row('sku-4711', '10'), row('b', 'x')].join('\n')}\n`,
  )
  await workplace.untilTaken('sku-4711', 1)
  const named = (name: string) => spans.filter((span) => span.name === name)
  await waitFor(() => named('file').length > 0, { withinMs: 120_000, what: () => JSON.stringify(spans) })
  const [file] = named('file')
  const inside = spans.filter((span) => span.parentSpanId === file?.spanId)
  expect(inside.map(({ name }) => name).sort()).toEqual(['accept', 'call', 'import'])
  expect(new Set(spans.map(({ traceId }) => traceId)).size).toBe(1)
  const attributes = (span: ReceivedSpan | undefined) =>
    Object.fromEntries(span?.attributes.map(({ key, value }) => [key, Object.values(value)[0]]) ?? [])
  expect(attributes(file)).toMatchObject({
    ...{ 'catalogd.catalog': 'main', 'catalogd.feed': 'shop', 'catalogd.import': 1 },
    ...{ 'catalogd.outcome': 'imported', 'catalogd.records': 2, 'catalogd.rejected': 1 },
  })
  expect(attributes(named('call')[0])).toMatchObject({
    ...{ 'catalogd.outcome': 'acknowledge', 'catalogd.products': 1, 'http.response.status_code': 200 },
  })
  // One after another, and the whole lasts until the last acknowledgement.
  const [accept, imported, call] = ['accept', 'import', 'call'].map((name) => named(name)[0])
  const at = (time: string | undefined) => BigInt(time ?? 0)
  expect(at(accept?.startTimeUnixNano)).toBe(at(file?.startTimeUnixNano))
  expect(at(imported?.startTimeUnixNano)).toBe(at(accept?.endTimeUnixNano))
  expect(at(call?.startTimeUnixNano)).toBeGreaterThanOrEqual(at(imported?.startTimeUnixNano))
  expect(at(file?.endTimeUnixNano)).toBeGreaterThanOrEqual(at(call?.endTimeUnixNano))
  expect(secrets[0]).toBe('secret-key')
  expect(bodies.join()).not.toMatch(/4711|person\.example/)
})
