import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { FeedName } from '../lib/brand.ts'
import type { Clock } from '../lib/clock.ts'
import { Database } from '../lib/database.ts'
import { fileIdentity, isSameFile } from '../lib/database-file.ts'
import { makeFolder } from '../lib/durable.ts'
import { StorageError } from '../lib/errors.ts'
import type { Log } from '../lib/log.ts'
import type { ManifestView } from '../sources/manifest-index.ts'
import { readManifest } from '../sources/manifest-reader.ts'
import { consentsFileName } from './reader.ts'
import type { ConsentRow } from './row.ts'
import { ConsentStore } from './store.ts'

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
  /** See `endpointOf`; undefined: this process sends nothing. */
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
  const file = join(dir, consentsFileName)
  await makeFolder(dir)
  using manifest = await readManifest(dir)
  const isAccepted = [...feeds].some((feed) => manifest.newest(feed) !== undefined)
  if (!existsSync(file) && !old && isAccepted) throw lostDatabase(file)
  using stack = new DisposableStack()
  const database = stack.use(Database.open({ file, access: 'write' }))
  // After so many pages the log is moved into the file.
  database.exec('PRAGMA wal_autocheckpoint = 1000')
  const store = stack.use(new ConsentStore(database, clock, onLost))
  store.commit(() => identify(store, file, { ...options, manifest }))
  stack.move()
  return store
}

/** Makes the database one of this file, this manifest and this endpoint; says so where it was of others. */
function identify(
  store: ConsentStore,
  path: string,
  { old, stateId, log, clock, manifest, ...options }: OpenConsentsOptions & { manifest: ManifestView },
): void {
  const known = store.fact('endpoint')
  const endpoint = options.endpoint ?? known
  const isForeign = known !== undefined && endpoint !== known
  const file = fileIdentity(path)
  const isNew = store.fact('key') === undefined
  if (isNew) {
    for (const row of old?.rows ?? []) store.write(row)
    store.remember({ key: old?.key ?? randomBytes(32).toString('hex'), state: stateId })
  } else {
    const isAhead = store.newestApplied() >= manifest.nextSequence
    if (isAhead) throw foreignDatabase(path, 'knows files that the manifest beside it does not have')
    if (store.fact('state') !== stateId) throw foreignDatabase(path, 'belongs to another manifest')
  }
  const isDistrusted = !isNew && (isForeign || !isSameFile(store.fact('file') ?? '', file))
  if (isDistrusted) {
    log.warn(
      { path, reason: isForeign ? 'another endpoint' : 'restored or copied' },
      'what consents.db says of the endpoint is not believed: revocations are sent again, grants that were accepted before wait (catalogd dead list --consents)',
    )
    store.distrust({ isForeign, nowMs: clock.now() })
  }
  if (isDistrusted || isNew) {
    // Also an empty file that the operator has put there: what was sent before is not known.
    const waitsBefore = isNew && old ? 0 : manifest.nextSequence
    const generation = Number(store.fact('generation') ?? 0) + 1
    store.remember({ 'waits-before': String(waitsBefore), generation: String(generation) })
  }
  store.hurryUnconfirmed()
  store.remember({ file, ...(endpoint === undefined ? {} : { endpoint }) })
}

function foreignDatabase(file: string, problem: string): StorageError {
  const hint = 'Restore the state folder whole, from one backup'
  return new StorageError('consents-foreign', `${file} ${problem}`, { hint })
}

function lostDatabase(file: string): StorageError {
  const problem = `${file} is missing, although consents were accepted: nobody knows which were sent`
  const hint = `Put the last backup back: catalogd restore <folder>. Without one create an empty file there (touch ${file}): then every revocation that the archive still holds is sent again, and grants wait for your decision`
  return new StorageError('consents-lost', problem, { hint })
}
