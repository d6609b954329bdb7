import { rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { recordConsent } from '../operations/record-consent.ts'
import type { Observer } from './observer.ts'
import { printTable, printText, printTitle } from './print.ts'
import type { TemporaryDaemon } from './temporary-daemon.ts'

/** The last row is the second one's owner again, who changed his mind. */
const rows = `email,consent
anna@shop.example,yes
ben@shop.example,yes
carla@shop.example,no
Ben@shop.example,no
`
const revoked = 'anna@shop.example'

/** A file of consents, the same file again, and one revocation as the command `consent` records it. */
export async function showConsents(daemon: TemporaryDaemon, observer: Observer): Promise<void> {
  printTitle('4. Marketing consents')
  printText('A file with four rows about three customers is renamed into another folder, and then once more.')
  const first = await dropAndCount(daemon, observer, 'newsletter.csv')
  const { granted, revoked: withdrawn } = (await observer.summary()).consents
  const again = await dropAndCount(daemon, observer, 'newsletter-again.csv')
  printTable([
    [
      'first',
      `${first} calls, each customer once with the last state: ${granted} granted, ${withdrawn} revoked`,
    ],
    ['again', `${again} calls: what was acknowledged is never sent again`],
  ])
  printText(`  $ catalogd consent ${revoked} false`)
  const { clock } = daemon.operation
  const startedMs = clock.monotonic()
  const said = { email: revoked, consent: false, waits: true, onProgress: () => undefined }
  const { id, state } = await recordConsent({ ...daemon.operation, ...said })
  const tookMs = Math.round(clock.monotonic() - startedMs)
  const after = (await observer.summary()).consents
  printTable([
    ['state', `${state} after ${tookMs} ms; ${after.granted} granted, ${after.revoked} revoked`],
    ['in logs', `${id}, a keyed hash: no log shows an address`],
  ])
}

/** How many calls a file with these rows causes. */
async function dropAndCount(daemon: TemporaryDaemon, observer: Observer, file: string): Promise<number> {
  const before = (await observer.summary()).consents.calls.total
  await writeFile(join(daemon.workDir, file), rows)
  await rename(join(daemon.workDir, file), join(daemon.newsletterDir, file))
  await observer.imported(file)
  await observer.consentsDelivered()
  return (await observer.summary()).consents.calls.total - before
}
