import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { networksByType, termNetworks, typesWithSourceUser } from '../../src/api/contract/term.ts'
import { openTestStack, type TestStack } from './stack-harness.ts'

let stack: TestStack
let nowMs = Date.UTC(2026, 5, 1)
const clock = { now: () => nowMs, monotonic: () => nowMs, sleep: async () => {} }

beforeEach(async () => {
  stack = await openTestStack({ clock, rate: { requests: 100_000, perMs: 1_000 } })
})
afterEach(() => stack[Symbol.asyncDispose]())

const term = { name: 'Summer', type: 'hashtag', network: 'twitter', term: '#summer' }
const create = async (more: Record<string, unknown> = {}) =>
  (await stack.call('POST', '/api/terms', { ...term, ...more })).data as { id: number }

describe('a term', () => {
  it('is created, read, changed and removed', async () => {
    const all = {
      ...term,
      ...{ display_name: 'Summer!', active: true, filter: 'a,b', exclude_filter: 'c', fan_filter: 'd' },
      ...{
        fan_exclude_filter: 'e',
        minimum_followers: 10,
        moderate_text: 'publish',
        moderate_image: 'queue',
      },
      ...{
        moderate_video: 'exclude',
        retweet_enable: 1,
        reply_enable: 0,
        reply_to_enable: false,
        partial_match: true,
      },
      ...{ include_fan_content: true, include_hashtag_in_comments: 1, include_official_content: false },
      ...{
        search_exact_phrase: 'x y',
        verified_accounts: 'yes',
        num_of_backfill: 50,
        whitelist_handles: 'a',
      },
      ...{ blacklist_handles: 'b', source_user_id: '77', tags: ['1', 2] },
    }
    const { id } = await create(all)
    const seconds = nowMs / 1000
    const created = { id, ...all, created: seconds, modified: seconds, last_ingestion_post: null }
    expect((await stack.call('GET', `/api/terms/${id}`)).data).toEqual(created)
    nowMs += 3_000
    const changed = { ...created, term: '#sun', tags: [], modified: seconds + 3 }
    expect((await stack.call('PUT', `/api/terms/${id}`, { term: '#sun', tags: [] })).data).toEqual(changed)
    expect((await stack.call('DELETE', `/api/terms/${id}`)).status).toBe(200)
    const gone = await stack.call('GET', `/api/terms/${id}`)
    expect(gone.errors).toMatchObject([{ code: 404, error_code: 1080404, message_id: 'term:not_found' }])
  })

  it('may have the name of another', async () => {
    expect((await create()).id).not.toBe((await create()).id)
  })

  it('exists for the networks of its type', async () => {
    for (const [type, networks] of Object.entries(networksByType)) {
      const source = typesWithSourceUser.some((one) => one === type) ? { source_user_id: '1' } : {}
      for (const network of termNetworks) {
        const isKnown = networks === 'any' || networks.some((one) => one === network)
        const { status, errors } = await stack.call('POST', '/api/terms', {
          ...term,
          type,
          network,
          ...source,
        })
        expect(status, `${type} ${network}`).toBe(isKnown ? 200 : 400)
        if (!isKnown) expect(errors[0]?.message).toMatch(/^network: /)
      }
    }
  })

  it.each([
    [{ type: undefined }, 'type: found nothing'],
    [{ network: undefined }, 'network: found nothing'],
    [{ term: undefined }, 'term: found nothing'],
    [{ type: 'user' }, 'source_user_id: '],
    [{ network: 'instagram', minimum_followers: 5 }, 'minimum_followers: '],
    [{ type: 'location', minimum_followers: 5 }, 'minimum_followers: '],
    [{ moderate_text: 'delete' }, 'moderate_text: '],
    [{ active: 'maybe' }, 'active: '],
    [{ tags: { a: 1 } }, 'tags: '],
    [{ num_of_backfill: 1.5 }, 'num_of_backfill: '],
    [{ name: ['a'] }, 'name: '],
  ])('is refused with %j', async (more, message) => {
    const { status, errors } = await stack.call('POST', '/api/terms', { ...term, ...more })
    expect(status).toBe(400)
    expect(errors[0]).toMatchObject({ code: 400, message_id: 'term:invalid' })
    expect(errors[0]?.message).toContain(message)
  })

  it('keeps what is fixed when it is created', async () => {
    const { id } = await create({ num_of_backfill: 20 })
    const path = `/api/terms/${id}`
    const equal = {
      type: 'hashtag',
      network: 'twitter',
      num_of_backfill: '20',
      name: 'Sent back',
      id: 9,
      created: 1,
    }
    expect((await stack.call('PUT', path, equal)).data).toMatchObject({
      id,
      name: 'Sent back',
      num_of_backfill: 20,
    })
    for (const [field, value] of [
      ['type', 'search'],
      ['network', 'instagram'],
      ['num_of_backfill', 21],
    ] as const) {
      const { status, errors } = await stack.call('PUT', path, { name: 'Lost', [field]: value })
      expect(status).toBe(400)
      expect(errors).toMatchObject([{ message_id: 'term:fixed_field' }])
      expect(errors[0]?.message).toMatch(new RegExp(`^${field}: `))
    }
    expect((await stack.send('PUT', `${path}?type=search`)).status).toBe(400)
    expect((await stack.call('GET', path)).data).toMatchObject({ name: 'Sent back' })
  })

  it('must be possible as it would become', async () => {
    const account = await create({ type: 'user', network: 'flickr', source_user_id: '5' })
    const emptied = await stack.call('PUT', `/api/terms/${account.id}`, { source_user_id: '' })
    expect(emptied.errors[0]?.message).toMatch(/^source_user_id: /)
    const photos = await create({ network: 'instagram' })
    const followers = await stack.call('PUT', `/api/terms/${photos.id}`, { minimum_followers: 5 })
    expect(followers.errors[0]?.message).toMatch(/^minimum_followers: /)
    const tweets = await create()
    expect((await stack.call('PUT', `/api/terms/${tweets.id}`, { minimum_followers: 5 })).status).toBe(200)
  })
})

it('in strict mode an update does not name what is fixed', async () => {
  await using strict = await openTestStack({ strict: true })
  await strict.call('POST', '/api/terms', term)
  const { status, errors } = await strict.call('PUT', '/api/terms/1', { type: 'hashtag' })
  expect(status).toBe(400)
  expect(errors[0]?.message).toMatch(/^type: .*fixed/)
})

it('terms are listed by page', async () => {
  for (let count = 0; count < 60; count += 1) await create({ name: `t${count}` })
  const page = async (query: string) => stack.send('GET', `/api/terms${query}`)
  const ids = async (query: string) => ((await page(query)).data as { id: number }[]).map(({ id }) => id)
  expect(await ids('')).toEqual(Array.from({ length: 25 }, (_, index) => index + 1))
  expect(await ids('?page=3')).toEqual([51, 52, 53, 54, 55, 56, 57, 58, 59, 60])
  expect(await ids('?page=2&limit=50')).toHaveLength(10)
  expect(await ids('?limit=100')).toHaveLength(60)
  expect(await ids('?page=9007199254740991&limit=100')).toEqual([])
  expect((await page('?page=9')).count).toEqual({ results_total: '60', total: '60' })
  for (const query of [
    'limit=101',
    'limit=0',
    'page=0',
    'page=-1',
    'page=1.5',
    'limit=x',
    'page=1&page=2',
    'page[a]=1',
  ]) {
    const { status, errors } = await page(`?${query}`)
    expect(status, query).toBe(400)
    expect(errors[0]?.message).toMatch(/^(page|limit): /)
    expect(errors[0]?.message_id).toBe('term:invalid_query')
  }
})
