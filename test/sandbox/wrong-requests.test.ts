import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Sandbox } from '../../src/sandbox/sandbox.ts'
import { validBodies } from '../api/contract/facts/request.ts'
import { RawConnection, type RawRequest, sendRaw } from '../support/raw-http.ts'
import { basic, product } from './harness.ts'
import {
  ask,
  consent,
  emailAuth,
  form,
  type Header,
  intentAuth,
  json,
  open,
  pan,
  productsAuth,
  question,
  setConsent,
  stack,
  termForm,
  upsert,
} from './sdk-request.ts'

const wrongAuth: Header = ['Authorization', basic('of-another')]
const withAuth = (...headers: Header[]) => ({ headers: [...headers, json] })

/** What a client gets wrong, and what it is told. */
const refused: Record<string, [RawRequest, number, RegExp]> = {
  'a probe with a wrong token': [upsert([], withAuth(wrongAuth)), 401, /token is not valid/],
  'a probe with the token of consents': [upsert([], withAuth(emailAuth)), 401, /this is the Email token/],
  'a probe without credentials': [upsert([], withAuth()), 401, /HTTP Basic/],
  'an upsert with a bearer token': [upsert([pan], withAuth(intentAuth)), 401, /HTTP Basic/],
  'an upsert with a user name': [
    upsert([pan], withAuth(['Authorization', basic('products', 'me')])),
    401,
    /user name must be empty/,
  ],
  'an upsert of one object': [upsert(pan), 400, /send a JSON array/],
  'an upsert of nothing': [upsert(''), 400, /the body is empty/],
  'an upsert of half a list': [upsert('[{"product_id":"1"'), 400, /not JSON/],
  'an upsert that is compressed': [
    upsert([pan], withAuth(productsAuth, ['Content-Encoding', 'gzip'])),
    415,
    /compressed/,
  ],
  'an upsert with a price as text': [upsert([product('1', { price: '12.50' })]), 400, /has_errors.*price/],
  'an upsert without a name': [upsert([product('1', { name: undefined })]), 400, /name field is missing/],
  'an upsert by GET': [{ ...upsert([]), method: 'GET' }, 405, /no GET \/v1\/products\/upsert/],
  'an upsert elsewhere': [upsert([pan], { target: '/v2/products/upsert' }), 404, /no POST/],
  'a consent with the token of products': [
    setConsent(`${consent}/a%40b.example/true`, { headers: [productsAuth] }),
    401,
    /this is the API_PRODUCTS token/,
  ],
  'a consent for no address': [setConsent(`${consent}/nobody/true`), 400, /email: /],
  'a consent that says maybe': [
    setConsent(`${consent}/a%40b.example/maybe`),
    400,
    /consent: .*true or false/,
  ],
  'a consent without a flag': [setConsent(`${consent}/a%40b.example`), 404, /\/true or \/false/],
  'a consent encoded twice': [setConsent(`${consent}/a%2540b.example/true`), 400, /twice/],
  'a consent by PUT': [{ ...setConsent(`${consent}/a%40b.example/true`), method: 'PUT' }, 405, /no PUT/],
  'a question without a token': [ask(question, withAuth()), 401, /API_LIM token; an account without one/],
  'a question with basic credentials': [ask(question, withAuth(productsAuth)), 401, /Bearer/],
  'a question without words': [ask({ ...question, prompt: undefined }), 400, /prompt: /],
  'a question of blanks': [ask({ ...question, prompt: '  ' }), 400, /prompt: /],
  'a question for 21': [ask({ ...question, maxAgentRecommendations: 21 }), 400, /maxAgentRecommendations: /],
  'a question for none': [ask({ ...question, maxAgentRecommendations: 0 }), 400, /maxAgentRecommendations: /],
  'a question from nowhere': [ask({ ...question, country: 'ZZ' }), 400, /country: /],
  'a list of questions': [ask([question]), 400, /no JSON object/],
  'a question that is compressed': [
    ask(question, withAuth(intentAuth, ['Content-Encoding', 'br'])),
    415,
    /compressed/,
  ],
  'rules without credentials': [{ method: 'GET', target: '/api/tilerules/' }, 401, /access_token/],
  'rules of another Stack': [
    { method: 'GET', target: '/api/tilerules/?access_token=sandbox-stack-token&stack=other' },
    403,
    /not for this Stack/,
  ],
  'more than 100 a page': [stack('GET', '/api/users?limit=101'), 400, /limit: /],
  'page 0': [stack('GET', '/api/terms?page=0'), 400, /page: /],
  'an order that is none': [stack('GET', '/api/users?order_by=age'), 400, /order_by: /],
  'a new user': [stack('POST', '/api/users', { body: '{}' }), 405, /never created/],
  'a term of another network': [
    stack('POST', '/api/terms', {
      headers: [form],
      body: 'type=page&network=flickr&term=a&source_user_id=1',
    }),
    400,
    /network: found flickr, expected facebook or pinterest or rss/,
  ],
  'a term of an account without the account': [
    stack('POST', '/api/terms', { headers: [form], body: 'type=user&network=twitter&term=a' }),
    400,
    /source_user_id: /,
  ],
  'a term of nothing': [stack('POST', '/api/terms', { body: '' }), 400, /type: .*network: .*term: /],
  'a term that changes its type': [stack('PUT', '/api/terms/1?type=set', { headers: [] }), 400, /type: /],
  'a rule with a script': [
    stack('POST', '/api/tilerules/', {
      body: JSON.stringify({ ...validBodies.rule, trigger: { $or: [{ $where: 'true' }] } }),
    }),
    400,
    /\$where/,
  ],
  'a zone by its offset': [
    stack('PUT', '/api/users/2?display_timezone=%2B01:00', { headers: [] }),
    400,
    /display_timezone: /,
  ],
  'a multipart form that breaks off': [
    stack('POST', '/api/moderationviews', {
      headers: [['Content-Type', 'multipart/form-data; boundary=b']],
      body: '--b\r\nContent-Disposition: form-data; name="view_name"\r\n\r\nx',
    }),
    400,
    /multipart/,
  ],
  'an id that is none': [stack('GET', '/api/terms/first'), 400, /termId: /],
  'an id of nobody': [stack('DELETE', '/api/users/999999'), 404, /no user/],
}

/** What is no HTTP, or no HTTP that a server could answer otherwise. */
const malformed: Record<string, [string, number | undefined]> = {
  'no request line': ['hello\r\n\r\n', 400],
  'a method that is none': ['BREW /api HTTP/1.1\r\nHost: a\r\n\r\n', 400],
  'no host': ['POST /api HTTP/1.1\r\nContent-Length: 0\r\n\r\n', 400],
  'two lengths': ['POST /api HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n', 400],
  'a length that is none': ['POST /api HTTP/1.1\r\nHost: a\r\nContent-Length: many\r\n\r\n', 400],
  'a length and chunks': [
    'POST /api HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
    400,
  ],
  'chunks without a size': [
    'POST /api HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n',
    undefined,
  ],
  'an expectation that is none': [
    'POST /api HTTP/1.1\r\nHost: a\r\nExpect: a miracle\r\nContent-Length: 0\r\nConnection: close\r\n\r\n',
    417,
  ],
  'a head without an end': [`GET /api HTTP/1.1\r\nHost: a\r\nX: ${'x'.repeat(20_000)}`, 431],
  'a body that never comes': [
    `POST /v1/products/upsert HTTP/1.1\r\nHost: a\r\nAuthorization: ${basic('products')}\r\nContent-Length: 9\r\n\r\n[`,
    undefined,
  ],
  'a head that never comes': ['POST /v1/products/ups', undefined],
  'bytes of another protocol': ['\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03', 400],
}

describe('a request that is wrong', () => {
  let sandbox: Sandbox
  beforeAll(async () => {
    sandbox = await open()
    const body = JSON.stringify(validBodies.term)
    await sendRaw(sandbox.url, stack('POST', '/api/terms', { body }))
  })
  afterAll(() => sandbox[Symbol.asyncDispose]())

  it.each(Object.entries(refused))('is refused and told why: %s', async (_, [request, expected, message]) => {
    const { status, headers, text } = await sendRaw(sandbox.url, request)
    expect(status, text).toBe(expected)
    expect(text).toMatch(message)
    expect(headers['x-request-id']).toMatch(/^[\w-]{36}$/)
  })

  it.each(Object.entries(malformed))('is refused below the API: %s', async (_, [text, expected]) => {
    await using connection = await RawConnection.open(sandbox.url)
    connection.write(Buffer.from(text, 'latin1'))
    connection.end()
    // Whoever goes away within a request may be answered or not, but is let go.
    for (const { status } of await connection.answersToEnd()) {
      if (expected !== undefined) expect(status).toBe(expected)
      expect(Math.floor(status / 100)).toBe(4)
    }
    expect((await sendRaw(sandbox.url, upsert([]))).status).toBe(200)
  })
})

describe('a method that a path does not take', () => {
  const paths: [RawRequest, allow: string][] = [
    [upsert([]), 'POST'],
    [setConsent(`${consent}/a%40b.example/true`), 'POST'],
    [setConsent('/v1/customers/consent/a%40b.example/true/'), 'POST'],
    [ask(question), 'POST'],
    [stack('GET', '/api/terms'), 'GET, POST, HEAD'],
    [stack('PUT', '/api/tilerules/1/apply'), 'PUT'],
    [stack('GET', '/api/moderationviews/1/'), 'GET, DELETE, PUT, HEAD'],
  ]

  it.each(paths)('is told what there is (%$)', async (request, allow) => {
    await using sandbox = await open()
    const taken = allow.split(', ')
    const others = ['GET', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'HEAD'].filter(
      (method) => !taken.includes(method),
    )
    for (const method of others) {
      const broken = { headers: [['Content-Type', 'json']], body: '{x' } as const
      const sent = { ...request, method, ...(method === 'PATCH' ? broken : {}) }
      const { status, headers, text } = await sendRaw(sandbox.url, sent)
      expect([method, status, headers.allow]).toEqual([method, 405, allow])
      if (request.target.includes('stack=') && method !== 'HEAD') {
        const error = { code: 405, error_code: 1_000_405, message_id: 'request:method_not_allowed' }
        expect(JSON.parse(text)).toMatchObject({ data: [], errors: [error] })
      }
    }
  })

  it.each(['application/json', 'json', ''])(
    'at a path that is not there is 404 (body of type "%s")',
    async (type) => {
      await using sandbox = await open()
      const headers = [['Content-Type', type]] as const
      for (const body of ['{x', '', 'x'.repeat(1_500_000)]) {
        const answer = await sendRaw(sandbox.url, {
          method: 'PUT',
          target: '/sandbox/summary',
          headers,
          body,
        })
        expect([answer.status, answer.headers.connection]).toEqual([404, 'keep-alive'])
      }
    },
  )
})

/** Tolerated, and not what the contract has. */
const strictlyRefused: Record<string, [RawRequest, number, RegExp]> = {
  'numbers for texts': [upsert([product(1)]), 400, /product_id/],
  'an empty list of variations': [upsert([product('1', { variations: [] })]), 400, /variations/],
  'names in snake case': [upsert([product('1', { category_ids: [] })]), 400, /category_ids/],
  'fields of shop plug-ins': [upsert([product('1', { gtin: '1' })]), 400, /gtin/],
  'an upsert without a content type': [upsert([pan], { headers: [productsAuth] }), 415, /Content-Type/],
  'a consent with a body': [
    setConsent(`${consent}/a%40b.example/true`, { ...withAuth(emailAuth), body: '{}' }),
    400,
    /no body/,
  ],
  'a question as a form': [
    ask(new URLSearchParams(question).toString(), { headers: [intentAuth, form] }),
    400,
    /Content-Type: application\/json/,
  ],
  'a question with texts for numbers': [
    ask({ ...question, maxAgentRecommendations: '5' }),
    400,
    /maxAgentRecommendations: /,
  ],
  'a question with further fields': [ask({ ...question, sessionId: 's' }), 400, /sessionId: /],
  'a rule with a truth value': [
    stack('POST', '/api/tilerules/', { body: JSON.stringify({ ...validBodies.rule, enabled: true }) }),
    400,
    /enabled: /,
  ],
  'a rule for posts': [
    stack('POST', '/api/tilerules/', { body: JSON.stringify({ ...validBodies.rule, type: 'post' }) }),
    400,
    /type: /,
  ],
  'a term as a form': [
    stack('POST', '/api/terms', { headers: [form], body: termForm }),
    400,
    /Content-Type: application\/json/,
  ],
  'fields in the query': [
    stack('PUT', '/api/users/2?name=Ann', { body: '{}' }),
    400,
    /query\.name: the contract does not have it/,
  ],
  'a user with everything that is read': [
    stack('PUT', '/api/users/2', { body: JSON.stringify({ id: 2, name: 'Ann' }) }),
    400,
    /id: /,
  ],
}

describe('a strict sandbox', () => {
  it.each(Object.entries(strictlyRefused))('refuses %s', async (_, [request, expected, message]) => {
    await using strict = await open({ strict: true })
    const { status, text } = await sendRaw(strict.url, request)
    expect(status, text).toBe(expected)
    expect(text).toMatch(message)
    await using lenient = await open()
    expect((await sendRaw(lenient.url, request)).status).toBe(200)
  })

  it('takes what the contract has, however it comes over the wire', async () => {
    await using strict = await open({ strict: true })
    const body = JSON.stringify(validBodies.term)
    const requests = [
      upsert([pan], { chunkBytes: 5 }),
      upsert([]),
      setConsent(`${consent}/ann%40shop.example/true`, withAuth(emailAuth, ['Content-Length', '0'])),
      ask(question, { version: '1.0' }),
      stack('POST', '/api/terms', { body, chunkBytes: 1 }),
      stack('GET', '/api/users?page=1&limit=100&order_by=surname&order_by_direction=desc'),
      stack('PUT', '/api/users/2', { body: '{"acl_groups":["1","3"]}' }),
    ]
    for (const request of requests) expect(await sendRaw(strict.url, request)).toMatchObject({ status: 200 })
  })
})
