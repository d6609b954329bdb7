import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import type { FeedName } from '../lib/brand.ts'
import type { Clock } from '../lib/clock.ts'
import { Database } from '../lib/database.ts'
import { fileIdentity, isSameFile } from '../lib/database-file.ts'
import { StorageError } from '../lib/errors.ts'
import type { Log } from '../lib/log.ts'
import { makeFolder } from '../sources/durable.ts'
import type { ManifestView } from '../sources/manifest-index.ts'
import { readManifest } from '../sources/manifest-reader.ts'
import { type ConsentReader, consentsPath, makeConsentTables } from './reader.ts'
import type { ConsentRow } from './row.ts'
import { ConsentStore } from './store.ts'
import { ConsentTable } from './table.ts'

/** Moves the log into the file after so many pages. */
const checkpointPages = 1_000

/** What a version that kept consents in Redis has left. Addresses are filled in when the archive is applied again. */
export interface OldConsents {
  /** Hexadecimal. */
  key: string
  rows: readonly ConsentRow[]
}

export interface OpenConsentsOptions {
  /** `state/<catalog>`. */
  dir: string
  /** Identity of the manifest, whose sequences are the positions of consents. */
  stateId: string
  /** Of kind consents. */
  feeds: Iterable<FeedName>
  /** Base address; undefined: this process sends nothing. */
  endpoint: string | undefined
  clock: Clock
  log: Log
  onLost: (error: StorageError) => void
  /** Counts only where nothing was filled in before. */
  old?: OldConsents | undefined
}

/**
 * Opens `consents.db` in the process that holds the state lock. One that is lost is never replaced by an empty one.
 * One that was restored or copied, or is about another endpoint, begins a new generation. Throws a StorageError.
 */
export async function openConsents(options: OpenConsentsOptions): Promise<ConsentStore> {
  const { dir, feeds, clock, onLost, old } = options
  const file = consentsPath(dir)
  await makeFolder(dir)
  using manifest = await readManifest(dir)
  const isAccepted = [...feeds].some((feed) => manifest.newest(feed) !== undefined)
  if (!existsSync(file) && !old && isAccepted) throw lostDatabase(file)
  const database = Database.open({ file, access: 'write' })
  try {
    database.exec(`PRAGMA wal_autocheckpoint = ${checkpointPages}`)
    makeConsentTables(database)
    database.transaction(() => identify(database, options, manifest))
    return new ConsentStore({ database, clock, onLost })
  } catch (error) {
    database[Symbol.dispose]()
    throw error
  }
}

/** Makes the database one of this file, this manifest and this endpoint; says so where it was of others. */
function identify(database: Database, options: OpenConsentsOptions, manifest: ManifestView): void {
  const { old, stateId, log, clock } = options
  const table = new ConsentTable(database)
  const known = table.fact('endpoint')
  const endpoint = options.endpoint?.replace(/\/+$/, '') ?? known
  const isForeign = known !== undefined && endpoint !== known
  const file = fileIdentity(database.file)
  const isNew = table.fact('key') === undefined
  if (isNew) {
    for (const row of old?.rows ?? []) table.write(row)
    table.remember({ key: old?.key ?? randomBytes(32).toString('hex'), state: stateId })
  } else requireFitting(table, { file: database.file, stateId, manifest })
  const isDistrusted = !isNew && (isForeign || !isSameFile(table.fact('file') ?? '', file))
  if (isDistrusted) {
    log.warn(
      { path: database.file, reason: isForeign ? 'another endpoint' : 'restored or copied' },
      'what consents.db says of the endpoint is not believed: revocations are sent again, grants that were accepted before wait (catalogd dead list --consents)',
    )
    table.distrust({ isForeign, nowMs: clock.now() })
  }
  if (isDistrusted || isNew) {
    // Also an empty file that the operator has put there: what was sent before is not known.
    const waitsBefore = isNew && old ? 0 : manifest.nextSequence
    const generation = Number(table.fact('generation') ?? 0) + 1
    table.remember({ 'waits-before': String(waitsBefore), generation: String(generation) })
  }
  table.hurryUnconfirmed()
  table.remember({ file, ...(endpoint === undefined ? {} : { endpoint }) })
}

function requireFitting(
  reader: ConsentReader,
  { file, stateId, manifest }: { file: string; stateId: string; manifest: ManifestView },
): void {
  const isAhead = reader.newestApplied() >= manifest.nextSequence
  if (reader.fact('state') === stateId && !isAhead) return
  const problem = isAhead
    ? 'knows files that the manifest beside it does not have'
    : 'belongs to another manifest'
  throw new StorageError('consents-foreign', `${file} ${problem}`, {
    hint: 'Restore the state folder whole, from one backup',
  })
}

function lostDatabase(file: string): StorageError {
  return new StorageError(
    'consents-lost',
    `${file} is missing, although consents were accepted: nobody knows which were sent`,
    {
      hint: `Put the last backup back: catalogd restore <folder>. Without one create an empty file there (touch ${file}): then every revocation that the archive still holds is sent again, and grants wait for your decision`,
    },
  )
}
