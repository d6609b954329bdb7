import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ApiResponseError } from '../../src/api/api-error.ts'
import type { RuleCreate } from '../../src/api/contract/rule.ts'
import { StackClient } from '../../src/api/stack-client.ts'
import { flattenView } from '../../src/api/view-form.ts'
import { openSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts'
import {
  arbitraryOpenRule,
  arbitraryRule,
  arbitraryRuleUpdate,
  arbitraryTerm,
  arbitraryTermUpdate,
  arbitraryUserUpdate,
  arbitraryView,
} from '../api/contract/arbitraries.ts'
import { inMeaning } from '../clients/meaning.ts'

const numRuns = 50
const rate = { requests: 1_000_000, perMs: 1_000 }

/** In strict mode an action must name a field of the records: of assets these are others. */
const forTiles = (rule: RuleCreate): RuleCreate => ({ ...rule, type: 'tile' })

describe.each([
  ['lenient', false],
  ['strict', true],
] as const)('at a sandbox that is %s, what the contract allows survives', (_, strict) => {
  let sandbox: Sandbox
  let client: StackClient
  beforeAll(async () => {
    sandbox = await openSandbox({ port: 0, productsToken: 'p', strict, strictAuth: strict, rate })
    const { url, tokens, stackName: stack } = sandbox
    client = new StackClient({ url, accessToken: tokens.stack, stack })
  })
  afterAll(async () => {
    await client.close()
    await sandbox[Symbol.asyncDispose]()
  })

  it('as a rule', async () => {
    const rules = strict ? arbitraryRule.map(forTiles) : arbitraryRule
    const changes = arbitraryRuleUpdate.map(({ type: __, ...change }) => change)
    await fc.assert(
      fc.asyncProperty(rules, changes, async (rule, change) => {
        const { id } = await client.rules.create(rule)
        expectMeaning('rule', rule, await client.rules.get(id))
        await client.rules.update(id, change)
        const read = await client.rules.get(id)
        expectMeaning('rule', { ...rule, ...change }, read)
        expect(await client.rules.list()).toEqual([read])
        await client.rules.delete(id)
        expect(await client.rules.list()).toEqual([])
        await expectGone(client.rules.get(id))
      }),
      { numRuns },
    )
  })

  it('as a moderation view', async () => {
    await fc.assert(
      fc.asyncProperty(arbitraryView, arbitraryView, async (view, change) => {
        const { id } = await client.views.create(view)
        expectMeaning('view', view, flattenView(await client.views.get(id)))
        await client.views.update(id, change)
        const read = await client.views.get(id)
        expectMeaning('view', { ...view, ...change }, flattenView(read))
        // Nothing that was not written.
        expect(Object.keys(flattenView(read)).toSorted()).toEqual(
          Object.keys({ ...view, ...change }).toSorted(),
        )
        expect(await client.views.list()).toEqual([read])
        await client.views.delete(id)
        expect(await client.views.list()).toEqual([])
        await expectGone(client.views.get(id))
      }),
      { numRuns },
    )
  })

  it('as a term', async () => {
    await fc.assert(
      fc.asyncProperty(arbitraryTerm, arbitraryTermUpdate, async (term, change) => {
        const { id } = await client.terms.create(term)
        expectMeaning('term', term, await client.terms.get(id))
        await client.terms.update(id, change)
        const read = await client.terms.get(id)
        expectMeaning('term', { ...term, ...change }, read)
        expect(await collect(client.terms.all())).toEqual([read])
        expect(await client.terms.list({ page: 2 })).toMatchObject({ records: [], total: 1 })
        await client.terms.delete(id)
        expect(await collect(client.terms.all())).toEqual([])
        await expectGone(client.terms.get(id))
      }),
      { numRuns },
    )
  })

  it('as what is changed of a user, until the user is deleted', async () => {
    await fc.assert(
      fc.asyncProperty(arbitraryUserUpdate, arbitraryUserUpdate, async (first, second) => {
        const users = await collect(client.users.all())
        const user = users.at(-1)
        if (user === undefined || users.length === 1) {
          await fetch(`${sandbox.url}/sandbox/reset`, { method: 'POST' })
          return
        }
        for (const { change, before } of [
          { change: first, before: {} },
          { change: second, before: first },
        ]) {
          await client.users.update(user.id, change)
          const read = await client.users.get(user.id)
          expectMeaning('user', { ...before, ...change }, read)
          // All that was not written is as it was.
          expect({ ...read, updated_at: 0 }).toEqual({ ...user, ...before, ...change, updated_at: 0 })
        }
        await client.users.delete(user.id)
        expect(await collect(client.users.all())).toEqual(users.slice(0, -1))
        await expectGone(client.users.get(user.id))
      }),
      { numRuns },
    )
  })
})

describe('a rule of which the contract shows nothing', () => {
  it('is kept as it is, or refused with the place where it cannot be evaluated', async () => {
    await using sandbox = await openSandbox({ port: 0, productsToken: 'p', rate })
    const { url, tokens, stackName: stack } = sandbox
    await using client = new StackClient({ url, accessToken: tokens.stack, stack })
    let kept = 0
    // Whole numbers beyond what is exact come back as texts, with all their digits.
    const exact = arbitraryOpenRule.filter((rule) => !/\b\d{16,}\b/.test(JSON.stringify(rule)))
    await fc.assert(
      fc.asyncProperty(exact, async (rule) => {
        try {
          const { id } = await client.rules.create(rule)
          expectMeaning('rule', rule, await client.rules.get(id))
          kept += 1
          await client.rules.delete(id)
        } catch (error) {
          if (!(error instanceof ApiResponseError)) throw error
          expect(error.status).toBe(400)
          for (const { message } of error.errors) expect(message).toMatch(/^(trigger|action)\b/)
        }
      }),
      { numRuns: 2 * numRuns },
    )
    expect(kept).toBeGreaterThan(numRuns / 5)
  })
})

async function collect<T>(records: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = []
  for await (const record of records) all.push(record)
  return all
}

async function expectGone(call: Promise<unknown>): Promise<void> {
  const error = await call.catch((thrown: unknown) => thrown)
  expect(error).toBeInstanceOf(ApiResponseError)
  expect((error as ApiResponseError).status).toBe(404)
}

function expectMeaning(resource: Parameters<typeof inMeaning>[0], sent: object, got: object): void {
  const { written, read } = inMeaning(resource, { ...sent }, { ...got })
  expect(read).toEqual(written)
}
