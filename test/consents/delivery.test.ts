import { afterAll, beforeAll, expect, test } from 'vitest'
import { waitFor } from '../support/events.ts'
import { leakCheck } from '../support/leak-check.ts'
import { openSite } from './site.ts'

const leaks = leakCheck()
beforeAll(leaks.remember)
afterAll(leaks.check)

const emails = (count: number) => Array.from({ length: count }, (_, index) => `person${index}+x@example.org`)

test.concurrent('one call for each address with its last state, as the contract says it', async () => {
  await using site = await openSite()
  await site.drop([
    ...emails(50).map((email) => [email, true] as const),
    ...emails(50).map((email, index) => [email.toUpperCase(), index % 2 === 0] as const),
  ])
  await site.start()
  await site.settled()
  expect(site.endpoint.calls.length).toBe(50)
  for (const [index, email] of emails(50).entries()) {
    expect(site.endpoint.callsOf(email.toUpperCase())).toEqual([index % 2 === 0])
  }
  const [call] = site.endpoint.calls
  expect(call).toMatchObject({ method: 'POST', body: '' })
  expect(call?.path).toMatch(/^\/api\/v1\/customers\/consent\/[^/@+]+%40EXAMPLE\.ORG\/(true|false)$/)
  expect(call?.headers['content-length']).toBe('0')
  expect(call?.headers.authorization).toBe(`Basic ${Buffer.from(':email-token').toString('base64')}`)
  await site.drop(emails(50).map((email, index) => [email, index % 2 === 0]))
  await site.settled()
  expect(site.endpoint.calls.length).toBe(50)
})

test.concurrent('a newer state that is accepted during a call is sent after it', async () => {
  const called = Promise.withResolvers<void>()
  const answer = Promise.withResolvers<void>()
  await using site = await openSite()
  site.endpoint.answerWith(async (_call, before) => {
    if (before.length === 0) {
      called.resolve()
      await answer.promise
    }
    return { status: 200 }
  })
  await site.start()
  await site.drop([['a@example.org', true]])
  await called.promise
  await site.drop([['a@example.org', false]])
  await waitFor(() => site.rowOf('a@example.org')?.consent === 0)
  expect(site.endpoint.callsOf('a@example.org')).toEqual([true])
  answer.resolve()
  await site.settled()
  expect(site.endpoint.callsOf('a@example.org')).toEqual([true, false])
  expect([...site.endpoint.overlapping]).toEqual([])
})

test.concurrent('a state that is taken back during a call is not sent again', async () => {
  const called = Promise.withResolvers<void>()
  const answer = Promise.withResolvers<void>()
  await using site = await openSite({
    script: async () => {
      called.resolve()
      await answer.promise
      return { status: 200 }
    },
  })
  await site.start()
  await site.drop([['a@example.org', true]])
  await called.promise
  await site.drop([['a@example.org', false]])
  await site.drop([['a@example.org', true]])
  await waitFor(() => Number(site.rowOf('a@example.org')?.position.slice(0, 10)) === 3)
  answer.resolve()
  await site.settled()
  expect(site.endpoint.callsOf('a@example.org')).toEqual([true])
})

test.concurrent('an answer that is an error puts no consent before others, and a state taken back is sent all the same', async () => {
  const failing = { on: false }
  await using site = await openSite({
    script: ({ email }) => ({ status: failing.on && email === 'a@example.org' ? 500 : 200 }),
  })
  await site.start()
  await site.drop([['a@example.org', false]])
  await site.settled()
  failing.on = true
  await site.drop([['a@example.org', true]])
  await waitFor(() => site.endpoint.callsOf('a@example.org').length >= 2)
  await site.drop(emails(5).map((email) => [email, true]))
  await waitFor(() => emails(5).every((email) => site.endpoint.held.get(email)))
  const before = site.endpoint.callsOf('a@example.org').length
  await site.drop([['a@example.org', false]])
  failing.on = false
  await site.settled()
  // The endpoint may have taken the grant although it answered an error.
  expect(site.endpoint.callsOf('a@example.org').length).toBeGreaterThan(before - 1)
  expect(site.endpoint.calls.filter(({ email }) => email === 'a@example.org').at(-1)?.consent).toBe(false)
})

test.concurrent('a refused consent is a dead letter, whose reason shows no address; a newer state revives it', async () => {
  await using site = await openSite({
    script: ({ email, consent }) =>
      email === 'a@example.org' && consent
        ? {
            status: 400,
            body: JSON.stringify({ message: `no customer A@example.org or ${encodeURIComponent(email)}` }),
          }
        : { status: 200 },
  })
  await site.start()
  await site.drop([...emails(3).map((email) => [email, true] as const), ['a@example.org', true]])
  await site.settled()
  const letter = site.letterOf('a@example.org')
  expect(letter).toMatchObject({ status: 400 })
  expect(letter?.reason).toMatch(/no customer \S+ or \S+$/)
  expect(letter?.reason).not.toMatch(/example/i)
  expect(site.endpoint.callsOf('a@example.org')).toEqual([true])
  await site.drop([['a@example.org', false]])
  await site.settled()
  expect(site.endpoint.callsOf('a@example.org')).toEqual([true, false])
  expect(site.letterOf('a@example.org')).toBeUndefined()
})

test.concurrent('a refusal counts, however the answer writes the address', async () => {
  const refused = {
    'jörg+a@example.org': '"j\\u00f6rg\\u002Ba\\u0040example.org is not known"',
    'b@example.org': '"refused; ask\\nsupport@example.org"',
  }
  await using site = await openSite({
    script: ({ email }) => ({
      status: 200,
      body: `{"errors":[{"message":${refused[email as keyof typeof refused]}}]}`,
    }),
  })
  await site.start()
  await site.drop(Object.keys(refused).map((email) => [email, false] as const))
  await site.settled()
  for (const email of Object.keys(refused)) {
    expect(site.letterOf(email)).toMatchObject({ status: 200 })
    expect(site.letterOf(email)?.reason).not.toMatch(/example|rg/)
  }
})

test.concurrent('refused credentials stop all calls until one consent, sent as a trial, is taken', async () => {
  await using site = await openSite({
    script: ({ headers }) => ({
      status: headers.authorization === `Basic ${Buffer.from(':new').toString('base64')}` ? 200 : 401,
    }),
  })
  await site.start()
  await site.drop(emails(30).map((email) => [email, true]))
  await waitFor(site.isPaused)
  // Those that were under way when the first was refused, and a trial.
  expect(site.endpoint.calls.length).toBeLessThanOrEqual(5)
  await site.token('new')
  await site.settled()
  expect(site.endpoint.held.size).toBe(30)
  expect(site.isPaused()).toBe(false)
})

test.concurrent('status tells of the last try of refused credentials, and another token is taken', async () => {
  await using site = await openSite({
    script: ({ headers }) => ({
      status: headers.authorization === `Basic ${Buffer.from(':new').toString('base64')}` ? 200 : 401,
    }),
  })
  await site.start()
  await site.drop([['a@example.org', true]])
  const paused = () => site.overview()?.paused[0]
  await waitFor(() => paused()?.triedAt !== undefined)
  expect(Date.parse(paused()?.triedAt ?? '')).toBeGreaterThanOrEqual(Date.parse(paused()?.since ?? ''))
  expect(paused()?.hint).toContain('answered 401')
  await site.token('new')
  await waitFor(() => site.endpoint.held.size === 1)
})

test.concurrent('a 403 right after a trial that was taken refuses that consent', async () => {
  const right = { now: false }
  await using site = await openSite({
    script: ({ email }) => ({ status: right.now && email !== 'a@example.org' ? 200 : 403 }),
  })
  await site.start()
  await site.drop([...emails(3).map((email) => [email, true] as const)])
  await waitFor(site.isPaused)
  right.now = true
  await site.settled()
  await site.drop([['a@example.org', true]])
  await site.settled()
  expect(site.letterOf('a@example.org')).toMatchObject({ status: 403 })
  expect(site.endpoint.callsOf('a@example.org')).toEqual([true])
})

test.concurrent('a login page takes no consent, and buries none that stands alone; one among others it does', async () => {
  const page = { status: 200, headers: { 'content-type': 'text/html' }, body: '<title>Log in</title>' }
  const state = { right: false }
  await using site = await openSite({
    script: ({ email }) => (state.right && email !== 'a@example.org' ? { status: 200 } : page),
  })
  await site.start()
  await site.drop([['first@example.org', false]])
  await waitFor(() => site.endpoint.calls.length >= 2)
  expect(site.rowOf('first@example.org')?.known).toBeNull()
  expect(site.letterOf('first@example.org')).toBeUndefined()
  state.right = true
  await site.settled()
  expect(site.rowOf('first@example.org')?.known).toBe(0)
  await site.drop([['a@example.org', true]])
  await site.settled()
  expect(site.letterOf('a@example.org')).toMatchObject({
    reason: expect.stringContaining('text/html: a web page (Log in); it took others'),
  })
})

test.concurrent('a 404 for one address is no refusal while nothing else is taken, then it is one', async () => {
  await using site = await openSite({
    script: ({ email }) => ({ status: email.startsWith('person1') ? 404 : 200 }),
  })
  await site.start()
  await site.drop([['person1+x@example.org', true]])
  await waitFor(() => site.endpoint.calls.length >= 1)
  expect(site.letterOf('person1+x@example.org')).toBeUndefined()
  await site.drop(emails(20).map((email) => [email, true]))
  await site.settled()
  expect(site.overview()?.dead).toBe(11)
  expect(site.letterOf('person12+x@example.org')).toMatchObject({
    status: 404,
    reason: expect.stringContaining('it took others within the last minute'),
  })
  expect(site.endpoint.held.size).toBe(9)
})

test.concurrent('a path that becomes wrong buries nothing: what was refused is taken back', async () => {
  const state = { right: true }
  await using site = await openSite({ script: () => ({ status: state.right ? 200 : 404 }) })
  await site.start()
  await site.drop([['first@example.org', true]])
  await site.settled()
  state.right = false
  await site.drop(emails(6).map((email) => [email, true]))
  await waitFor(() => site.overview()?.dead === 6)
  site.passTime(61_000)
  await site.drop([['last@example.org', true]])
  await waitFor(() => site.overview()?.dead === 0)
  state.right = true
  await site.settled()
  expect(site.endpoint.held.size).toBe(8)
  expect(site.overview()?.dead).toBe(0)
})

test.concurrent('the process that imports consents sends them, whatever its roles', async () => {
  await using site = await openSite()
  await site.start(['watch', 'import'])
  await site.drop([['a@example.org', true]])
  await site.settled()
  expect(site.endpoint.callsOf('a@example.org')).toEqual([true])
})

test.concurrent('a revocation does not wait for grants that the endpoint does not answer', async () => {
  await using site = await openSite({
    settings: 'concurrency: 3, timeout: 10m, callsPerSecond: 1000',
    script: ({ consent }) => (consent ? 'hang' : { status: 200 }),
  })
  await site.start()
  await site.drop(emails(5).map((email) => [email, true]))
  await waitFor(() => site.endpoint.calls.length === 2)
  await site.drop([['a@example.org', false]])
  await waitFor(() => site.endpoint.held.get('a@example.org') === false)
  expect(site.endpoint.calls.length).toBe(3)
})

test('calls at one time and calls a second hold, and nothing that is logged shows an address', async () => {
  await using site = await openSite({
    settings: 'concurrency: 3, callsPerSecond: 100, timeout: 500ms',
    script: async (_call, before) => {
      await new Promise((resolve) => setTimeout(resolve, 20))
      return before.length === 0 && Math.random() < 0.1 ? { status: 503 } : { status: 200 }
    },
  })
  await site.start()
  const people = [...emails(60), 'reset@example.org', 'hang@example.org', 'refused@example.org']
  await site.drop(people.map((email) => [email, false]))
  await site.settled()
  const { calls, concurrentMax } = site.endpoint
  expect(concurrentMax).toBeLessThanOrEqual(3)
  const [first, last] = [calls[0]?.at ?? 0, calls.at(-1)?.at ?? 0]
  // 100 calls a second, with what may run ahead.
  expect(calls.length).toBeLessThanOrEqual(((last - first) * 100) / 1000 + 13)
  expect(site.lines.length).toBeGreaterThan(0)
  expect(site.lines.map((line) => JSON.stringify(line)).filter((line) => /example|%40/i.test(line))).toEqual(
    [],
  )
})
