import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Sandbox } from '../../src/sandbox/sandbox.ts'
import { validBodies } from '../api/contract/facts/request.ts'
import { formatRequest, RawConnection, type RawRequest, sendRaw } from '../support/raw-http.ts'
import { basic, product } from './harness.ts'
import {
  ask,
  consent,
  emailAuth,
  form,
  type Header,
  intentAuth,
  json,
  multipart,
  open,
  pan,
  productsAuth,
  question,
  setConsent,
  stack,
  termForm,
  upsert,
} from './sdk-request.ts'

const nestedRule = [
  ['name', 'Summer'],
  ['trigger[$or][0][tags][$eq]', 'summer'],
  ['action[0][type]', '$addToSet'],
  ['action[0][field]', 'tags'],
  ['action[0][value]', 'warm'],
  ['enabled', '1'],
  ['type', 'tile'],
] as const

const accepted: Record<string, RawRequest> = {
  'an upsert with numbers for texts': upsert([
    product(1, { rating_value: 4.5, review_count: 12, variation_id: 'a' }),
  ]),
  'an upsert with an empty list of variations': upsert([product('1', { variations: [] })]),
  'an upsert with names in snake case': upsert([
    product('1', { category_ids: ['7'], parent_category_ids: ['1'] }),
  ]),
  'an upsert with fields of shop plug-ins': upsert([
    product('1', { gtin: '4006381333931', condition: 'new', gender: 'male', unit_pricing_measure: 1 }),
  ]),
  'an upsert of availabilities in use': upsert([
    product('1', { availability: 'Invisible' }),
    product('2', { availability: 'Discontinued' }),
  ]),
  'an upsert that names the merchant': upsert([pan], {
    target: '/v1/products/upsert?merchant-id=m-17',
    headers: [productsAuth, json, ['X-Shop-Account', 'm-17'], ['X-Merchant-account', '17']],
  }),
  'an upsert to a path with a slash': upsert([pan], { target: '/v1/products/upsert/' }),
  'an upsert with a charset': upsert([pan], {
    headers: [productsAuth, ['Content-Type', 'application/json;charset=UTF-8']],
  }),
  'an upsert without a content type': upsert([pan], { headers: [productsAuth] }),
  'an upsert under the type that curl writes by default': upsert([pan], { headers: [productsAuth, form] }),
  'an upsert under a content type that is none': upsert([pan], {
    headers: [productsAuth, ['Content-Type', 'json']],
  }),
  'an upsert that begins with a byte order mark': upsert(`\ufeff${JSON.stringify([pan])}`),
  'an upsert with header names in lower case': upsert([pan], {
    headers: [
      ['host', 'sandbox'],
      ['authorization', basic('products').replace('Basic', 'basic')],
      ['content-type', 'application/json'],
    ],
  }),
  'an upsert with header names in upper case': upsert([pan], {
    headers: [
      ['HOST', 'sandbox'],
      ['AUTHORIZATION', basic('products')],
      ['CONTENT-TYPE', 'APPLICATION/JSON'],
    ],
  }),
  'an upsert in chunks of one byte': upsert([pan], { chunkBytes: 1 }),
  'an upsert over HTTP/1.0': upsert([pan], { version: '1.0' }),
  'a probe of the token': upsert([]),
  'a probe of the token with blanks': upsert(' [ ] \r\n'),
  'a consent with a JSON type and no content': setConsent(`${consent}/ann%40shop.example/true`, {
    headers: [emailAuth, json, ['Content-Length', '0']],
  }),
  'a consent without any length': setConsent(`${consent}/ann%40shop.example/true`, { headers: [emailAuth] }),
  'a consent with chunks that hold nothing': setConsent(`${consent}/ann%40shop.example/true`, {
    headers: [emailAuth, json],
    body: '',
    chunkBytes: 10,
  }),
  'a consent with a form type': setConsent(`${consent}/ann%40shop.example/false`, {
    headers: [emailAuth, form, ['Content-Length', '0']],
  }),
  'a consent for an address as it is': setConsent(`${consent}/ann+news@shop.example/true`),
  'a consent that names the merchant': setConsent(`${consent}/ann%40shop.example/true?merchant-id=17`),
  'a consent to a path with a slash': setConsent(`${consent}/ann%40shop.example/false/`),
  'a consent without /api': setConsent('/v1/customers/consent/ann%40shop.example/true'),
  'a consent over HTTP/1.0': setConsent(`${consent}/ann%40shop.example/true`, { version: '1.0' }),
  'a question with texts for numbers': ask({
    ...question,
    maxAgentRecommendations: '5',
    rankingOnly: 'true',
    customerId: 17,
  }),
  'a question with empty fields': ask({ ...question, country: '', locale: '', responseFormat: null }),
  'a question with further fields': ask({ ...question, sessionId: 's' }),
  'a question as a form': ask(new URLSearchParams({ ...question, giveAgentContext: '1' }).toString(), {
    headers: [intentAuth, form],
  }),
  'a question that begins with a byte order mark': ask(`\ufeff${JSON.stringify(question)}`),
  'a question to a path with a slash': ask(question, { target: '/api/?merchant-id=17' }),
  'a question with a scheme in lower case': ask(question, {
    headers: [['authorization', 'bearer sandbox-intent-token'], json],
    chunkBytes: 7,
  }),
  'a rule as a nested form': stack('POST', '/api/tilerules/', {
    headers: [form],
    body: new URLSearchParams(nestedRule.map(([...pair]) => pair)).toString(),
  }),
  'a rule as a nested form without encoding': stack('POST', '/api/tilerules', {
    headers: [form],
    body: nestedRule.map((pair) => pair.join('=')).join('&'),
  }),
  'a rule as a multipart form': stack('POST', '/api/tilerules', multipart(nestedRule)),
  'a rule as JSON under no type': stack('POST', '/api/tilerules/', {
    headers: [],
    body: JSON.stringify(validBodies.rule),
  }),
  'a rule with truth values': stack('POST', '/api/tilerules/', {
    body: JSON.stringify({ ...validBodies.rule, enabled: true }),
  }),
  'rules with the token in a header': {
    method: 'GET',
    target: '/api/tilerules?stack=sandbox',
    headers: [['X-Access-Token', 'sandbox-stack-token']],
  },
  'terms without credentials': { method: 'GET', target: '/api/terms/' },
  'a page in a query': stack('GET', '/api/users?page=1&limit=100&order_by=email&order_by_direction=desc'),
  'an empty page in a query': stack('GET', '/api/users/?page=&limit='),
  'the head of a list': stack('HEAD', '/api/users'),
  'a term as a form': stack('POST', '/api/terms', { headers: [form], body: termForm }),
  'a term as a form in chunks': stack('POST', '/api/terms/', {
    headers: [form],
    body: termForm,
    chunkBytes: 3,
  }),
  'a term with texts for everything': stack('POST', '/api/terms', {
    body: JSON.stringify({
      ...validBodies.term,
      active: 'true',
      num_of_backfill: '20',
      minimum_followers: '',
      tags: '1,2',
    }),
  }),
  'a user whose fields are in the query': stack('PUT', '/api/users/2?name=Ann&distances=metric', {
    headers: [['Content-Length', '0']],
  }),
  'a user whose fields are in the query, with a JSON type': stack('PUT', '/api/users/2/?surname=B%C3%A9', {
    headers: [json, ['Content-Length', '0']],
  }),
  'a user whose groups are in the query': stack('PUT', '/api/users/2?acl_groups[]=1&acl_groups[]=3', {
    headers: [],
  }),
  'a user whose groups are a text': stack('PUT', '/api/users/2', { headers: [form], body: 'acl_groups=1,2' }),
  'a user with everything that is read': stack('PUT', '/api/users/2', {
    body: JSON.stringify({ id: '2', username: 'ann', name: 'Ann', last_login: null, created_at: 1 }),
  }),
  'a view as a multipart form': stack(
    'POST',
    '/api/moderationviews/',
    multipart([
      ['view_name', 'Mine'],
      ['columns_tags_col', '1'],
      ['other_all_content_length', '50'],
      ['type', 'user'],
    ]),
  ),
}

describe('a request as SDKs send it', () => {
  let sandbox: Sandbox
  beforeAll(async () => {
    sandbox = await open()
  })
  afterAll(() => sandbox[Symbol.asyncDispose]())

  it.each(Object.entries(accepted))('is taken: %s', async (_, request) => {
    const { status, headers, text } = await sendRaw(sandbox.url, request)
    expect(status, text).toBe(200)
    expect(headers['content-type']).toMatch(/^application\/json/)
    if (request.method !== 'HEAD') expect(JSON.parse(text)).toBeTypeOf('object')
  })

  it('is read as it was meant', async () => {
    const read = async (target: string) =>
      JSON.parse((await sendRaw(sandbox.url, { method: 'GET', target })).text) as { document?: unknown }
    await sendRaw(sandbox.url, upsert([product(4711, { rating_value: 4.5, variations: [] })]))
    // What the sandbox shows is what it was sent.
    expect((await read('/sandbox/products/4711')).document).toMatchObject({ product_id: 4711 })
    await sendRaw(sandbox.url, setConsent(`${consent}/b%2Bc@shop.example/true`))
    expect(await read('/sandbox/consents/b+c@shop.example')).toMatchObject({ consent: true })
    const created = await sendRaw(sandbox.url, accepted['a rule as a nested form'] as RawRequest)
    expect((JSON.parse(created.text) as { data: unknown }).data).toMatchObject({
      name: 'Summer',
      trigger: { $or: [{ tags: { $eq: 'summer' } }] },
      action: [{ type: '$addToSet', field: 'tags', value: 'warm' }],
      enabled: 1,
      type: 'tile',
    })
    const sent = ['acl_groups[]=1&acl_groups[]=3', 'name=%20A%20&description=a%2Bb+c']
    for (const query of sent)
      await sendRaw(sandbox.url, stack('PUT', `/api/users/3?${query}`, { headers: [] }))
    expect(await read('/sandbox/users/3')).toMatchObject({
      acl_groups: ['1', '3'],
      name: ' A ',
      description: 'a+b c',
    })
  })
})

describe('a connection', () => {
  it('is told to go on before it sends a body', async () => {
    await using sandbox = await open()
    for (const request of [upsert([pan]), ask(question), stack('POST', '/api/terms', { body: termForm })]) {
      await using connection = await RawConnection.open(sandbox.url)
      const { body = '', headers = [], ...head } = request
      const length = String(Buffer.byteLength(body))
      const expecting: Header[] = [...headers, ['Expect', '100-continue'], ['Content-Length', length]]
      const whole = JSON.stringify(body)
      const answer = connection.send({ ...head, headers: expecting })
      connection.write(body)
      expect(await answer, whole).toMatchObject({ interim: [100] })
    }
  })

  it('carries many requests, one after the other or all at once, and is kept when one is wrong', async () => {
    await using sandbox = await open()
    const requests = Object.values(accepted).filter(({ version }) => version !== '1.0')
    await using connection = await RawConnection.open(sandbox.url)
    for (const request of requests) expect((await connection.send(request)).status).toBe(200)
    for (const request of [upsert('{'), ask('{'), setConsent(`${consent}/nobody/true`)]) {
      expect((await connection.send(request)).status).toBe(400)
    }
    for (const request of requests.slice(0, 5)) connection.write(formatRequest(request))
    for (let answers = 0; answers < 5; answers += 1) {
      expect(await connection.answer()).toMatchObject({ status: 200 })
    }
    expect(connection.isClosed).toBe(false)
  })

  it('over HTTP/1.0 is closed after the answer, unless the client wants to keep it', async () => {
    await using sandbox = await open()
    await using once = await RawConnection.open(sandbox.url)
    once.write(formatRequest(upsert([pan], { version: '1.0' })))
    expect(await once.answersToEnd()).toMatchObject([{ status: 200, text: '{}' }])
    await using kept = await RawConnection.open(sandbox.url)
    const headers: Header[] = [productsAuth, json, ['Connection', 'keep-alive']]
    for (const _ of [1, 2]) {
      expect((await kept.send(upsert([pan], { version: '1.0', headers }))).status).toBe(200)
    }
  })
})
