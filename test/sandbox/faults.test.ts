import { once } from 'node:events'
import net from 'node:net'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { waitFor } from '../support/events.ts'
import { type Answer, basic, openTestSandbox, product, type TestSandbox, token } from './harness.ts'

let sandbox: TestSandbox
let unanswered: { call: Promise<unknown>; abort: () => void }[] = []
beforeAll(async () => {
  sandbox = await openTestSandbox()
})
beforeEach(async () => {
  await sandbox.send('POST', '/sandbox/reset')
})
afterEach(async () => {
  for (const { abort } of unanswered) abort()
  await Promise.all(unanswered.map(({ call }) => call))
  unanswered = []
})
afterAll(() => sandbox[Symbol.asyncDispose]())

async function setFaults(...faults: object[]): Promise<void> {
  const answer = await sandbox.send('POST', '/sandbox/faults', faults)
  expect(answer).toMatchObject({ status: 200 })
}

async function statuses(bodies: readonly unknown[]): Promise<number[]> {
  const answers: Answer[] = []
  for (const body of bodies) answers.push(await sandbox.upsert(body))
  return answers.map(({ status }) => status)
}

/** Starts a call that may never be answered, and waits until the sandbox has read it. */
async function startCall(body: readonly unknown[]): Promise<{ call: Promise<unknown>; abort: () => void }> {
  const { documentsReceived } = await sandbox.summary()
  const controller = new AbortController()
  const call = sandbox.upsert(body, { signal: controller.signal }).catch((error: unknown) => error)
  const started = { call, abort: () => controller.abort() }
  unanswered.push(started)
  await waitFor(async () => (await sandbox.summary()).documentsReceived >= documentsReceived + body.length)
  return started
}

async function heldPrice(id: string): Promise<unknown> {
  const answer = (await sandbox.get(`/sandbox/products/${id}`)) as { document?: { price: unknown } }
  return answer.document?.price
}

async function openCalls(): Promise<number> {
  return (await sandbox.summary()).calls.open
}

describe('a status fault', () => {
  it('answers with its status, body and headers for the next calls, and takes nothing', async () => {
    await setFaults({
      status: 503,
      body: 'down for a while',
      headers: { 'Retry-After': 7, 'X-A': 'b' },
      calls: 2,
    })
    const answer = await sandbox.upsert([product('1')])
    expect(answer).toMatchObject({ status: 503, text: 'down for a while' })
    expect(answer.headers.get('retry-after')).toBe('7')
    expect(answer.headers.get('x-a')).toBe('b')
    expect(answer.headers.get('x-request-id')).toMatch(/\S/)
    expect(await statuses([[product('1')], []])).toEqual([503, 200])
    expect(await sandbox.summary()).toMatchObject({
      products: 0,
      calls: { byStatus: { '503': 2, '200': 1 } },
    })
  })

  it('can be a 429 with either form of Retry-After', async () => {
    const date = new Date(Date.now() + 5000).toUTCString()
    await setFaults(
      { status: 429, headers: { 'retry-after': '5' }, calls: 1 },
      { status: 429, headers: { 'retry-after': date }, calls: 1 },
    )
    const answers = [await sandbox.upsert([]), await sandbox.upsert([])]
    expect(answers.map(({ status, headers }) => [status, headers.get('retry-after')])).toEqual([
      [429, '5'],
      [429, date],
    ])
  })

  it('has a body of JSON or of its own', async () => {
    await setFaults({ status: 500, calls: 1 }, { status: 400, body: { errors: ['a'] } })
    expect(JSON.parse((await sandbox.upsert([])).text)).toMatchObject({ type: 'fault' })
    const answer = await sandbox.upsert([])
    expect(answer.headers.get('content-type')).toMatch(/^application\/json/)
    expect(JSON.parse(answer.text)).toEqual({ errors: ['a'] })
  })

  it('can take the products all the same', async () => {
    await setFaults({ status: 500, apply: 'before' })
    expect(await statuses([[product('1')]])).toEqual([500])
    expect(await heldPrice('1')).toBe(12.5)
  })

  it('refuses bodies above a limit of its own', async () => {
    await setFaults({ status: 413, overBytes: 500 })
    const small = [product('1')]
    const large = [product('1', { description: 'x'.repeat(500) })]
    expect(await statuses([small, large, []])).toEqual([200, 413, 200])
  })

  it('refuses content and not the probe of a token, or the other way round', async () => {
    await setFaults({ status: 403, content: true }, { status: 401, content: false, calls: 1 })
    expect(await statuses([[], [], [product('1')], []])).toEqual([401, 200, 403, 200])
  })

  it('comes after the check of credentials', async () => {
    await setFaults({ status: 500 })
    expect((await sandbox.upsert([], { headers: { authorization: basic('wrong') } })).status).toBe(401)
  })
})

describe('a poison product', () => {
  it('sinks the calls that hold it, unnamed', async () => {
    await setFaults({ refuse: 'unnamed', productIds: ['bad', 5], reason: 'something is wrong' })
    expect(
      await statuses([[product('1'), product('bad')], [product('2'), product('5')], [product('3')]]),
    ).toEqual([400, 400, 200])
    const answer = await sandbox.upsert([product('bad')])
    expect(JSON.parse(answer.text)).toEqual({ type: 'has_errors', message: 'something is wrong' })
    expect(await sandbox.summary()).toMatchObject({ products: 1 })
  })

  it('is named, and its neighbours are taken', async () => {
    await setFaults({ refuse: 'named', productIds: ['bad'], reason: 'not today' })
    const answer = await sandbox.upsert([product('1'), product('bad'), product('2', { price: null })])
    expect(answer.status).toBe(400)
    expect(answer.headers.get('content-type')).toMatch(/^text\/plain/)
    expect(JSON.parse(answer.text)).toMatchObject({
      type: 'has_errors',
      errors: [{ product_id: 'bad', errors: 'not today' }, { product_id: '2' }],
    })
    expect(await sandbox.summary()).toMatchObject({ products: 1 })
  })

  it('can be refused by any status and body', async () => {
    await setFaults({ status: 422, body: 'no', productIds: ['bad'] })
    expect(await statuses([[product('1')], [product('bad')]])).toEqual([200, 422])
  })

  it('can be every product', async () => {
    await setFaults({ refuse: 'unnamed' })
    expect(await statuses([[product('1')], [product('2')]])).toEqual([400, 400])
  })
})

describe('a hanging call', () => {
  it('is never answered, and its products are not taken', async () => {
    await setFaults({ hang: true, calls: 1 })
    const { call, abort } = await startCall([product('1')])
    expect(await openCalls()).toBe(1)
    expect(await statuses([[product('2')]])).toEqual([200])
    expect(await sandbox.summary()).toMatchObject({ products: 1, calls: { open: 1 } })
    abort()
    expect(await call).toBeInstanceOf(Error)
    await waitFor(async () => (await openCalls()) === 0)
    expect((await sandbox.calls())[0]).toMatchObject({ status: null, end: 'client-gone', fault: 'hang' })
  })

  it('may have its products taken', async () => {
    await setFaults({ hang: true, apply: 'before' })
    await startCall([product('1')])
    expect(await waitFor(() => heldPrice('1'))).toBe(12.5)
    expect(await openCalls()).toBe(1)
  })

  it('is cut off after a time', async () => {
    await setFaults({ hang: 20 })
    await expect(sandbox.upsert([product('1')])).rejects.toThrow()
    expect((await sandbox.calls())[0]).toMatchObject({ status: null, end: 'reset' })
  })

  it('does not keep the sandbox from closing', async () => {
    const other = await openTestSandbox()
    await other.send('POST', '/sandbox/faults', [{ hang: true, calls: 1 }, { slow: 3_600_000 }])
    const calls = [other.upsert([]), other.upsert([])].map((call) => call.catch((error: unknown) => error))
    await waitFor(async () => (await other.calls()).filter(({ fault }) => fault !== null).length === 2)
    await other[Symbol.asyncDispose]()
    for (const outcome of await Promise.all(calls)) expect(outcome).toBeInstanceOf(Error)
  })
})

describe('a reset', () => {
  it.each([
    ['before', undefined],
    ['after', 12.5],
  ])('%s the products are taken', async (reset, price) => {
    await setFaults({ reset, calls: 1 })
    await expect(sandbox.upsert([product('1')])).rejects.toThrow()
    expect(await heldPrice('1')).toBe(price)
    expect((await sandbox.calls())[0]).toMatchObject({ status: null, end: 'reset', products: 1 })
    expect(await statuses([[product('1')]])).toEqual([200])
  })

  it('is one of TCP', async () => {
    await setFaults({ reset: 'after' })
    const socket = sendRaw([product('1')])
    const [error] = (await once(socket, 'error')) as [NodeJS.ErrnoException]
    expect(error.code).toBe('ECONNRESET')
  })
})

describe('half an answer', () => {
  it.each([
    [{}, 12.5],
    [{ apply: 'never' }, undefined],
  ])('announces more than it sends and closes the connection (%j)', async (apply, price) => {
    await setFaults({ half: true, ...apply })
    const socket = sendRaw([product('1')])
    let text = ''
    socket.setEncoding('utf8').on('data', (part: string) => {
      text += part
    })
    await once(socket, 'close')
    expect(text).toMatch(/^HTTP\/1\.1 200 /)
    expect(text).toMatch(/^x-request-id: \S+\r$/m)
    expect(text).toMatch(/^content-length: 512\r$/m)
    expect(text.split('\r\n\r\n')[1]?.length).toBeLessThan(512)
    expect(await heldPrice('1')).toBe(price)
    await expect(sandbox.upsert([])).rejects.toThrow()
  })
})

describe('a slow call', () => {
  it('is answered as usual', async () => {
    await setFaults({ slow: 20, calls: 2 }, { slow: 20, apply: 'before' })
    expect(await statuses([[product('1')], [product('2', { price: '' })], [product('3')]])).toEqual([
      200, 400, 200,
    ])
    const calls = await sandbox.calls()
    for (const { durationMs } of calls) expect(durationMs).toBeGreaterThanOrEqual(19)
    expect(await sandbox.summary()).toMatchObject({ products: 2 })
  })

  it('has its products taken before or after the wait', async () => {
    await setFaults({ slow: 3_600_000, apply: 'before', calls: 1 }, { slow: 3_600_000 })
    await startCall([product('early')])
    await startCall([product('late')])
    expect(await waitFor(() => heldPrice('early'))).toBe(12.5)
    expect(await heldPrice('late')).toBeUndefined()
    expect(await openCalls()).toBe(2)
  })

  it('is what the latency of the sandbox makes of every call', async () => {
    await using slow = await openTestSandbox({ latencyMs: 20 })
    expect((await slow.upsert([product('1')])).status).toBe(200)
    expect((await slow.calls())[0]?.durationMs).toBeGreaterThanOrEqual(19)
  })
})

describe('a call that is applied late', () => {
  it('overwrites what came after it, though its sender has long gone', async () => {
    // Longer than a busy machine takes for the calls before it.
    await setFaults({ applyLate: 5_000, calls: 1 })
    const { call, abort } = await startCall([product('1', { price: 1 })])
    abort()
    await call
    expect(await statuses([[product('1', { price: 2 })]])).toEqual([200])
    await waitFor(async () => (await heldPrice('1')) === 1)
    expect(await sandbox.get('/sandbox/products/1')).toMatchObject({ times: 2 })
  })
})

describe('the list of faults', () => {
  it('applies the first that matches, and is read, shortened and emptied', async () => {
    await setFaults({ name: 'flaky', status: 502, calls: 1 }, { status: 503 })
    expect(await statuses([[], []])).toEqual([502, 503])
    const { faults } = (await sandbox.get('/sandbox/faults')) as { faults: { id: number }[] }
    const [first, second] = faults
    expect(faults).toEqual([
      { id: first?.id, name: 'flaky', status: 502, calls: 1, applied: 1, remaining: 0 },
      { id: second?.id, name: 'status 503', status: 503, applied: 1 },
    ])
    expect((await sandbox.calls()).map(({ fault }) => fault)).toEqual(['flaky', 'status 503'])
    expect((await sandbox.send('DELETE', `/sandbox/faults/${second?.id}`)).status).toBe(200)
    expect((await sandbox.send('DELETE', `/sandbox/faults/${second?.id}`)).status).toBe(404)
    expect(await statuses([[]])).toEqual([200])
    await setFaults({ status: 500 })
    await sandbox.send('DELETE', '/sandbox/faults')
    expect(await statuses([[]])).toEqual([200])
    expect(await sandbox.get('/sandbox/faults')).toEqual({ faults: [] })
  })

  it('takes a share of the calls, the same for the same seed', async () => {
    const draw = async (seed: number) => {
      await sandbox.send('DELETE', '/sandbox/faults')
      await setFaults({ status: 500, share: 0.3, seed })
      return statuses(Array.from({ length: 100 }, () => []))
    }
    const first = await draw(7)
    expect(await draw(7)).toEqual(first)
    expect(await draw(8)).not.toEqual(first)
    const hit = first.filter((status) => status === 500).length
    expect(hit).toBeGreaterThan(15)
    expect(hit).toBeLessThan(45)
  })

  it('is set by one fault or several, whatever the content type', async () => {
    const response = await fetch(`${sandbox.url}/sandbox/faults`, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: '{"status":500}',
    })
    expect(response.status).toBe(200)
    expect(await statuses([[]])).toEqual([500])
  })

  it.each([
    ['not JSON', '{', /JSON/],
    ['nothing to do', {}, /exactly one of status, hang, .*; this one does none/],
    ['two things to do', { status: 500, hang: true }, /status and hang/],
    ['an unknown key', { stauts: 500 }, /stauts/],
    ['an impossible status', { status: 99 }, /status: /],
    ['a header that HTTP refuses', { status: 500, headers: { 'a b': 'c' } }, /headers: a header has/],
    ['a body without a status', { hang: true, body: 'x' }, /body and headers belong to a status fault/],
    ['a meaningless apply', { reset: 'before', apply: 'after' }, /apply of a reset fault takes no value/],
    ['a share above one', [{ status: 500 }, { status: 500, share: 2 }], /^fault 1: share: /],
  ])('refuses %s, and changes nothing', async (_, body, message) => {
    const answer = await (typeof body === 'string'
      ? fetch(`${sandbox.url}/sandbox/faults`, { method: 'POST', body }).then(async (response) => ({
          status: response.status,
          text: await response.text(),
        }))
      : sandbox.send('POST', '/sandbox/faults', body))
    expect(answer.status).toBe(400)
    expect((JSON.parse(answer.text) as { problems: string[] }).problems.join('\n')).toMatch(message)
    expect(await sandbox.get('/sandbox/faults')).toEqual({ faults: [] })
  })
})

function sendRaw(products: readonly unknown[]): net.Socket {
  const body = JSON.stringify(products)
  const socket = net.connect(Number(new URL(sandbox.url).port), '127.0.0.1')
  socket.write(
    `POST /v1/products/upsert HTTP/1.1\r\nhost: sandbox\r\nauthorization: ${basic(token)}\r\n` +
      `content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  )
  return socket
}
