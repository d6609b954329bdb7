import { createHash, createHmac, randomBytes } from 'node:crypto'
import { access, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openSite, type Site } from '../consents/site.ts'
import { leakCheck } from '../support/leak-check.ts'

const leaks = leakCheck()
beforeEach(leaks.remember)
afterEach(leaks.check)

const key = randomBytes(32)
const idOf = (name: string) =>
  createHmac('sha256', key).update(`${name}@example.org`).digest().subarray(0, 16).toString('base64url')
const positionOf = (file: number, record: number) =>
  String(file).padStart(10, '0') + String(record).padStart(10, '0')
const lines = (...values: unknown[]) => values.map((value) => `${JSON.stringify(value)}\n`).join('')

const people = ['sent', 'revoked', 'failed', 'open', 'parked', 'retried', 'dropped', 'due'] as const

/** As the version before left it, which kept consents in Redis: archive, manifest, journal, key and calls. */
async function openOldState(): Promise<Site> {
  const site = await openSite()
  await site.start()
  await site.drop(people.map((name) => [`${name}@example.org`, name === 'revoked']))
  await site.drop(people.map((name) => [`${name}@example.org`, name !== 'revoked']))
  await site.settled()
  await site.stop()
  site.endpoint.calls.length = 0
  const state = (...path: string[]) => site.dir.join('state', ...path)
  for (const end of ['', '-wal', '-shm']) await rm(state('main', `consents.db${end}`), { force: true })
  await writeFile(state('consents.key'), `${key.toString('hex')}\n`)
  const bytes = Buffer.concat([Buffer.from('fingerprint:'), key])
  const fingerprint = createHash('sha256').update(bytes).digest('hex').slice(0, 16)
  const stateId = (await readFile(state('main', 'id'), 'utf8')).trim()
  const at = (name: (typeof people)[number], file: number, fields: object) => {
    return { id: idOf(name), position: positionOf(file, people.indexOf(name) + 1), at: 1_000, ...fields }
  }
  const taken = (name: (typeof people)[number], file: number, consent: boolean) =>
    at(name, file, { event: 'acknowledged', consent })
  const journal = lines(
    { identity: `${fingerprint}.${stateId}`, generation: 'g', compactedBytes: 0 },
    taken('revoked', 1, true),
    taken('sent', 2, true),
    taken('revoked', 2, false),
    taken('failed', 1, false),
    at('failed', 2, { event: 'failed' }),
    at('parked', 2, { event: 'unconfirmed' }),
    at('retried', 2, { event: 'unconfirmed' }),
    at('retried', 2, { event: 'retry' }),
    at('dropped', 2, { event: 'drop' }),
  )
  await mkdir(state('main', 'consents', 'calls'), { recursive: true })
  // The last line is torn.
  await writeFile(state('main', 'consents', 'acknowledged.ndjson'), `${journal}{"event":"ackno`)
  const call = { event: 'begin', call: 't.1', token: 't', bytes: 0, ids: [idOf('open')] }
  const ended = { ...call, call: 't.2', ids: [idOf('sent')], at: 1_000, position: positionOf(2, 1) }
  await writeFile(
    state('main', 'consents', 'calls', 'old.ndjson'),
    lines({ event: 'end', call: 't.2', at: 1_001, outcome: 'acknowledge', durationMs: 1 }, ended, {
      ...call,
      at: 1_000,
      position: positionOf(2, people.indexOf('open') + 1),
    }),
  )
  return site
}

test('what an earlier version has acknowledged is not sent again; what it has not is, or waits', async () => {
  await using site = await openOldState()
  await site.start()
  await site.settled()
  const calls = site.endpoint.calls.map(({ email, consent }) => [email.split('@')[0], consent]).sort()
  expect(calls).toEqual([
    ['due', true],
    ['failed', true],
    ['retried', true],
  ])
  const dead = site.read((consents) => consents.dead()) ?? []
  expect(dead.map(({ email }) => email).sort()).toEqual(['open@example.org', 'parked@example.org'])
  expect(dead[0]?.reason).toMatch(/^not confirmed/)
  expect(site.read((consents) => consents.idOf('sent@example.org'))).toBe(idOf('sent'))
  const old = site.dir.join('state', 'main', 'consents', 'acknowledged.ndjson')
  await expect(access(old)).rejects.toThrow()
  await site.drop(people.map((name) => [`${name}@example.org`, false]))
  await site.settled()
  // All but the one that was revoked all along.
  expect(site.endpoint.calls.length).toBe(calls.length + people.length - 1)
})

test('a journal without the key that made its ids is refused', async () => {
  await using site = await openOldState()
  await writeFile(site.dir.join('state', 'consents.key'), `${randomBytes(32).toString('hex')}\n`)
  await site.start()
  while (site.failures.length === 0) await new Promise((resolve) => setTimeout(resolve, 20))
  expect(site.failures[0]).toMatchObject({ code: 'consent-key' })
  await site.stop()
  expect(site.endpoint.calls).toEqual([])
})
