import { once } from 'node:events'
import net from 'node:net'
import fc from 'fast-check'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { openSandbox } from '../../src/sandbox/sandbox.ts'
import { waitFor } from '../support/events.ts'
import { basic, openTestSandbox, product, type TestSandbox, token } from './harness.ts'

let sandbox: TestSandbox
beforeAll(async () => {
  sandbox = await openTestSandbox()
})
beforeEach(async () => {
  await sandbox.send('POST', '/sandbox/reset')
})
afterAll(() => sandbox[Symbol.asyncDispose]())

interface ProductAnswer {
  product_id: string
  times: number
  receivedAt: string[]
  receivedAtMs: number[]
  document: unknown
}

describe('/sandbox/summary', () => {
  it('is empty at first', async () => {
    expect(await sandbox.summary()).toEqual({
      products: 0,
      documentsReceived: 0,
      documentsTaken: 0,
      calls: { total: 0, open: 0, byStatus: {} },
      bytes: 0,
      largestCallBytes: 0,
      overlapping: { count: 0, ids: [] },
      firstReceivedAt: null,
      lastReceivedAt: null,
      consents: expect.objectContaining({ total: 0 }),
      intent: { requests: 0 },
    })
  })

  it('counts products, documents, calls and bytes', async () => {
    const bodies = [[product('1'), product('2')], [product('2'), product('3', { price: null })], []]
    for (const body of bodies) await sandbox.upsert(body)
    const sizes = bodies.map((body) => Buffer.byteLength(JSON.stringify(body)))
    expect(await sandbox.summary()).toMatchObject({
      products: 2,
      documentsReceived: 4,
      documentsTaken: 3,
      calls: { total: 3, open: 0, byStatus: { '200': 2, '400': 1 } },
      bytes: sizes.reduce((sum, size) => sum + size),
      largestCallBytes: Math.max(...sizes),
    })
    const { firstReceivedAt, lastReceivedAt } = await sandbox.summary()
    expect(Date.parse(firstReceivedAt ?? '')).toBeLessThanOrEqual(Date.parse(lastReceivedAt ?? ''))
  })
})

describe('/sandbox/products/<id>', () => {
  it('shows the document and when it was received, the last hundred times', async () => {
    const before = performance.timeOrigin + performance.now()
    for (let price = 1; price <= 105; price += 1) await sandbox.upsert([product('1', { price })])
    const after = performance.timeOrigin + performance.now()
    const shown = (await sandbox.get('/sandbox/products/1')) as ProductAnswer
    expect(shown).toMatchObject({ product_id: '1', times: 105, document: product('1', { price: 105 }) })
    expect(shown.receivedAtMs).toHaveLength(100)
    expect(shown.receivedAtMs.toSorted((a, b) => a - b)).toEqual(shown.receivedAtMs)
    expect(shown.receivedAt).toEqual(shown.receivedAtMs.map((at) => new Date(at).toISOString()))
    // Two readings of the wall clock may differ by what it drifts from the monotonic one.
    expect(shown.receivedAtMs[0]).toBeGreaterThan(before - 10)
    expect(shown.receivedAtMs[99]).toBeLessThan(after + 10)
    expect(shown.receivedAtMs.some((at) => !Number.isInteger(at))).toBe(true)
  })

  it('finds any id', async () => {
    const ids = ['a/b', 'ä ö', '100%', '?x=1#y', '../..', 'x'.repeat(500), 'sum+mer', '__proto__', '%2F']
    await sandbox.upsert(ids.map((id) => product(id)))
    for (const id of ids) {
      for (const path of [
        `/sandbox/products/${encodeURIComponent(id)}`,
        `/sandbox/products?id=${encodeURIComponent(id)}`,
      ]) {
        expect(await sandbox.get(path), path).toMatchObject({ product_id: id, document: product(id) })
      }
    }
  })

  it('answers 404 for one that was never taken', async () => {
    const response = await fetch(`${sandbox.url}/sandbox/products/1`)
    expect(response.status).toBe(404)
    expect(await response.json()).toEqual({ message: 'no product "1" has been taken' })
  })
})

describe('all products', () => {
  it('come in pages and as lines', async () => {
    const sent = Array.from({ length: 250 }, (_, index) =>
      product(`P${index}`, { description: 'line\nbreak' }),
    )
    await sandbox.upsert(JSON.stringify(sent, null, 1).replaceAll('\n', '\r\n'))
    const page = await sandbox.get('/sandbox/products?offset=120&limit=3')
    expect(page).toEqual({
      total: 250,
      offset: 120,
      products: [120, 121, 122].map((index) => ({ product_id: `P${index}`, document: sent[index] })),
    })
    expect(((await sandbox.get('/sandbox/products')) as { products: unknown[] }).products).toHaveLength(100)
    expect(await sandbox.get('/sandbox/products?offset=250')).toMatchObject({ products: [] })
    const lines = (await (await fetch(`${sandbox.url}/sandbox/products.ndjson`)).text()).split('\n')
    expect(lines.pop()).toBe('')
    expect(lines.map((line) => JSON.parse(line))).toEqual(sent)
  })

  it('are forgotten on request', async () => {
    await sandbox.upsert([product('1')])
    await sandbox.send('DELETE', '/sandbox/products')
    expect(await sandbox.summary()).toMatchObject({ products: 0, calls: { total: 1 } })
    await sandbox.send('POST', '/sandbox/reset')
    expect(await sandbox.summary()).toMatchObject({ calls: { total: 0 } })
    expect(await sandbox.calls()).toEqual([])
  })
})

describe('/sandbox/calls', () => {
  it('shows each call, the first ids or all of them', async () => {
    const sent = Array.from({ length: 8 }, (_, index) => product(`P${index}`))
    await sandbox.upsert(sent)
    await sandbox.upsert([])
    const [first, second] = await sandbox.calls()
    expect(first).toEqual({
      id: expect.any(String),
      at: expect.stringMatching(/Z$/),
      atMs: expect.any(Number),
      durationMs: expect.any(Number),
      bytes: Buffer.byteLength(JSON.stringify(sent)),
      products: 8,
      ids: ['P0', 'P1', 'P2', 'P3', 'P4'],
      status: 200,
      end: 'answered',
      fault: null,
    })
    expect(second).toMatchObject({ products: 0, ids: [] })
    expect((await sandbox.calls('?ids=1'))[0]?.ids).toEqual(sent.map(({ product_id }) => product_id))
    expect((await sandbox.calls('?limit=1')).map(({ id }) => id)).toEqual([second?.id])
  })
})

describe('overlapping calls', () => {
  it('are found by the products that both hold', async () => {
    await sandbox.send('POST', '/sandbox/faults', { hang: true, calls: 1 })
    const hanging = await hangingCall([product('1'), product('2'), product('3')])
    await sandbox.upsert([product('2'), product('3'), product('4')])
    await sandbox.upsert([product('2'), product('4')])
    expect((await sandbox.summary()).overlapping).toEqual({ count: 2, ids: ['2', '3'] })
    hanging.abort()
    await hanging.ended
    await sandbox.upsert([product('1')])
    expect((await sandbox.summary()).overlapping.count).toBe(2)
  })

  it('are found when the first to begin is the last to be read', async () => {
    const body = JSON.stringify([product('1')])
    const socket = net.connect(Number(new URL(sandbox.url).port), '127.0.0.1')
    socket.write(
      `POST /v1/products/upsert HTTP/1.1\r\nhost: sandbox\r\nauthorization: ${basic(token)}\r\n` +
        `content-length: ${Buffer.byteLength(body)}\r\n\r\n${body.slice(0, 10)}`,
    )
    await waitFor(async () => (await sandbox.summary()).calls.open === 1)
    await sandbox.upsert([product('1')])
    socket.end(body.slice(10))
    await once(socket.resume(), 'close')
    expect(await sandbox.summary()).toMatchObject({
      documentsTaken: 2,
      overlapping: { count: 1, ids: ['1'] },
    })
  })

  it('are not calls one after another, answered or given up', async () => {
    const rounds = 60
    const faults = Array.from({ length: rounds }, (_, round) =>
      round % 3 === 0 ? { reset: 'after', calls: 1 } : { hang: true, calls: 1 },
    )
    await sandbox.send('POST', '/sandbox/faults', faults)
    for (let round = 0; round < rounds; round += 1) {
      if (round % 3 === 0) {
        await expect(sandbox.upsert([product('1')])).rejects.toThrow()
      } else {
        const hanging = await hangingCall([product('1')])
        // The next call begins at once: the sandbox may see its beginning before the end of this one.
        hanging.abort()
        await hanging.ended
      }
    }
    expect((await sandbox.summary()).overlapping).toEqual({ count: 0, ids: [] })
  })

  it('are not two mentions of a product in one call', async () => {
    await sandbox.upsert([product('1', { price: 1 }), product('1', { price: 2 })])
    expect((await sandbox.summary()).overlapping.count).toBe(0)
    expect(await sandbox.get('/sandbox/products/1')).toMatchObject({
      times: 2,
      document: product('1', { price: 2 }),
    })
  })
})

describe('the sandbox', () => {
  it('says what to do when its port is taken', async () => {
    const port = Number(new URL(sandbox.url).port)
    await expect(openSandbox({ port, productsToken: token })).rejects.toMatchObject({
      code: 'sandbox-listen',
      hint: expect.stringContaining('--port'),
    })
  })

  it('keeps every product apart, whatever bytes it is made of', async () => {
    const bytes = fc.string({
      unit: fc.constantFrom('"', '\\', '{', '}', '[', ']', ',', '\n', 'ä', '\u{1f600}', 'x'),
    })
    await fc.assert(
      fc.asyncProperty(fc.array(bytes, { minLength: 1 }), fc.nat(2), async (names, spaces) => {
        await sandbox.send('POST', '/sandbox/reset')
        const sent = names.map((name, index) =>
          product(`P${index}`, { name: `n${name}`, custom_fields: { [name || 'k']: name } }),
        )
        expect((await sandbox.upsert(JSON.stringify(sent, null, spaces))).status).toBe(200)
        expect(await sandbox.get('/sandbox/products?limit=1000')).toMatchObject({
          products: sent.map((document) => ({ document })),
        })
      }),
      { numRuns: 60 },
    )
  })
})

async function hangingCall(
  body: readonly unknown[],
): Promise<{ abort: () => void; ended: Promise<unknown> }> {
  const { documentsReceived } = await sandbox.summary()
  const controller = new AbortController()
  const ended = sandbox.upsert(body, { signal: controller.signal }).catch((error: unknown) => error)
  await waitFor(async () => (await sandbox.summary()).documentsReceived === documentsReceived + body.length)
  return { abort: () => controller.abort(), ended }
}
