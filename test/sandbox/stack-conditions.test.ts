import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openTestStack, type TestStack } from './stack-harness.ts'

interface Tile {
  id: number
  network: string
  text: string
  author: { handle: string; followers: number; verified: boolean }
  tags: string[]
  location: { name: string; country: string; latitude: number } | null
  stackla_sentiment_score?: number
  status: string
  hotspot: { product_id: string; x: number; y: number }[]
  votes: number
}

interface Asset {
  id: number
  tags: string[]
  collections: string[]
  workflow_status: string
  right_status: string
  expired_at: number | null
}

let stack: TestStack
let tiles: Tile[]
let assets: Asset[]

beforeAll(async () => {
  stack = await openTestStack()
  tiles = ((await stack.inspect('/sandbox/tiles?limit=1000')) as { tiles: Tile[] }).tiles
  assets = ((await stack.inspect('/sandbox/assets?limit=1000')) as { assets: Asset[] }).assets
})
afterAll(() => stack[Symbol.asyncDispose]())

/** Without actions nothing changes, so all conditions see the same records. */
async function countMatches(condition: unknown, type = 'tile'): Promise<number> {
  const rule = { name: 'r', trigger: { $or: [condition] }, action: [], enabled: 1, type }
  const created = await stack.call('POST', '/api/tilerules/', rule)
  expect(created.status, created.text).toBe(200)
  const applied = await stack.call('PUT', `/api/tilerules/${(created.data as { id: number }).id}/apply`)
  expect(applied.status, applied.text).toBe(200)
  return (applied.data as { matched: number }).matched
}

const tileConditions: [string, unknown, (tile: Tile) => boolean][] = [
  ['$eq', { status: { $eq: 'queued' } }, (tile) => tile.status === 'queued'],
  ['a value', { status: 'queued' }, (tile) => tile.status === 'queued'],
  ['a value in a list', { tags: 'summer' }, (tile) => tile.tags.includes('summer')],
  ['null, which a field that is missing has too', { location: null }, (tile) => tile.location === null],
  ['$ne', { tags: { $ne: 'summer' } }, (tile) => !tile.tags.includes('summer')],
  ['$gt', { stackla_sentiment_score: { $gt: 0 } }, (tile) => (tile.stackla_sentiment_score ?? -1) > 0],
  ['$gte', { votes: { $gte: 60 } }, (tile) => tile.votes >= 60],
  ['$lt', { 'author.followers': { $lt: 20_000 } }, (tile) => tile.author.followers < 20_000],
  ['$lte', { stackla_sentiment_score: { $lte: 0 } }, (tile) => (tile.stackla_sentiment_score ?? 1) <= 0],
  ['two operators', { votes: { $gt: 20, $lt: 40 } }, (tile) => tile.votes > 20 && tile.votes < 40],
  [
    'two fields',
    { status: 'queued', network: 'rss' },
    (tile) => tile.status === 'queued' && tile.network === 'rss',
  ],
  ['values of another type', { votes: { $gt: '20' } }, () => false],
  [
    '$exists',
    { stackla_sentiment_score: { $exists: true } },
    (tile) => tile.stackla_sentiment_score !== undefined,
  ],
  [
    '$exists false',
    { stackla_sentiment_score: { $exists: 0 } },
    (tile) => tile.stackla_sentiment_score === undefined,
  ],
  ['$exists below a field', { 'location.country': { $exists: true } }, (tile) => tile.location !== null],
  ['$type of a list', { tags: { $type: 'array' } }, () => true],
  ['$type of an element', { tags: { $type: 'string' } }, (tile) => tile.tags.length > 0],
  ['$type null or object', { location: { $type: ['null', 'object'] } }, () => true],
  ['$type by number', { location: { $type: 3 } }, (tile) => tile.location !== null],
  ['$regex', { text: { $regex: '^Best|three weeks' } }, (tile) => /^Best|three weeks/.test(tile.text)],
  ['$regex in a list', { tags: { $regex: '^s' } }, (tile) => tile.tags.some((tag) => tag.startsWith('s'))],
  ['$options', { text: { $regex: 'SNOW day', $options: 'i' } }, (tile) => /snow day/i.test(tile.text)],
  [
    '$all',
    { tags: { $all: ['summer', 'food'] } },
    (tile) => ['summer', 'food'].every((tag) => tile.tags.includes(tag)),
  ],
  ['$all of nothing', { tags: { $all: [] } }, () => false],
  ['$size', { tags: { $size: 2 } }, (tile) => tile.tags.length === 2],
  ['$size as text', { tags: { $size: '0' } }, (tile) => tile.tags.length === 0],
  [
    '$elemMatch on objects',
    { hotspot: { $elemMatch: { x: { $gt: 0.5 }, y: { $lt: 0.5 } } } },
    (tile) => tile.hotspot.some(({ x, y }) => x > 0.5 && y < 0.5),
  ],
  [
    '$elemMatch on values',
    { tags: { $elemMatch: { $gte: 's', $lt: 't' } } },
    (tile) => tile.tags.some((tag) => tag >= 's' && tag < 't'),
  ],
  ['$elemMatch on objects that are none', { tags: { $elemMatch: { name: 'summer' } } }, () => false],
  [
    '$all with $elemMatch',
    { hotspot: { $all: [{ $elemMatch: { x: { $gt: 0.5 } } }, { $elemMatch: { x: { $lte: 0.5 } } }] } },
    (tile) => tile.hotspot.some(({ x }) => x > 0.5) && tile.hotspot.some(({ x }) => x <= 0.5),
  ],
  ['a field of elements', { 'hotspot.x': { $gt: 0.9 } }, (tile) => tile.hotspot.some(({ x }) => x > 0.9)],
  ['an element by position', { 'tags.0': 'sale' }, (tile) => tile.tags[0] === 'sale'],
  ['$not', { votes: { $not: { $gt: 50 } } }, (tile) => tile.votes <= 50],
  ['$not with a pattern', { text: { $not: { $regex: 'boots' } } }, (tile) => !tile.text.includes('boots')],
  [
    '$and',
    { $and: [{ status: 'queued' }, { tags: { $size: 1 } }] },
    (tile) => tile.status === 'queued' && tile.tags.length === 1,
  ],
  [
    '$or',
    { $or: [{ status: 'queued' }, { votes: 3 }] },
    (tile) => tile.status === 'queued' || tile.votes === 3,
  ],
  ['$nor', { $nor: [{ status: 'queued' }, { status: 'disabled' }] }, (tile) => tile.status === 'published'],
  [
    '$or over one field',
    { votes: { $or: [{ $lt: 10 }, { $gt: 110 }, 50] } },
    (tile) => tile.votes < 10 || tile.votes > 110 || tile.votes === 50,
  ],
  [
    '$nor over one field beside an operator',
    { votes: { $gt: 10, $nor: [{ $gt: 50 }] } },
    (tile) => tile.votes > 10 && tile.votes <= 50,
  ],
  [
    'nesting',
    { $and: [{ $or: [{ $nor: [{ network: 'rss' }] }] }, { 'author.verified': { $ne: true } }] },
    (tile) => tile.network !== 'rss' && !tile.author.verified,
  ],
  [
    'an object',
    { location: { name: 'Berlin', country: 'DE', latitude: 52.52, longitude: 13.405 } },
    (tile) => tile.location?.name === 'Berlin',
  ],
  ['nothing', {}, () => true],
  ['fields of every object', { 'toString.name': 'toString', constructor_: 1 }, () => false],
]

/** Paths that cross a list lead to what its elements hold, not to a list. */
const listConditions: typeof tileConditions = [
  ['no list where its elements have the field', { 'hotspot.x': { $type: 'array' } }, () => false],
  [
    'no size there either',
    { $or: [{ 'hotspot.x': { $size: 0 } }, { 'tags.length': { $size: 0 } }] },
    () => false,
  ],
  ['nor is it an empty list', { 'hotspot.product_id': { $ne: [] } }, () => true],
  ['$elemMatch has no list there', { 'hotspot.x': { $elemMatch: { $gt: 0 } } }, () => false],
  ['a field that no element has', { 'hotspot.nope': null }, (tile) => tile.hotspot.length > 0],
  ['a field of a position', { 'hotspot.1.x': { $gt: 0.5 } }, (tile) => (tile.hotspot[1]?.x ?? 0) > 0.5],
  ['no element at a position', { 'tags.1': null }, (tile) => tile.tags.length < 2],
  ['$all in elements', { 'hotspot.x': { $all: [0.6] } }, (tile) => tile.hotspot.some(({ x }) => x === 0.6)],
  ['$gte null', { 'location.country': { $gte: null } }, (tile) => tile.location === null],
]

describe('conditions on tiles', () => {
  it.each([...tileConditions, ...listConditions])('%s', async (_, condition, expected) => {
    expect(await countMatches(condition)).toBe(tiles.filter(expected).length)
  })

  it('tell records apart, nearly all of them', () => {
    const telling = tileConditions.filter(([, , expected]) => {
      const { length } = tiles.filter(expected)
      return length > 0 && length < tiles.length
    })
    expect(telling.length).toBeGreaterThan(tileConditions.length - 10)
  })
})

describe('conditions on assets', () => {
  const conditions: [string, unknown, (asset: Asset) => boolean][] = [
    ['tags', { tags: { $size: 2 } }, ({ tags }) => tags.length === 2],
    ['collections', { collections: 'Press' }, ({ collections }) => collections.includes('Press')],
    [
      'workflow_status',
      { workflow_status: { $ne: 'draft' } },
      ({ workflow_status: status }) => status !== 'draft',
    ],
    [
      'right_status',
      { right_status: { $regex: '^not_' } },
      ({ right_status: status }) => status === 'not_requested',
    ],
    [
      'expired_at',
      { expired_at: { $lt: 1_767_225_600 } },
      ({ expired_at: at }) => at !== null && at < 1_767_225_600,
    ],
  ]
  it.each(conditions)('%s', async (_, condition, expected) => {
    const { length } = assets.filter(expected)
    expect(length).toBeGreaterThan(0)
    expect(length).toBeLessThan(assets.length)
    expect(await countMatches(condition, 'asset')).toBe(length)
  })
})

describe('a trigger is refused', () => {
  const deep = (levels: number): unknown => (levels === 0 ? { tags: 1 } : { $and: [deep(levels - 1)] })
  const triggers: [string, unknown, string][] = [
    ['$where', { $or: [{ $where: 'true' }] }, 'trigger.$or[0].$where: '],
    ['$where on a field', { $or: [{ tags: { $where: 'true' } }] }, 'trigger.$or[0].tags.$where: '],
    ['$where in $not', { $or: [{ tags: { $not: { $where: '1' } } }] }, 'trigger.$or[0].tags.$not.$where: '],
    ['$where in $and', { $or: [{ $and: [{ a: 1 }, { $where: '1' }] }] }, 'trigger.$or[0].$and[1].$where: '],
    [
      '$where in $elemMatch',
      { $or: [{ tags: { $elemMatch: { a: { $where: '1' } } } }] },
      'trigger.$or[0].tags.$elemMatch.a.$where: ',
    ],
    [
      '$where in $all',
      { $or: [{ tags: { $all: [{ $elemMatch: { $where: '1' } }] } }] },
      'trigger.$or[0].tags.$all[0].$elemMatch.$where: ',
    ],
    ['$where in a value', { $or: [{ tags: { a: { $where: '1' } } }] }, 'trigger.$or[0].tags.a.$where: '],
    ['$where in a value of $eq', { $or: [{ tags: { $eq: [{ $where: '1' }] } }] }, 'trigger.$or[0].tags.$eq'],
    ['$where beside $or', { $or: [], $where: '1' }, 'trigger.$where: '],
    [
      'an unknown operator',
      { $or: [{ tags: { $in: ['a'] } }] },
      'trigger.$or[0].tags.$in: there is no operator $in',
    ],
    ['an unknown join', { $or: [{ $expr: { a: 1 } }] }, 'trigger.$or[0].$expr: there is no operator $expr'],
    ['an operator in the wrong place', { $or: [{ $eq: 1 }] }, 'trigger.$or[0].$eq: '],
    ['operators mixed with fields', { $or: [{ tags: { $eq: 1, name: 'a' } }] }, 'trigger.$or[0].tags.name: '],
    ['$or that is no list', { $or: [{ $and: { a: 1 } }] }, 'trigger.$or[0].$and: '],
    ['$size of text', { $or: [{ tags: { $size: 'many' } }] }, 'trigger.$or[0].tags.$size: '],
    ['$exists of text', { $or: [{ tags: { $exists: 'perhaps' } }] }, 'trigger.$or[0].tags.$exists: '],
    ['an unknown type', { $or: [{ tags: { $type: 'json' } }] }, 'trigger.$or[0].tags.$type: '],
    ['$all of one value', { $or: [{ tags: { $all: 'a' } }] }, 'trigger.$or[0].tags.$all: '],
    ['$not of a value', { $or: [{ tags: { $not: 'a' } }] }, 'trigger.$or[0].tags.$not: '],
    ['a pattern that is no text', { $or: [{ text: { $regex: 5 } }] }, 'trigger.$or[0].text.$regex: '],
    [
      'a pattern that ends early',
      { $or: [{ text: { $regex: '(a' } }] },
      'trigger.$or[0].text.$regex: RE2 refuses',
    ],
    ['a look-ahead', { $or: [{ text: { $regex: 'a(?=b)' } }] }, 'trigger.$or[0].text.$regex: RE2 refuses'],
    [
      'a pattern of a million states',
      { $or: [{ text: { $regex: '(a{500}){2}' } }] },
      'trigger.$or[0].text.$regex: ',
    ],
    [
      'an unknown option',
      { $or: [{ text: { $regex: 'a', $options: 'x' } }] },
      'trigger.$or[0].text.$regex: the option "x"',
    ],
    ['$options alone', { $or: [{ text: { $options: 'i' } }] }, 'trigger.$or[0].text.$options: '],
    [
      'a prototype',
      { $or: [{ 'a.__proto__.b': 1 }] },
      'trigger.$or[0]["a.__proto__.b"]: __proto__ is no field',
    ],
    ['an empty step', { $or: [{ 'a..b': 1 }] }, 'trigger.$or[0]["a..b"]: '],
    ['many levels', { $or: [deep(30)] }, 'a trigger has at most 20 levels'],
    ['many values', { $or: [{ tags: { $eq: Array(3_000).fill(1) } }] }, 'a trigger has at most 2000 values'],
    [
      'many patterns',
      { $or: Array(11).fill({ text: { $regex: 'a' } }) },
      'a trigger has at most 10 patterns',
    ],
  ]
  const rule = { name: 'r', action: [], enabled: 1, type: 'tile' }

  it.each(triggers)('%s', async (_, trigger, message) => {
    const created = await stack.call('POST', '/api/tilerules/', { ...rule, trigger })
    expect(created.status).toBe(400)
    expect(created.errors[0]).toMatchObject({ code: 400, message_id: 'rule:invalid' })
    expect(created.errors.map((error) => error.message).join('\n')).toContain(message)
  })

  it('on an update too, which then changes nothing', async () => {
    const created = await stack.call('POST', '/api/tilerules/', { ...rule, trigger: { $or: [] } })
    const { id } = created.data as { id: number }
    const updated = await stack.call('PUT', `/api/tilerules/${id}`, {
      name: 'x',
      trigger: { $or: [{ $where: '1' }] },
    })
    expect(updated.status).toBe(400)
    expect((await stack.call('GET', `/api/tilerules/${id}`)).data).toEqual(created.data)
  })
})

it('patterns that would occupy other engines for ever are evaluated', async () => {
  await using own = await openTestStack()
  const text = `${'a'.repeat(5_000)}!`
  const apply = async (condition: unknown, action: unknown[]) => {
    const rule = { name: 'r', trigger: { $or: [condition] }, action, enabled: 1, type: 'tile' }
    const { id } = (await own.call('POST', '/api/tilerules/', rule)).data as { id: number }
    return (await own.call('PUT', `/api/tilerules/${id}/apply`)).data
  }
  await apply({ votes: { $gte: 0 } }, [{ type: '$set', field: 'text', value: text }])
  expect(await apply({ text: { $regex: '^(a+)+$' } }, [])).toMatchObject({ matched: 0 })
  expect(await apply({ text: { $regex: '^(a|aa)+!$' } }, [])).toMatchObject({ matched: tiles.length })
})
