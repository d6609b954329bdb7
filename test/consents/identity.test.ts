import { copyFile, cp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { waitFor } from '../support/events.ts'
import { leakCheck } from '../support/leak-check.ts'
import { openConsentEndpoint } from './endpoint.ts'
import { openSite, type Site } from './site.ts'

const leaks = leakCheck()
beforeEach(leaks.remember)
afterEach(leaks.check)

const catalogDir = (site: Site, ...rest: string[]) => site.dir.join('state', 'main', ...rest)
const letters = (site: Site) =>
  (site.read((consents) => consents.dead()) ?? []).map(({ email, reason }) => [email, reason.split(':')[0]])

/** Granted, revoked, and granted but not taken yet. */
async function openHistory() {
  const site = await openSite({ script: ({ email }) => ({ status: email.startsWith('due') ? 503 : 200 }) })
  await site.start()
  await site.drop([
    ['granted@example.org', true],
    ['revoked@example.org', false],
  ])
  await site.settled()
  await site.drop([['due@example.org', true]])
  await waitFor(() => site.endpoint.callsOf('due@example.org').length > 0)
  await site.stop()
  site.endpoint.answerWith(() => ({ status: 200 }))
  site.endpoint.calls.length = 0
  return site
}

async function removeDatabase(site: Site) {
  for (const name of await readdir(catalogDir(site)))
    if (name.startsWith('consents.db')) await rm(catalogDir(site, name))
}

/** Nothing is sent, and nothing is taken for another one, before the operator has confirmed it. */
async function adoptRefused(site: Site, code: string) {
  await site.start()
  await waitFor(() => site.failures.length > 0)
  expect(site.failures.pop()).toMatchObject({ code })
  await site.stop()
  expect(site.endpoint.calls).toEqual([])
  expect(site.read((consents) => consents.fact('generation'))).toBe('1')
  await site.adopt()
}

test('a database that is lost is refused, never begun anew; an empty one that the operator puts there is', async () => {
  await using site = await openHistory()
  await removeDatabase(site)
  await site.start()
  await waitFor(() => site.failures.length > 0)
  expect(site.failures.pop()).toMatchObject({
    code: 'consents-lost',
    hint: expect.stringContaining('touch '),
  })
  await site.stop()
  expect(site.endpoint.calls).toEqual([])
  await writeFile(catalogDir(site, 'consents.db'), '')
  await site.start()
  await site.settled()
  expect(site.endpoint.calls.map(({ email, consent }) => [email, consent])).toEqual([
    ['revoked@example.org', false],
  ])
  expect(letters(site).sort()).toEqual([
    ['due@example.org', 'not confirmed'],
    ['granted@example.org', 'not confirmed'],
  ])
})

test('a database that was restored is not believed: revocations are sent again, grants that are due wait', async () => {
  await using site = await openHistory()
  const path = catalogDir(site, 'consents.db')
  await copyFile(path, site.dir.join('backup.db'))
  await site.start()
  await site.drop([['granted@example.org', false]])
  await site.drop([['revoked@example.org', true]])
  await site.settled()
  await site.stop()
  site.endpoint.calls.length = 0
  await removeDatabase(site)
  await copyFile(site.dir.join('backup.db'), path)
  await site.start()
  await site.settled()
  // What was accepted since then is applied again from the archive: of it, too, only revocations are sent.
  expect(site.endpoint.calls.map(({ email, consent }) => [email, consent])).toEqual([
    ['granted@example.org', false],
  ])
  expect(letters(site).sort()).toEqual([
    ['due@example.org', 'not confirmed'],
    ['revoked@example.org', 'not confirmed'],
  ])
  await site.drop([['revoked@example.org', true]])
  await site.settled()
  expect(site.endpoint.callsOf('revoked@example.org')).toEqual([true])
})

test('a state folder that was copied is another generation, the original is not', async () => {
  await using site = await openHistory()
  await cp(catalogDir(site), `${catalogDir(site)}.copy`, { recursive: true })
  await site.start()
  await site.settled()
  expect(site.endpoint.calls.map(({ email }) => email)).toEqual(['due@example.org'])
  await site.stop()
  site.endpoint.calls.length = 0
  await rm(catalogDir(site), { recursive: true })
  await rename(`${catalogDir(site)}.copy`, catalogDir(site))
  await adoptRefused(site, 'mirror-copied')
  await site.start()
  await site.settled()
  expect(site.endpoint.calls.map(({ email }) => email)).toEqual(['revoked@example.org'])
  expect(letters(site)).toEqual([['due@example.org', 'not confirmed']])
  expect(site.read((consents) => consents.fact('generation'))).toBe('2')
})

test('another endpoint is told all revocations, and no grant that was accepted before', async () => {
  await using site = await openHistory()
  await using other = await openConsentEndpoint()
  const file = site.dir.join('catalogd.yaml')
  await writeFile(file, (await readFile(file, 'utf8')).replace(site.endpoint.url, other.url))
  await adoptRefused(site, 'other-endpoint')
  expect(other.calls).toEqual([])
  await site.start()
  await site.settled()
  expect(other.calls.map(({ email, consent }) => [email, consent])).toEqual([['revoked@example.org', false]])
  expect(letters(site).sort()).toEqual([
    ['due@example.org', 'not confirmed'],
    ['granted@example.org', 'not confirmed'],
  ])
  await site.drop([['granted@example.org', true]])
  await site.settled()
  expect(other.callsOf('granted@example.org')).toEqual([true])
})

test('another account at the same address is another endpoint', async () => {
  await using site = await openHistory()
  const file = site.dir.join('catalogd.yaml')
  await writeFile(file, (await readFile(file, 'utf8')).replace('api: { ', 'api: { account: shop-2, '))
  await adoptRefused(site, 'other-endpoint')
  site.endpoint.calls.length = 0
  await site.start()
  await site.settled()
  expect(site.endpoint.calls.map(({ email, consent }) => [email, consent])).toEqual([
    ['revoked@example.org', false],
  ])
  expect(letters(site).sort()).toEqual([
    ['due@example.org', 'not confirmed'],
    ['granted@example.org', 'not confirmed'],
  ])
})

test('a database beside an older manifest, or one of a newer version, is refused', async () => {
  await using site = await openHistory()
  const manifest = catalogDir(site, 'manifest.ndjson')
  const lines = (await readFile(manifest, 'utf8')).split('\n')
  await writeFile(manifest, `${lines[0]}\n`)
  await site.start()
  await waitFor(() => site.failures.length > 0)
  expect(site.failures.pop()).toMatchObject({ code: 'consents-foreign' })
  await site.stop()
  await writeFile(manifest, lines.join('\n'))
  const { DatabaseSync } = await import('node:sqlite')
  const db = new DatabaseSync(catalogDir(site, 'consents.db'))
  db.exec('PRAGMA user_version = 9')
  db.close()
  await site.start()
  await waitFor(() => site.failures.length > 0)
  expect(site.failures.pop()).toMatchObject({ code: 'database-format' })
  expect(site.endpoint.calls).toEqual([])
})

test('a database that is removed under a running process ends it', async () => {
  await using site = await openSite()
  await site.start()
  await site.drop([['a@example.org', true]])
  await site.settled()
  await rm(catalogDir(site, 'consents.db'))
  await waitFor(() => site.failures.length > 0)
  expect(site.failures[0]).toMatchObject({ message: expect.stringContaining('was removed or replaced') })
})
