import { once } from 'node:events'
import net from 'node:net'
import fc from 'fast-check'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { productFields } from '../../src/api/contract/product.ts'
import { arbitraryProduct, brokenValues } from '../api/contract/arbitrary-products.ts'
import { formatRequest, RawConnection } from '../support/raw-http.ts'
import { type Answer, basic, openTestSandbox, product, type TestSandbox, token } from './harness.ts'

let sandbox: TestSandbox
let strict: TestSandbox
beforeAll(async () => {
  sandbox = await openTestSandbox()
  strict = await openTestSandbox({ strict: true })
})
beforeEach(async () => {
  await sandbox.send('POST', '/sandbox/reset')
})
afterAll(async () => {
  await sandbox[Symbol.asyncDispose]()
  await strict[Symbol.asyncDispose]()
})

async function held(id: string): Promise<unknown> {
  return ((await sandbox.get(`/sandbox/products/${encodeURIComponent(id)}`)) as { document?: unknown })
    .document
}

function errorsOf(answer: Answer): { product_id: string; errors: string }[] {
  return (JSON.parse(answer.text) as { errors: { product_id: string; errors: string }[] }).errors
}

describe('credentials', () => {
  it.each([
    ['none', ''],
    ['another scheme', `Bearer ${token}`],
    ['a wrong token', basic('wrong')],
    ['a user name', basic(token, 'merchant')],
    ['no colon', `Basic ${Buffer.from(token).toString('base64')}`],
    ['the token and more', basic(`${token}:`)],
  ])('%s: 401, before the body is looked at', async (_, authorization) => {
    const answer = await sandbox.upsert('no JSON', { headers: { authorization } })
    expect(answer.status).toBe(401)
    expect(answer.headers.get('www-authenticate')).toMatch(/^Basic /)
    expect((await sandbox.summary()).calls.byStatus).toEqual({ '401': 1 })
  })

  it('a token with a colon, letters beyond ASCII and a lower-case scheme is understood', async () => {
    await using other = await openTestSandbox({ productsToken: 'a:b:ü' })
    const authorization = basic('a:b:ü').replace('Basic', 'basic')
    expect((await other.upsert([], { headers: { authorization } })).status).toBe(200)
  })

  it('an empty list tries a token', async () => {
    expect(await sandbox.upsert([])).toMatchObject({ status: 200, text: '{}' })
    expect((await sandbox.upsert([], { headers: { authorization: basic('no') } })).status).toBe(401)
  })
})

describe('a call', () => {
  it('is answered 200 {}, and its products are held as they were sent', async () => {
    const body = `[ ${JSON.stringify(product('1', { name: '"]},\\' }))} ,\n ${JSON.stringify(product('2'), null, 2)} ] `
    const answer = await sandbox.upsert(body)
    expect(answer).toMatchObject({ status: 200, text: '{}' })
    expect(answer.headers.get('content-type')).toMatch(/^application\/json/)
    expect(await held('1')).toEqual(product('1', { name: '"]},\\' }))
    const raw = await (await fetch(`${sandbox.url}/sandbox/products/2`)).text()
    expect(raw).toContain(JSON.stringify(product('2'), null, 2))
  })

  it.each([
    ['a trailing slash', '/v1/products/upsert/'],
    ['a merchant', '/v1/products/upsert?merchant-id=shop-1'],
    ['both', '/v1/products/upsert/?merchant-id=shop-1'],
  ])('may have %s in its address, and unknown headers', async (_, path) => {
    expect((await sandbox.upsert([product('1')], { path, headers: { 'x-shop-account': 'a' } })).status).toBe(
      200,
    )
  })

  it.each(['text/plain', 'application/x-www-form-urlencoded', 'no media type;;'])(
    'may have the content type %s unless strict',
    async (contentType) => {
      const headers = { 'content-type': contentType }
      expect((await sandbox.upsert([product('1')], { headers })).status).toBe(200)
      expect((await strict.upsert([product('1')], { headers })).status).toBe(415)
    },
  )

  it('may have no content type', async () => {
    const body = JSON.stringify([product('1')])
    const answer = await rawCall(
      `content-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`,
    )
    expect(answer).toMatch(/^HTTP\/1\.1 200 /)
    expect(await held('1')).toEqual(product('1'))
  })

  it.each([
    ['', /empty/],
    ['[{"product_id":', /not JSON/],
    ['{"product_id":"1"}', /single JSON object.*array/],
    ['"text"', /a JSON string/],
    ['null', /null/],
    [new Uint8Array([0x5b, 0x22, 0xff, 0x22, 0x5d]), /UTF-8/],
  ])('with the body %j is answered 400 with what to do', async (body, message) => {
    const answer = await sandbox.upsert(body)
    expect(answer.status).toBe(400)
    expect(JSON.parse(answer.text)).toEqual({
      type: 'invalid_request',
      message: expect.stringMatching(message),
    })
  })

  it('carries x-request-id in every answer, the id of its line in the call log', async () => {
    const answers = [
      await sandbox.upsert([product('1')]),
      await sandbox.upsert([], { headers: { authorization: '' } }),
      await sandbox.upsert('x', { headers: { 'x-request-id': 'of the sender' } }),
      await sandbox.upsert([product('1', { price: 'x' })]),
    ]
    const ids = answers.map(({ headers }) => headers.get('x-request-id'))
    expect(new Set(ids).size).toBe(4)
    expect((await sandbox.calls()).map(({ id }) => id)).toEqual(ids)
    for (const path of ['/sandbox/summary', '/nowhere']) {
      expect((await fetch(sandbox.url + path)).headers.get('x-request-id')).toMatch(/\S/)
    }
  })
})

describe('a call above the limit', () => {
  it('is answered 413, and one of exactly the limit is taken', async () => {
    await using small = await openTestSandbox({ callBytesMax: 1000 })
    const empty = Buffer.byteLength(JSON.stringify([product('1', { description: '' })]))
    const fitting = [
      product('1', { description: 'ü'.repeat((1000 - empty) >> 1).padEnd((1000 - empty + 1) >> 1, 'x') }),
    ]
    const body = Buffer.from(JSON.stringify(fitting))
    const exact = Buffer.concat([body, Buffer.alloc(1000 - body.length, 0x20)])
    expect(exact.length).toBe(1000)
    expect((await small.upsert(exact)).status).toBe(200)
    const answer = await small.upsert(Buffer.concat([exact, Buffer.from(' ')]))
    expect(answer.status).toBe(413)
    expect(answer.text).toContain('1000 bytes')
    expect(await small.summary()).toMatchObject({ largestCallBytes: 1001, documentsTaken: 1 })
  })

  it('is not read for ever', async () => {
    const socket = await connect(sandbox)
    // The sandbox closes the connection under the sender, which sees EPIPE or ECONNRESET.
    socket.on('error', () => {})
    socket.resume()
    const closed = new Promise((resolve) => socket.once('close', resolve))
    socket.write(`${head()}transfer-encoding: chunked\r\n\r\n`)
    const chunk = Buffer.concat([
      Buffer.from('100000\r\n'),
      Buffer.alloc(0x100000, 0x20),
      Buffer.from('\r\n'),
    ])
    let sentBytes = 0
    const sending = (async () => {
      while (!socket.destroyed) {
        sentBytes += chunk.length
        if (!socket.write(chunk))
          await Promise.race([new Promise((resolve) => socket.once('drain', resolve)), closed])
      }
    })()
    await closed
    await sending
    // What the kernel buffers on both sides comes on top of five times the limit.
    expect(sentBytes).toBeLessThan(60_000_000)
    expect((await sandbox.summary()).calls.byStatus).toEqual({ '413': 1 })
  })
})

describe('a partly failed call', () => {
  it('is answered 400 with the errors as JSON under a text content type, and the others are taken', async () => {
    const { image_url: _, ...withoutImage } = product('2')
    const answer = await sandbox.upsert([
      product('1'),
      withoutImage,
      product('3', { price: '1' }),
      product('4'),
    ])
    expect(answer.status).toBe(400)
    expect(answer.headers.get('content-type')).toBe('text/plain; charset=utf-8')
    expect(JSON.parse(answer.text)).toEqual({
      type: 'has_errors',
      message: 'Failed to upsert some products; see errors',
      errors: [
        { product_id: '2', errors: 'image_url field is missing (imageUrl), ' },
        { product_id: '3', errors: expect.stringMatching(/^price: found the text "1", .*, $/) },
      ],
    })
    expect(await sandbox.summary()).toMatchObject({ products: 2, documentsReceived: 4, documentsTaken: 2 })
  })

  it('names a product without an id by an empty one, and shows no supplier cost', async () => {
    const answer = await sandbox.upsert([3, product('', { supplier_cost: '47.11' })])
    expect(errorsOf(answer).map(({ product_id }) => product_id)).toEqual(['', ''])
    expect(answer.text).not.toContain('47.11')
  })
})

describe('what other clients send', () => {
  it.each([
    ['numbers as ids', product(7)],
    ['numbers as rating and count', product('7', { rating_value: 4.5, review_count: 12 })],
    ['an empty list of variations', product('7', { variations: [] })],
    ['names in snake case', product('7', { category_ids: ['1'], parent_category_ids: ['2'] })],
    [
      'further fields',
      product('7', { gtin: '1', condition: 'new', thumb_url: 'x', unit_pricing_measure: 1 }),
    ],
    ['further fields inside', product('7', { skus: [{ id: '1', gtin: '2' }] })],
    ['numbers as ids of SKUs', product('7', { skus: [{ id: 12 }] })],
    ['numbers as ids of categories', product('7', { categoryIds: [3] })],
    ['numbers as ids of parents', product('7', { parentCategoryIds: [3] })],
    ['numbers in snake case', product('7', { parent_category_ids: [3] })],
    ['a number as the id of a variation', product('7', { variation_id: 3 })],
    ['numbers as tags', product('7', { tag1: [1, 'b'] })],
    ['scalars as custom fields', product('7', { custom_fields: { a: 1, b: true, c: 'd' } })],
    ['scalars as custom fields of SKUs', product('7', { skus: [{ custom_fields: { a: 1.5 } }] })],
    ['null for an optional field', product('7', { brand: null })],
    ['null for a list', product('7', { skus: null })],
    ['null for an amount', product('7', { list_price: null })],
    ['null for a field of a SKU', product('7', { skus: [{ id: '1', price: null }] })],
    ['null for a field of a variation', product('7', { variations: { EU: { price: null } } })],
    ['null for a custom field', product('7', { custom_fields: { a: null } })],
  ])('%s: tolerated, unless strict', async (_, sent) => {
    expect((await sandbox.upsert([sent])).status).toBe(200)
    expect(await held('7')).toEqual(sent)
    const refused = await strict.upsert([sent])
    expect(refused.status).toBe(400)
    expect(errorsOf(refused)).toHaveLength(1)
  })

  it('null for a required field: missing', async () => {
    for (const server of [sandbox, strict]) {
      const [error] = errorsOf(await server.upsert([product('7', { image_url: null })]))
      expect(error).toEqual({ product_id: '7', errors: 'image_url field is missing (imageUrl), ' })
    }
  })

  it('is still checked where it is tolerated', async () => {
    const sent = product('7', {
      tag1: [true],
      categoryIds: [{}],
      custom_fields: { a: [1] },
      skus: [
        { id: true },
        { custom_fields: { b: {} } },
        null,
        JSON.parse('{"custom_fields":{"__proto__":1}}'),
      ],
    })
    const [error] = errorsOf(await sandbox.upsert([sent]))
    const places = [
      'tag1[0]',
      'categoryIds[0]',
      'custom_fields.a',
      'skus[0].id',
      'skus[1].custom_fields.b',
      'skus[2]',
      'skus[3].custom_fields.__proto__',
    ]
    for (const place of places) expect(error?.errors).toContain(`${place}: `)
  })

  it('is still checked', async () => {
    const sent = product('7', { gtin: '1', review_count: 1.5, category_ids: 'a', variations: ['EU'] })
    const [error] = errorsOf(await sandbox.upsert([sent]))
    for (const field of ['review_count', 'categoryIds', 'variations'])
      expect(error?.errors).toContain(`${field}: `)
    expect(error?.errors).not.toContain('gtin')
  })
})

describe('any product', () => {
  it('that the contract allows is taken and held, whatever it holds', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(arbitraryProduct, { selector: (one) => one.product_id }),
        async (sent) => {
          await strict.send('POST', '/sandbox/reset')
          const answer = await strict.upsert(sent)
          expect(answer).toMatchObject({ status: 200, text: '{}' })
          const lines = (await (await fetch(`${strict.url}/sandbox/products.ndjson`)).text())
            .split('\n')
            .slice(0, -1)
          expect(lines.map((line) => JSON.parse(line))).toEqual(JSON.parse(JSON.stringify(sent)))
        },
      ),
      { numRuns: 60 },
    )
  })

  it('with one broken field is refused, naming it, and its neighbours are taken', async () => {
    const broken = fc
      .constantFrom(...productFields)
      .chain((field) => fc.constantFrom(...brokenValues[field]).map((value) => ({ field, value })))
    await fc.assert(
      fc.asyncProperty(arbitraryProduct, broken, async (sent, { field, value }) => {
        await strict.send('POST', '/sandbox/reset')
        const answer = await strict.upsert([product('before'), { ...sent, [field]: value }, product('after')])
        expect(answer.status).toBe(400)
        const errors = errorsOf(answer)
        expect(errors).toHaveLength(1)
        expect(errors[0]?.errors).toContain(field)
        expect(await strict.get('/sandbox/summary')).toMatchObject({ products: 2 })
      }),
      { numRuns: 150 },
    )
  })
})

it('calls that wait for their turn on one connection are no leak of listeners', async () => {
  const warnings: string[] = []
  const onWarning = ({ message }: Error) => warnings.push(message)
  process.on('warning', onWarning)
  try {
    await using connection = await RawConnection.open(sandbox.url)
    await sandbox.send('POST', '/sandbox/faults', { slow: 50, calls: 30 })
    const body = JSON.stringify([product('1')])
    const headers = [['authorization', basic(token)]] as const
    const call = formatRequest({ method: 'POST', target: '/v1/products/upsert', headers, body })
    connection.write(Buffer.concat(Array.from({ length: 30 }, () => call)))
    for (let answered = 0; answered < 30; answered += 1) {
      expect(await connection.answer()).toMatchObject({ status: 200 })
    }
  } finally {
    process.off('warning', onWarning)
  }
  expect(warnings).toEqual([])
})

function head(): string {
  return `POST /v1/products/upsert HTTP/1.1\r\nhost: sandbox\r\nauthorization: ${basic(token)}\r\n`
}

async function connect({ url }: TestSandbox): Promise<net.Socket> {
  const socket = net.connect(Number(new URL(url).port), '127.0.0.1')
  await once(socket, 'connect')
  return socket
}

async function rawCall(rest: string): Promise<string> {
  const socket = await connect(sandbox)
  socket.setEncoding('utf8')
  let text = ''
  socket.on('data', (part: string) => {
    text += part
  })
  socket.write(head() + rest)
  await once(socket, 'close')
  return text
}
