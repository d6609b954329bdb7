import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { CallOutcome } from '../../src/api/call-outcome.ts'
import { productCalls as calls, classify, type Verdict } from '../../src/api/classify.ts'
import { backoffMs } from '../../src/delivery/waiting.ts'
import type { ProductId } from '../../src/lib/brand.ts'
import { EndpointError } from '../../src/lib/errors.ts'
import { parseRetryAfter } from '../../src/lib/retry-after.ts'

const now = Date.UTC(2026, 10, 20, 12)
const ids = ['a', 'b', '7', '12345678901234567890'] as ProductId[]

interface Given {
  body?: unknown
  headers?: Record<string, string>
  recentlyProbed?: boolean
}

function answered(
  status: number,
  { body = '{}', headers = {}, recentlyProbed = false }: Given = {},
): Verdict {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  const outcome: CallOutcome = { kind: 'response', status, headers, body: text }
  return classify({ outcome, calls, productIds: ids, secrets: [], recentlyProbed, now })
}

const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, index) => from + index)

describe('the table', () => {
  const rows: [Verdict['kind'], number[]][] = [
    ['acknowledge', range(200, 299)],
    ['retry', range(300, 399)],
    ['bisect', [400, 406, 409, 418, 422, 444, 451, 499]],
    ['pause', [401, 403]],
    ['split', [413]],
    ['throttle', [429]],
    ['retry', [402, 404, 405, 407, 408, 410, 411, 415, 417, 421, 423, 424, 425, 426, 428, 431]],
    ['retry', [500, 501, 503, 505, 507, 511, 529, 599]],
    ['unknown', [100, 101, 103, 502, 504, 520, 524, 527]],
  ]
  test.each(rows)('%s: %j', (kind, statuses) => {
    for (const status of statuses) expect([status, answered(status).kind]).toEqual([status, kind])
  })

  test('a request that never left is tried again; one without an answer is unknown', () => {
    const error = new EndpointError('x', 'the words')
    const judge = (kind: 'not-sent' | 'unknown') =>
      classify({ outcome: { kind, error }, calls, productIds: ids, secrets: [], now })
    expect(judge('not-sent')).toEqual({ kind: 'retry', afterMs: undefined, description: 'the words' })
    expect(judge('unknown')).toEqual({ kind: 'unknown', afterMs: undefined, description: 'the words' })
  })

  test('a 403 right after a good probe refuses content, a 401 never does', () => {
    expect(answered(403, { recentlyProbed: true }).kind).toBe('bisect')
    expect(answered(401, { recentlyProbed: true }).kind).toBe('pause')
  })

  test('a path that is to blame refuses content, whatever it is blamed with', () => {
    const outcome: CallOutcome = { kind: 'response', status: 404, headers: {}, body: 'no such customer' }
    expect(classify({ outcome, calls, productIds: ids, secrets: [], pathToBlame: true, now })).toEqual({
      kind: 'bisect',
      description: expect.stringMatching(/answered 404: no such customer; it took others/),
    })
  })

  test('a wrong address says what to check', () => {
    expect(answered(404)).toMatchObject({ description: expect.stringContaining('`api.url`') })
    const redirect = answered(302, { headers: { location: 'https://login.example/in?session=1' } })
    expect(redirect).toMatchObject({
      description: expect.stringContaining('redirect to https://login.example/in,'),
    })
  })
})

describe('products refused by name', () => {
  const named = (status: number, errors: unknown) => {
    const verdict = answered(status, {
      body: { type: 'has_errors', message: 'some failed', errors },
      headers: { 'content-type': 'text/plain; charset=utf-8' },
    })
    return 'refused' in verdict ? [verdict.kind, verdict.refused] : [verdict.kind]
  }

  test.each([400, 422])('by %d are rejected with the words of the endpoint', (status) => {
    expect(named(status, [{ product_id: 'a', errors: 'image_url field is missing (imageUrl), ' }])).toEqual([
      'reject',
      [{ productId: 'a', reason: 'image_url field is missing (imageUrl)' }],
    ])
  })

  test('by 200 are rejected, the rest is acknowledged', () => {
    expect(named(200, [{ product_id: 'b', errors: 'no' }])).toEqual([
      'acknowledge',
      [{ productId: 'b', reason: 'no' }],
    ])
  })

  test('may be numbers, however long', () => {
    const body = '{"errors":[{"product_id":7,"errors":"x"},{"product_id":12345678901234567890,"errors":"y"}]}'
    expect(answered(400, { body })).toMatchObject({
      refused: [
        { productId: '7', reason: 'x' },
        { productId: '12345678901234567890', reason: 'y' },
      ],
    })
  })

  test.each([
    ['a list', ['one', { two: 2 }], 'one; two: 2'],
    ['an object', { price: ['bad', 'worse'] }, 'price: bad; worse'],
    ['nothing', null, 'no reason was given'],
    ['several lines', 'a\r\n\tb\u0000', 'a b'],
  ])('may be explained by %s', (_, errors, reason) => {
    expect(named(400, [{ product_id: 'a', errors }])).toEqual(['reject', [{ productId: 'a', reason }]])
  })

  test('more than once are rejected once, with all reasons', () => {
    expect(
      named(400, [
        { product_id: 'a', errors: 'x' },
        { product_id: 'a', errors: 'y' },
      ]),
    ).toEqual(['reject', [{ productId: 'a', reason: 'x; y' }]])
  })

  test.each([
    ['names of other products', [{ product_id: 'z', errors: 'x' }]],
    ['no list', { product_id: 'a' }],
    ['entries without an id', ['a', null, 1, {}, { product_id: ['a'] }]],
  ])('are not found in: %s', (_, errors) => {
    expect(named(400, errors)).toEqual(['bisect'])
  })

  test('a success with errors that name none of the call leaves open what was taken: it is halved', () => {
    expect(named(200, [{ product_id: 'z', errors: 'x' }])).toEqual(['bisect'])
    expect(named(200, [])).toEqual(['acknowledge', []])
    // An empty map, as some servers write an empty list.
    expect(named(200, {})).toEqual(['acknowledge', []])
  })

  test('a refusal that names nobody is described by its message, else by its beginning', () => {
    expect(answered(400, { body: { message: 'not so' } })).toMatchObject({
      description: 'the endpoint answered 400: not so',
    })
    expect(answered(400, { body: 'x'.repeat(5_000) })).toMatchObject({
      description: `the endpoint answered 400: ${'x'.repeat(300)}`,
    })
  })
})

describe('a 2xx', () => {
  const html = { 'content-type': 'text/html; charset=utf-8' }
  const foreign: [string, string, Record<string, string>, RegExp][] = [
    [
      'a login page',
      '<!DOCTYPE html>\n<title>Log\u001b[2J in</title>',
      html,
      /text\/html.*web page \(Log \[2J in\)/,
    ],
    ['a page without a title', '<html>', {}, /no content type: <html>\. Check `api\.url`/],
    ['another server', '{"ok":true}', { 'content-type': 'application/json' }, /json: \{"ok":true\}/],
    ['a list', '[]', {}, /: \[\]/],
    ['a text', 'O\u009dK', {}, /: O K\./],
    ['the content API', '{"data":[],"errors":[]}', {}, /"data"/],
    ['nothing', '', {}, /an empty body/],
  ]

  test.each(foreign)(
    'of %s is not this API: the line stops, nothing is buried',
    (_, body, headers, words) => {
      const verdict = answered(200, { body, headers })
      expect(verdict).toMatchObject({ kind: 'retry', description: expect.stringMatching(words) })
      expect(verdict).toMatchObject({ description: expect.not.stringMatching(/\p{Cc}/u) })
    },
  )

  test('longer than is read is none', () => {
    const outcome = {
      kind: 'response',
      status: 200,
      headers: {},
      body: '{}',
      cut: 'longer than is read',
    } as const
    expect(classify({ outcome, calls, productIds: ids, secrets: [], now })).toMatchObject({
      kind: 'retry',
    })
  })

  test.each([
    [200, ' {} \n'],
    [200, '\uFEFF{}'],
    [202, '{}'],
    [204, ''],
  ])('of this API (%d, %j) counts, whatever its content type', (status, body) => {
    expect(answered(status, { body, headers: { 'content-type': 'text/plain' } }).kind).toBe('acknowledge')
  })

  test.each([
    ['', 'acknowledge'],
    ['OK', 'acknowledge'],
    ['{"anything":1}', 'acknowledge'],
    ['{"errors":["no such customer"]}', 'bisect'],
    ['{"errors":["no such cust', 'retry'],
    ['[{"errors', 'retry'],
    ['<!doctype html><title>Log in</title>', 'retry'],
    ['<?xml version="1.0"?>', 'retry'],
  ] as const)('to a consent with %j: %s', (body, kind) => {
    const outcome: CallOutcome = { kind: 'response', status: 200, headers: {}, body }
    const input = {
      outcome,
      productIds: ids,
      secrets: [],
      now,
      calls: { ...calls, group: 'consent' },
    } as const
    expect(classify(input).kind).toBe(kind)
  })
})

describe('what the call carried', () => {
  const email = 'm\u00fcller+x@shop.example'
  const token = 's3cr3t/TOKEN+abc=='
  const basic = Buffer.from(`:${token}`).toString('base64')
  const inUrl = (text: string) => encodeURIComponent(text)
  const inHtml = (text: string) => text.replaceAll(/[^a-z0-9]/gi, (one) => `&#${one.codePointAt(0)};`)
  const inHexHtml = (text: string) =>
    text.replaceAll(/[^a-z0-9]/gi, (one) => `&#x${one.codePointAt(0)?.toString(16)};`)
  const inJson = (text: string) =>
    text.replaceAll(/[^a-z0-9]/gi, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`)
  const forms = {
    plain: String,
    inUrl,
    inHtml,
    inHexHtml,
    inJson,
    twice: (text: string) => inUrl(inUrl(text)),
  }
  const names = Object.keys(forms) as (keyof typeof forms)[]

  function judge(status: number, body: string, group: 'products' | 'consent' = 'products') {
    const outcome: CallOutcome = {
      kind: 'response',
      status,
      headers: { location: `https://x/${body}` },
      body,
    }
    const secrets = [email, token]
    return classify({ outcome, productIds: ids, secrets, now, calls: { ...calls, group } })
  }

  test.each(names)('is not shown, however it is echoed: %s', (name) => {
    for (const secret of [email, token, basic]) {
      const echoed = `you sent ${forms[name](secret)} and more`
      const title = `<html><title>${'x'.repeat(80)} ${forms[name](secret)}</title></html>`
      const named = `{"errors":[{"product_id":"a","errors":["${'y'.repeat(990)} ${forms[name](secret)}"]}]}`
      const far = `${'z'.repeat(285)} ${forms[name](secret)}`
      for (const body of [echoed, `{"message":"${echoed}"}`, `<x>${echoed}`, title, named, far])
        for (const status of [200, 302, 400, 401, 404, 500, 502]) {
          const text = JSON.stringify(judge(status, body))
          expect(text).not.toMatch(/s3cr3t|TOKEN|ller|shop\.|OnMzY3I/)
        }
    }
  })

  test('is hidden after the body was read: no refusal is lost with it', () => {
    for (const name of names) {
      const body = `{"errors":[{"message":"${forms[name](email)} is not known"}]}`
      expect(judge(200, body, 'consent').kind).toBe('bisect')
    }
    expect(judge(200, '{"errors":["ask\\nsupport@service.example"]}', 'consent').kind).toBe('bisect')
  })
})

describe('Retry-After', () => {
  test.each([
    ['seconds', '120', 120_000],
    ['nothing to wait', '0', 0],
    ['a date', 'Fri, 20 Nov 2026 12:00:30 GMT', 30_000],
    ['a date gone by', 'Fri, 20 Nov 2026 11:00:00 GMT', 0],
    ['days', '864000', 3_600_000],
    ['a far date', 'Sat, 20 Nov 2027 12:00:00 GMT', 3_600_000],
    ['words', 'later', undefined],
    ['a negative number', '-5', undefined],
    ['nothing', '', undefined],
  ])('of %s (%s)', (_, value, expected) => {
    expect(parseRetryAfter(value, now)).toBe(expected)
  })

  test.each([429, 500, 502, 503, 504, 599])('is honoured on %d', (status) => {
    expect(answered(status, { headers: { 'retry-after': '9' } })).toMatchObject({ afterMs: 9_000 })
  })
})

test('back-off doubles its bound up to half a minute, and any part of it may be waited', () => {
  expect([1, 2, 3, 7, 8, 1_000].map((failures) => backoffMs(failures, () => 1))).toEqual([
    500, 1_000, 2_000, 30_000, 30_000, 30_000,
  ])
  expect(backoffMs(5, () => 0)).toBe(0)
})

test('every status with any body has one verdict, and names only products of the call', () => {
  const body = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.json(),
    fc.json().map((text) => `{"errors":[{"product_id":${text},"errors":${text}}]}`),
    fc
      .array(fc.record({ product_id: fc.constantFrom<unknown>(...ids, 7, 'z'), errors: fc.jsonValue() }))
      .map((errors) => JSON.stringify({ errors })),
  )
  const kinds = ['acknowledge', 'retry', 'throttle', 'split', 'reject', 'bisect', 'pause', 'unknown']
  const given = fc.record({
    body,
    recentlyProbed: fc.boolean(),
    headers: fc.constant({ 'retry-after': 'x' }),
  })
  fc.assert(
    fc.property(fc.integer({ min: 100, max: 599 }), given, (status, input) => {
      const verdict = answered(status, input)
      expect(kinds).toContain(verdict.kind)
      if (verdict.kind === 'reject') expect(verdict.refused.length).toBeGreaterThan(0)
      if ('refused' in verdict) {
        const refused = verdict.refused.map(({ productId }) => productId)
        expect(new Set(refused).size).toBe(refused.length)
        for (const id of refused) expect(ids).toContain(id)
      }
    }),
    { numRuns: 3_000 },
  )
})
