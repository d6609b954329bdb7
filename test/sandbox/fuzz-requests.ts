import fc from 'fast-check'
import { type ApiGroup, endpoints } from '../../src/api/contract/endpoints.ts'
import { facts } from '../api/contract/facts/facts.ts'
import { acceptedAndRefused } from '../api/contract/facts/requests.ts'
import type { RawRequest } from '../support/raw-http.ts'
import { awkwardText, changed, changesOf, damage, type EncodedBody, encode } from './fuzz-bodies.ts'
import { credentialsFor, toWireRequest, type WireRequest } from './wire-request.ts'

export interface FuzzRequest extends RawRequest {
  /** Nothing that a server would have to answer: the connection may also be closed. */
  isNoHttp?: true
}

/** Fields that real clients send, and the paths that they send them to; without those that are long on purpose. */
interface Base extends WireRequest {
  group: ApiGroup | 'control'
}
const known = Object.values(
  Object.groupBy(
    facts.filter(({ about }) => about !== 'limit').flatMap(acceptedAndRefused),
    ({ endpoint }) => endpoint,
  ),
).map((requests = []) =>
  requests.map((request): Base => ({ ...toWireRequest(request), group: endpoints[request.endpoint].group })),
)

const control = (method: string, path: string, query: Record<string, string> = {}): Base => ({
  method,
  path,
  query,
  body: undefined,
  group: 'control',
})
const page = { offset: '1', limit: '2' }
const controls = [
  control('GET', '/sandbox/summary'),
  control('GET', '/sandbox/products', page),
  control('GET', '/sandbox/products', { id: '1' }),
  control('GET', '/sandbox/products/1'),
  control('GET', '/sandbox/products.ndjson'),
  control('DELETE', '/sandbox/products'),
  control('GET', '/sandbox/calls', { ids: '1', limit: '3' }),
  control('GET', '/sandbox/consents', page),
  control('GET', '/sandbox/consents/calls', page),
  control('GET', '/sandbox/consents/ann@shop.example'),
  control('GET', '/sandbox/consents.ndjson'),
  control('DELETE', '/sandbox/consents'),
  ...['users', 'tiles', 'assets'].flatMap((name) => [
    control('GET', `/sandbox/${name}`, page),
    control('GET', `/sandbox/${name}/1`),
  ]),
  control('GET', '/sandbox/faults'),
  control('DELETE', '/sandbox/faults/1'),
  control('POST', '/sandbox/reset'),
  control('GET', '/openapi.json'),
  control('GET', '/'),
]

const methods = [
  'GET',
  'POST',
  'PUT',
  'DELETE',
  'PATCH',
  'HEAD',
  'OPTIONS',
  'TRACE',
  'PROPFIND',
  'QUERY',
  'LOCK',
]

const awkwardSegment = fc.constantFrom(
  ...[
    '',
    '.',
    '..',
    '%2e%2e',
    '%00',
    '%zz',
    '%',
    '%F0%9F',
    '%2F',
    'x',
    '-1',
    '1e3',
    '0x1',
    '99999999999999999999',
  ],
  ...[
    'NaN',
    'apply',
    'true',
    '%40',
    'a@b.example',
    '__proto__',
    'constructor',
    '*',
    ':id',
    ';',
    'x'.repeat(3_000),
  ],
)

const pathChange: fc.Arbitrary<(path: string) => string> = fc.oneof(
  { weight: 40, arbitrary: fc.constant((path: string) => path) },
  { weight: 8, arbitrary: fc.nat(30).map((id) => (path: string) => path.replace(/\/1(?=\/|$)/, `/${id}`)) },
  fc.constant((path: string) => (path.endsWith('/') ? path.slice(0, -1) : `${path}/`)),
  fc.constant((path: string) => `/${path}`),
  fc.constant((path: string) => path.toUpperCase()),
  fc.constant((path: string) => path.replace(/[a-z]/g, (letter) => `%${letter.charCodeAt(0).toString(16)}`)),
  fc.tuple(fc.nat(9), awkwardSegment).map(([at, segment]) => (path: string) => {
    const segments = path.split('/')
    segments[1 + (at % Math.max(1, segments.length - 1))] = segment
    return segments.join('/')
  }),
  awkwardSegment.map((segment) => (path: string) => `${path}/${segment}`),
  awkwardSegment.map((segment) => (path: string) => `${path}${segment}`),
)

const encodedText = awkwardText.map((text) => encodeURIComponent(text.toWellFormed()))
const queryPair = fc
  .tuple(
    fc.oneof(
      fc.constantFrom(
        ...[
          'page',
          'limit',
          'order_by',
          'order_by_direction',
          'merchant-id',
          'access_token',
          'stack',
          'name',
        ],
        ...[
          'offset',
          'ids',
          'id',
          'active',
          'tags[]',
          'trigger[$or][0][a]',
          'a[b][c][d]',
          '__proto__[x]',
          '[]',
        ],
      ),
      encodedText,
    ),
    encodedText,
  )
  .map(([name, value]) => `${name}=${value}`)
const moreQuery = fc.oneof(
  { weight: 6, arbitrary: fc.constant('') },
  { weight: 4, arbitrary: fc.array(queryPair, { maxLength: 4 }).map((pairs) => pairs.join('&')) },
  fc.constantFrom('?', '&&=&', '%', '=', `a${'[b]'.repeat(80)}=1`, 'a=1&'.repeat(2_000), '#x'),
)

const moreHeader = fc.oneof(
  fc.constantFrom<readonly [string, string]>(
    ['content-encoding', 'gzip'],
    ['content-encoding', ''],
    ['expect', '100-continue'],
    ['origin', 'https://elsewhere.example'],
    ['origin', 'null'],
    ['sec-fetch-site', 'cross-site'],
    ['x-http-method-override', 'DELETE'],
    ['x-access-token', 'sandbox-stack-token'],
    ['authorization', 'Basic'],
    ['authorization', 'Bearer \xff\xfe'],
    ['authorization', `Basic ${'A'.repeat(5_000)}`],
    ['cookie', 'a=b; c'],
    ['if-none-match', '*'],
    ['range', 'bytes=0-1'],
    ['accept', 'text/html'],
    ['accept-encoding', 'br, gzip'],
    ['connection', 'close'],
    ['connection', 'upgrade'],
    ['upgrade', 'websocket'],
    ['host', 'elsewhere.example'],
    ['te', 'trailers'],
    ['forwarded', 'for=1.2.3.4'],
  ),
  fc
    .tuple(fc.stringMatching(/^[a-z-]{1,12}$/), fc.stringMatching(/^[\x20-\x7e\x80-\xff]{0,20}$/))
    .map(([name, value]) => [`x-${name}`, value] as const),
)

const contentType = fc.constantFrom(
  ...[
    'application/json',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=xyz',
    'text/plain',
  ],
  ...[
    'multipart/form-data',
    'multipart/form-data; boundary=',
    'nonsense',
    '',
    'application/json; charset=utf-16',
  ],
  ...['application/vnd.api+json', '\xff/\xff', 'application/xml'],
)

const options = { tokens: tokensOfSandbox(), stackName: 'sandbox' }

/** Undefined but for one time in so many. */
function seldom<T>(arbitrary: fc.Arbitrary<T>, times: number): fc.Arbitrary<T | undefined> {
  return fc.oneof({ weight: times, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary })
}

const structured: fc.Arbitrary<FuzzRequest> = fc
  .record({
    base: fc.oneof(
      { weight: 8, arbitrary: fc.constantFrom(...known).chain((requests) => fc.constantFrom(...requests)) },
      { weight: 1, arbitrary: fc.constantFrom(...controls) },
    ),
    method: seldom(fc.constantFrom(...methods), 12),
    pathChange,
    moreQuery,
    credentials: fc.oneof(
      { weight: 8, arbitrary: fc.constant('right' as const) },
      fc.constantFrom('none' as const, 'wrong' as const),
    ),
    otherGroup: seldom(fc.constantFrom<ApiGroup>('products', 'consent', 'intent', 'stack'), 15),
    changes: fc.oneof({ weight: 1, arbitrary: fc.constant([]) }, { weight: 3, arbitrary: changesOf }),
    encoding: fc.oneof(
      { weight: 5, arbitrary: fc.constant('json' as const) },
      fc.constantFrom('form' as const, 'multipart' as const, 'none' as const),
    ),
    contentType: seldom(contentType, 6),
    damage,
    moreHeaders: fc.oneof(
      { weight: 3, arbitrary: fc.constant([]) },
      { weight: 1, arbitrary: fc.array(moreHeader, { maxLength: 3 }) },
    ),
    chunkBytes: seldom(fc.integer({ min: 1, max: 500 }), 6),
    version: fc.oneof(
      { weight: 15, arbitrary: fc.constant('1.1' as const) },
      { weight: 1, arbitrary: fc.constant('1.0' as const) },
    ),
  })
  .map((parts) => {
    const { base, pathChange: change, chunkBytes, version, moreHeaders } = parts
    const group = parts.otherGroup ?? base.group
    const given =
      group === 'control' ? { query: {}, headers: {} } : credentialsFor(group, options, parts.credentials)
    const encoded = encode(changed(base.body, parts.changes), parts.encoding)
    const type = parts.contentType ?? encoded.contentType
    const query = [new URLSearchParams({ ...given.query, ...base.query }).toString(), parts.moreQuery]
    const text = query.filter((one) => one !== '').join('&')
    return {
      method: parts.method ?? base.method,
      target: `${change(base.path)}${text === '' ? '' : `?${text}`}`,
      headers: [
        ...Object.entries(given.headers),
        ...(type === undefined ? [] : [['content-type', type] as const]),
        ...moreHeaders,
      ],
      version,
      ...withBody(encoded, parts.damage, version === '1.1' ? chunkBytes : undefined),
    }
  })

function withBody(
  { body }: EncodedBody,
  damaged: (body: Uint8Array) => Uint8Array,
  chunkBytes: number | undefined,
): Pick<RawRequest, 'body' | 'chunkBytes'> {
  if (body === undefined) return {}
  const bytes = damaged(Buffer.from(body))
  return chunkBytes === undefined || bytes.length > 10_000 ? { body: bytes } : { body: bytes, chunkBytes }
}

/** Bytes that are no request, or one that cannot be understood. */
const noHttp: fc.Arbitrary<FuzzRequest> = fc
  .oneof(
    fc.uint8Array({ minLength: 1, maxLength: 200 }),
    structured.map(({ target }) => Buffer.from(`GET ${target}\r\nHost\r\n\r\n`)),
    fc.constantFrom(
      ...[
        'GET / HTTP/9.9\r\n\r\n',
        'CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n',
        'POST /api HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n',
        'POST /api HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n',
        'POST /api HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n',
        'POST /v1/products/upsert HTTP/1.1\r\nHost: a\r\nContent-Length: 5000\r\n\r\n[{',
        `GET / HTTP/1.1\r\nHost: a\r\n${'x: y\r\n'.repeat(3_000)}\r\n`,
        'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
      ].map((text) => Buffer.from(text)),
    ),
  )
  .map((bytes) => ({ method: 'GET', target: '', body: bytes, isNoHttp: true as const }))

/** Requests to every route of a sandbox that has its default tokens, right but for something. */
export const arbitraryRequest: fc.Arbitrary<FuzzRequest> = fc.oneof(
  { weight: 19, arbitrary: structured },
  { weight: 1, arbitrary: noHttp },
)

function tokensOfSandbox() {
  return {
    products: 'sandbox-token',
    email: 'sandbox-email-token',
    intent: 'sandbox-intent-token',
    stack: 'sandbox-stack-token',
  }
}
