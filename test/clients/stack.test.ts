import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ApiCallError, ApiResponseError, ContractError } from '../../src/api/api-error.ts'
import type { ModerationView } from '../../src/api/contract/moderation-view.ts'
import type { RuleCreate } from '../../src/api/contract/rule.ts'
import type { TermCreate, TermUpdate } from '../../src/api/contract/term.ts'
import { StackClient } from '../../src/api/stack-client.ts'
import { flattenView } from '../../src/api/view-form.ts'
import { inMeaning } from './meaning.ts'
import { type OpenTarget, runName, targetOf } from './target.ts'

const target = targetOf('stack')
const nobody = 999_999_999

/** Matches nothing, so that applying it changes nothing. */
const rule: RuleCreate = {
  name: `${runName} rule`,
  trigger: { $or: [{ tags: { $eq: `${runName}-nothing` } }] },
  action: [{ type: '$addToSet', field: 'tags', value: runName }],
  enabled: 0,
  type: 'tile',
}
const view = {
  view_name: `${runName} view`,
  type: 'user',
  access_type: 'public',
  sort_by: 'newest',
  columns_tags_col: true,
  columns_pin_col: false,
  filter_value_origin: 'twitter,instagram',
  other_all_content_length: 50,
  date_range_from: '2026-03-01T08:00:00Z',
} as const
/** Takes nothing in. */
const term: TermCreate = {
  name: `${runName} term`,
  type: 'search',
  network: 'twitter',
  term: `${runName}-nothing`,
  active: 0,
  minimum_followers: 1_000_000,
  moderate_text: 'queue',
}

async function failure(call: Promise<unknown>): Promise<unknown> {
  return call.then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
}

async function expectGone(call: Promise<unknown>): Promise<void> {
  const error = await failure(call)
  expect(error).toBeInstanceOf(ApiResponseError)
  expect((error as ApiResponseError).status).toBe(404)
}

async function collect<T>(records: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = []
  for await (const record of records) all.push(record)
  return all
}

const idsOf = (records: readonly { id: number | string }[]) => records.map(({ id }) => id)

describe.skipIf(target.missing.length > 0)(`StackClient at ${target.where}`, { timeout: 1_200_000 }, () => {
  let opened: OpenTarget
  let client: StackClient
  const openClient = (accessToken?: string) =>
    new StackClient({
      ...opened.client,
      accessToken: accessToken ?? opened.settings.STACK_ACCESS_TOKEN ?? '',
      stack: opened.settings.STACK_NAME ?? '',
    })
  beforeAll(async () => {
    opened = await target.open()
    client = openClient()
  })
  afterAll(async () => {
    await client?.close()
    await opened?.[Symbol.asyncDispose]()
  })

  describe('reading', () => {
    it('lists each kind, and gets each record that is listed', async () => {
      const [rules, views] = [await client.rules.list(), await client.views.list()]
      const [users, terms] = [await client.users.list(), await client.terms.list()]
      for (const { id } of rules.slice(0, 2)) expect((await client.rules.get(id)).id).toEqual(id)
      for (const { id } of views.slice(0, 2)) expect((await client.views.get(id)).id).toEqual(id)
      for (const { id } of users.records.slice(0, 2)) expect((await client.users.get(id)).id).toEqual(id)
      for (const { id } of terms.records.slice(0, 2)) expect((await client.terms.get(id)).id).toEqual(id)
      expect([users.page, users.limit, terms.page, terms.limit]).toEqual([1, 25, 1, 25])
      expect(users.records.length).toBeLessThanOrEqual(25)
    })

    it('reads all users page by page, each once', async () => {
      const { records, total } = await client.users.list({ limit: 3 })
      expect(records.length).toBeLessThanOrEqual(3)
      const all = await collect(client.users.all())
      if (total !== undefined) expect(all).toHaveLength(total)
      expect(new Set(idsOf(all)).size).toBe(all.length)
      const second = await client.users.list({ page: 2, limit: 3 })
      expect([...idsOf(records), ...idsOf(second.records)]).toEqual(idsOf(all).slice(0, 6))
    })

    it('reads all terms page by page, each once', async () => {
      const all = await collect(client.terms.all())
      expect(new Set(idsOf(all)).size).toBe(all.length)
    })

    it.each(['id', 'name', 'email', 'surname', 'username', 'created'] as const)(
      'orders users by %s, both ways',
      async (orderBy) => {
        const up = await client.users.list({ orderBy, orderByDirection: 'asc', limit: 100 })
        const down = await client.users.list({ orderBy, orderByDirection: 'desc', limit: 100 })
        if (orderBy === 'id' && (up.total ?? 101) <= 100) {
          expect(idsOf(down.records)).toEqual(idsOf(up.records).toReversed())
          expect(idsOf(up.records)).toEqual(idsOf(up.records).toSorted((a, b) => Number(a) - Number(b)))
        }
        expect(down.records).toHaveLength(up.records.length)
      },
    )

    it('says that nothing is there', async () => {
      await expectGone(client.terms.get(nobody))
      await expectGone(client.users.get(nobody))
      await expectGone(client.views.get(nobody))
      await expectGone(client.rules.get(nobody))
    })

    it('is told that a token is wrong, and what to check', async () => {
      const wrong = `wrong-${runName}`
      await using other = openClient(wrong)
      const error = await failure(other.rules.list())
      expect(error).toBeInstanceOf(ApiResponseError)
      const { status, hint, message } = error as ApiResponseError
      expect([401, 403]).toContain(status)
      expect(hint).toContain('name of the Stack')
      expect(message + JSON.stringify(error)).not.toMatch(new RegExp(`${wrong}|access_token=`))
    })

    it.each([
      ['limit', () => client.users.list({ limit: 101 })],
      ['limit', () => client.terms.list({ limit: 0 })],
      ['page', () => client.terms.list({ page: 0 })],
      ['order_by', () => client.users.list({ orderBy: 'age' as 'id' })],
      ['order_by_direction', () => client.users.list({ orderByDirection: 'up' as 'asc' })],
      ['id', () => client.users.get('')],
      ['id', () => client.rules.delete('..')],
      ['display_timezone', () => client.users.update(nobody, { display_timezone: 'Berlin time' })],
      ['type', () => client.terms.update(nobody, { type: 'set' } as object)],
      ['source_user_id', () => client.terms.create({ type: 'user', network: 'twitter', term: 'a' })],
      ['network', () => client.terms.create({ type: 'set', network: 'rss', term: 'a', source_user_id: '1' })],
      ['columns_tag_col', () => client.views.create({ columns_tag_col: true } as object)],
      ['enabled', () => client.rules.create({ ...rule, enabled: 2 as 1 })],
    ])('sends nothing whose %s breaks the contract', async (field, call) => {
      const error = await failure(call())
      expect(error).toBeInstanceOf(ContractError)
      expect((error as ContractError).problems.map((problem) => problem.field)).toEqual([field])
    })

    it('gives a call up', async () => {
      const error = await failure(client.terms.list({}, { signal: AbortSignal.abort('enough') }))
      expect(error).toBeInstanceOf(ApiCallError)
      expect(error).toMatchObject({ code: 'call-aborted', cause: 'enough', mayHaveTakenEffect: false })
    })
  })

  describe.skipIf(!target.mayWrite)('writing', () => {
    it('takes a rule from its creation to its deletion', async () => {
      const { id } = await client.rules.create(rule)
      try {
        expectMeaning('rule', rule, await client.rules.get(id))
        await client.rules.apply(id)
        const change = { name: `${runName} renamed`, trigger: { $or: [{ status: { $eq: runName } }] } }
        await client.rules.update(id, change)
        expectMeaning('rule', { ...rule, ...change }, await client.rules.get(id))
        expect(idsOf(await client.rules.list())).toContain(id)
      } finally {
        await client.rules.delete(id)
      }
      await expectGone(client.rules.get(id))
      expect(idsOf(await client.rules.list())).not.toContain(id)
    })

    it('takes a moderation view from its creation to its deletion', async () => {
      const { id } = await client.views.create(view)
      const expectView = (written: object, read: ModerationView) =>
        expectMeaning('view', written, flattenView(read))
      try {
        expectView(view, await client.views.get(id))
        const change = { view_name: `${runName} renamed`, columns_tags_col: false, other_live_updates: true }
        await client.views.update(id, change)
        expectView({ ...view, ...change }, await client.views.get(id))
        expect(idsOf(await client.views.list())).toContain(id)
      } finally {
        await client.views.delete(id)
      }
      await expectGone(client.views.get(id))
    })

    it('takes a term from its creation to its deletion', async () => {
      const { id } = await client.terms.create(term)
      try {
        expectMeaning('term', term, await client.terms.get(id))
        const change: TermUpdate = { display_name: 'Renamed', moderate_text: 'disable', tags: [] }
        await client.terms.update(id, change)
        expectMeaning('term', { ...term, ...change }, await client.terms.get(id))
        expect(idsOf(await collect(client.terms.all()))).toContain(id)
      } finally {
        await client.terms.delete(id)
      }
      await expectGone(client.terms.get(id))
    })

    it('changes a user, and back', async () => {
      const [user] = (await client.users.list({ limit: 1 })).records
      if (user === undefined) throw new Error('the Stack has no user')
      try {
        await client.users.update(user.id, { description: runName, distances: 'imperial' })
        expectMeaning(
          'user',
          { description: runName, distances: 'imperial' },
          await client.users.get(user.id),
        )
      } finally {
        const distances = user.distances === 'imperial' ? 'imperial' : 'metric'
        await client.users.update(user.id, { description: user.description ?? '', distances })
      }
    })

    // A person would lose the access, and no call gives it back.
    it.skipIf(target.isReal)('deletes a user', async () => {
      const [user] = (await client.users.list({ orderByDirection: 'desc', limit: 1 })).records
      if (user === undefined) throw new Error('the Stack has no user')
      await client.users.delete(user.id)
      await expectGone(client.users.get(user.id))
    })
  })
})

function expectMeaning(resource: Parameters<typeof inMeaning>[0], sent: object, got: object): void {
  const { written, read } = inMeaning(
    resource,
    sent as Record<string, unknown>,
    got as Record<string, unknown>,
  )
  expect(read).toEqual(written)
}
