import type { EndpointName } from '../../../../src/api/contract/endpoints.ts'

export type Body = Readonly<Record<string, unknown>>

/** One request that a fact demands to be accepted or refused. Bodies are JSON in the contract's form. */
export interface FactRequest {
  endpoint: EndpointName
  /** What the id in the path belongs to: created first with this body, or, for users, any that exists. */
  existing?: { endpoint: EndpointName; body: Body } | 'seeded user'
  /** Given literally in the path, instead of an existing id. */
  params?: Readonly<Record<string, string>>
  query?: Body
  body?: unknown
  /** Left out: the right ones. */
  credentials?: 'none' | 'wrong'
  /** `status`: where something else than a field decides. */
  outcome: 'accepted' | { refused: string; status?: 401 | 404 | 413 }
  /** Refused only where unknown fields are: elsewhere tolerated. */
  strictOnly?: true
}

export const validBodies = {
  rule: {
    name: 'Tag cats',
    trigger: { $or: [{ tags: { $eq: 'cat' } }] },
    action: [{ type: '$set', field: 'status', value: 'published' }],
    enabled: 1,
    type: 'tile',
  },
  view: { view_name: 'Newest', type: 'user', access_type: 'public', sort_by: 'newest' },
  term: { type: 'search', network: 'twitter', term: 'cats' },
  product: {
    product_id: '1',
    name: 'Lamp',
    url: 'https://shop.example/1',
    image_url: 'https://shop.example/1.png',
    availability: 'InStock',
    price: 19.99,
    price_currency_code: 'EUR',
  },
  'intent-request': { prompt: 'a lamp', customerId: 'c1', partnerId: 'p1', chatId: 't1' },
} as const satisfies Record<string, Body>

/** What an id in a path may belong to. */
export const existing = {
  rule: { endpoint: 'createRule', body: validBodies.rule },
  view: { endpoint: 'createView', body: validBodies.view },
  term: { endpoint: 'createTerm', body: validBodies.term },
  user: 'seeded user',
} as const
