import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import type { DatabaseSync } from 'node:sqlite'
import type { FeedName } from '../lib/brand.ts'
import type { Clock } from '../lib/clock.ts'
import { openDatabase, transaction } from '../lib/database.ts'
import { explained } from '../lib/database-failure.ts'
import { fileIdentity, isSameFile } from '../lib/database-file.ts'
import { StorageError } from '../lib/errors.ts'
import type { Log } from '../lib/log.ts'
import { makeFolder, syncFolder } from '../sources/durable.ts'
import type { ManifestView } from '../sources/manifest-index.ts'
import { readManifest } from '../sources/manifest-reader.ts'
import { type OldJournal, readOldJournal, removeOldJournal } from './old-journal.ts'
import { ConsentReader, consentsPath } from './reader.ts'
import { ConsentStore } from './store.ts'
import { ConsentTable, consentsFormat, consentsSchema } from './table.ts'

export interface OpenConsentsOptions {
  /** `state/<catalog>`. */
  dir: string
  stateDir: string
  /** Identity of the manifest, whose sequences are the positions of consents. */
  stateId: string
  /** Of kind consents. */
  feeds: Iterable<FeedName>
  /** Base address; undefined: this process sends nothing. */
  endpoint: string | undefined
  clock: Clock
  log: Log
  onLost: (error: StorageError) => void
}

/**
 * Opens `consents.db` in the process that holds the state lock. One that is lost is never replaced by an empty one.
 * One that was restored or copied, or is about another endpoint, begins a new generation. Throws a StorageError.
 */
export async function openConsents(options: OpenConsentsOptions): Promise<ConsentStore> {
  const { dir, stateDir, stateId, feeds, clock, onLost } = options
  const path = consentsPath(dir)
  await makeFolder(dir)
  using manifest = await readManifest(dir)
  const isAccepted = [...feeds].some((feed) => manifest.newest(feed) !== undefined)
  const isPresent = existsSync(path)
  const journal = isFilled(dir) ? undefined : await readOldJournal(dir, stateDir, stateId)
  if (!isPresent && !journal && isAccepted) throw lostDatabase(path)
  const { db } = openDatabase({ path, format: consentsFormat, schema: consentsSchema })
  try {
    await syncFolder(dir)
    explained(path, () => transaction(db, () => identify(db, { ...options, path, journal, manifest })))
    await removeOldJournal(dir)
    return new ConsentStore({ db, path, clock, onLost })
  } catch (error) {
    db.close()
    throw error
  }
}

function isFilled(dir: string): boolean {
  using reader = ConsentReader.open(dir)
  return reader?.fact('key') !== undefined
}

interface Identifying extends OpenConsentsOptions {
  path: string
  journal: OldJournal | undefined
  manifest: ManifestView
}

/** Makes the database one of this file, this manifest and this endpoint; says so where it was of others. */
function identify(db: DatabaseSync, options: Identifying): void {
  const { path, journal, manifest, stateId, log, clock } = options
  const reader = new ConsentReader(db, path)
  const table = new ConsentTable(db)
  const endpoint = options.endpoint?.replace(/\/+$/, '') ?? reader.fact('endpoint')
  const file = fileIdentity(path)
  const generation = Number(reader.fact('generation') ?? 0)
  const isForeign = endpoint !== (reader.fact('endpoint') ?? endpoint)
  const isNew = reader.fact('key') === undefined
  if (isNew) {
    fill(db, journal)
    table.remember({ key: journal?.key ?? randomBytes(32).toString('hex'), state: stateId })
  } else requireFitting(reader, { path, stateId, manifest })
  const isDistrusted = !isNew && (isForeign || !isSameFile(reader.fact('file') ?? '', file))
  if (isDistrusted) {
    log.warn(
      { path, reason: isForeign ? 'another endpoint' : 'restored or copied' },
      'what consents.db says of the endpoint is not believed: revocations are sent again, grants that were accepted before wait (catalogd dead list --consents)',
    )
    table.distrust({ isForeign, nowMs: clock.now() })
  }
  if (isDistrusted || isNew) {
    // Also an empty file that the operator has put there: what was sent before is not known.
    const waitsBefore = journal ? 0 : manifest.nextSequence
    table.remember({ 'waits-before': String(waitsBefore), generation: String(generation + 1) })
  }
  table.hurryUnconfirmed()
  table.remember({ file, ...(endpoint === undefined ? {} : { endpoint }) })
}

function fill(db: DatabaseSync, journal: OldJournal | undefined): void {
  const insert = db.prepare(
    'INSERT INTO consents (id, consent, position, known, attempted) VALUES (?, ?, ?, ?, ?)',
  )
  for (const [id, { consent, position, known, attempted }] of journal?.rows ?? [])
    insert.run(id, consent, position, known, attempted)
}

function requireFitting(
  reader: ConsentReader,
  { path, stateId, manifest }: Pick<Identifying, 'path' | 'stateId' | 'manifest'>,
): void {
  const isAhead = reader.newestApplied() >= manifest.nextSequence
  if (reader.fact('state') === stateId && !isAhead) return
  const problem = isAhead
    ? 'knows files that the manifest beside it does not have'
    : 'belongs to another manifest'
  throw new StorageError('consents-foreign', `${path} ${problem}`, {
    hint: 'Restore the state folder whole, from one backup',
  })
}

function lostDatabase(path: string): StorageError {
  return new StorageError(
    'consents-lost',
    `${path} is missing, although consents were accepted: nobody knows which were sent`,
    {
      hint: `Put the last backup back: catalogd restore <folder>. Without one create an empty file there (touch ${path}): then every revocation that the archive still holds is sent again, and grants wait for your decision`,
    },
  )
}
