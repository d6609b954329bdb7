import { readdir, rm } from 'node:fs/promises'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { settleDeadConsents } from '../../src/operations/dead-letters.ts'
import { makeBackup } from '../../src/operations/make-backup.ts'
import { recordConsent } from '../../src/operations/record-consent.ts'
import {
  discardRestore,
  finishRestore,
  requireFiles,
  stageRestore,
} from '../../src/operations/restore-backup.ts'
import { waitFor } from '../support/events.ts'
import { leakCheck } from '../support/leak-check.ts'
import { shiftedClock } from '../support/shifted-clock.ts'
import { openSite, type Site } from './site.ts'

const leaks = leakCheck()
beforeEach(leaks.remember)
afterEach(leaks.check)

const archived = async (site: Site) => {
  const names = await readdir(site.dir.join('state', 'main', 'archive'), { recursive: true })
  return names.filter((name) => name.includes('~'))
}

const letters = (site: Site) =>
  (site.read((consents) => consents.dead()) ?? []).map(({ email, reason }) => [email, reason.split(':')[0]])

/** A backup is made while the daemon runs; then two consents are revoked, one by the command, and one is given. */
async function openBackup() {
  const site = await openSite()
  const folder = site.dir.join('backup')
  await site.start()
  await site.drop([
    ['by-file@example.org', true],
    ['by-command@example.org', true],
    ['revoked@example.org', false],
  ])
  await site.settled()
  const context = await site.context()
  const { catalog } = context
  await makeBackup({ ...context, catalogs: [catalog] }, folder)
  await site.drop([['by-file@example.org', false]])
  await site.settled()
  const given = { email: 'by-command@example.org', consent: false, waits: true, onProgress: () => undefined }
  await recordConsent({ ...context, ...given })
  await site.drop([['later@example.org', true]])
  await site.settled()
  await site.stop()
  site.endpoint.calls.length = 0
  const stage = async () => {
    const [staged] = await stageRestore({ ...context, catalogs: [catalog] }, folder)
    if (!staged) throw new Error('nothing is staged')
    return staged
  }
  return { site, stage, clock: context.clock }
}

test('consents that were revoked after the backup are revoked again, grants wait', async () => {
  const { site, stage, clock } = await openBackup()
  await using _ = site
  const staged = await stage()
  expect(staged.again.map(({ feed }) => feed).sort()).toEqual(['consent-command', 'news', 'news'])
  expect(staged.gone).toEqual([])
  await finishRestore(staged, clock)
  await discardRestore([staged])
  await site.start()
  await site.settled()
  expect(site.endpoint.calls.map(({ email, consent }) => [email, consent]).sort()).toEqual([
    ['by-command@example.org', false],
    ['by-file@example.org', false],
    ['revoked@example.org', false],
  ])
  expect(letters(site)).toEqual([['later@example.org', 'not confirmed']])
})

test('a retry from before a restore is not carried out again: its grant waits for the operator', async () => {
  await using site = await openSite({ script: () => ({ status: 400 }) })
  const folder = site.dir.join('backup')
  await site.start()
  await site.drop([['refused@example.org', true]])
  await site.settled()
  const context = await site.context()
  const catalogs = [context.catalog]
  await makeBackup({ ...context, catalogs }, folder)
  site.endpoint.answerWith(() => ({ status: 200 }))
  await settleDeadConsents(context, 'retry', ['refused@example.org'])
  await waitFor(() => site.endpoint.held.get('refused@example.org') === true)
  await site.settled()
  await site.stop()
  site.endpoint.calls.length = 0
  const [staged] = await stageRestore({ ...context, catalogs }, folder)
  if (!staged) throw new Error('nothing is staged')
  await finishRestore(staged, context.clock)
  await discardRestore([staged])
  await site.start()
  // Applied behind the decision.
  await site.drop([['later@example.org', true]])
  await waitFor(() => site.endpoint.held.get('later@example.org') === true)
  expect(site.endpoint.callsOf('refused@example.org')).toEqual([])
  expect(site.letterOf('refused@example.org')).toBeDefined()
})

test('a restore that lacks a file of consents is refused, and names it', async () => {
  const { site, stage } = await openBackup()
  await using _ = site
  for (const name of await archived(site))
    if (name.includes('consent-command~')) await rm(site.dir.join('state', 'main', 'archive', name))
  const staged = await stage()
  expect(() => requireFiles(staged)).toThrow(/import 3 \(consent-command, consent\.ndjson\)/)
  await discardRestore([staged])
  expect(site.endpoint.calls).toEqual([])
})

test('files of consents leave the archive when their time is over, and what they said stays', async () => {
  const time = shiftedClock()
  await using site = await openSite({ time })
  await site.start()
  await site.drop([['a@example.org', true]])
  await site.drop([['a@example.org', false]])
  await site.settled()
  // A while after it was accepted a file moves to those of its day.
  time.advance(120_000)
  await waitFor(async () => (await archived(site)).filter((name) => name.includes('/')).length === 2)
  time.advance(40 * 86_400_000)
  await waitFor(async () => (await archived(site)).length === 0, { withinMs: 180_000 })
  await site.stop()
  await site.start()
  await site.drop([['a@example.org', false]])
  await site.settled()
  expect(site.endpoint.callsOf('a@example.org').at(-1)).toBe(false)
  expect(site.rowOf('a@example.org')).toMatchObject({ consent: 0, known: 0 })
  expect(await archived(site)).toHaveLength(1)
})
