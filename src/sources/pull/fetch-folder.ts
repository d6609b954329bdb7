import { rename } from 'node:fs/promises'
import type { S3Source, SftpSource } from '../../config/model.ts'
import { removeIfPresent } from '../../lib/durable.ts'
import { describeError } from '../../lib/errors.ts'
import { cutBytes } from '../claim-name.ts'
import type { Fetched, FetchOptions } from './feed-pull.ts'
import { PullError } from './pull-error.ts'
import type { RemoteFile } from './pull-state.ts'
import type { RemoteFolder } from './remote-folder.ts'
import { S3Session } from './s3-session.ts'
import { SftpSession } from './sftp-session.ts'
import { isSameFile, type Sightings } from './sightings.ts'

interface FetchFolderOptions extends FetchOptions {
  source: SftpSource | S3Source
  sightings: Sightings
}

/** Files accepted together; a large one does not hold up those before it. */
const batchFilesMax = 100
const batchBytesMax = 256 * 1024 * 1024
/** A longer settle time is waited for between fetches, not with an open connection. */
const waitHereMsMax = 10_000

/**
 * Fetches the complete files of a remote folder that were not accepted yet, oldest first: downloaded → looked at again
 * (unchanged) → accepted → deleted or moved there. What was accepted is remembered until it is gone from the folder, so
 * that whatever is cut off between two steps takes no file twice. Returns how many files were accepted.
 */
export async function fetchFolder(options: FetchFolderOptions): Promise<number> {
  const { sightings, feedPull } = options
  await using session = await openFolder(options)
  const { listing, names, ready } = await lookUntilSettled(session, options)
  const { state } = feedPull
  const there = new Map(listing.map((file) => [file.name, file]))
  const taken = state.taken.filter(({ name }) => there.has(name))
  if (taken.length < state.taken.length) await feedPull.save({ ...state, taken })
  // Folders from which nothing is cleared away hold tens of thousands of files.
  const takenByName = new Map(taken.map((file) => [file.name, file]))
  const isTaken = (file: RemoteFile) => {
    const known = takenByName.get(file.name)
    return known !== undefined && isSameFile(known, file)
  }
  const run: Run = { ...options, session, sightings, troubles: [], names: new Set(names) }
  await clearAway(run, ready.filter(isTaken))
  const accepted = await fetchAll(
    run,
    ready.filter((file) => !isTaken(file)),
  )
  const [first, ...others] = run.troubles
  if (first === undefined) return accepted
  const more = others.length > 0 ? ` (and ${others.length} more files)` : ''
  throw new PullError('remote-file', describeError(first) + more, {
    hint: 'It is tried again with the next fetch; the other files were taken',
    cause: first,
  })
}

interface Run extends FetchFolderOptions {
  session: RemoteFolder
  /** What went wrong with single files. */
  troubles: unknown[]
  /** Of the feed's files in the folder that were not cleared away. */
  names: Set<string>
}

function openFolder({ source, silenceMs, clock, signal }: FetchFolderOptions): Promise<RemoteFolder> {
  return source.kind === 's3'
    ? S3Session.open({ source, silenceMs, signal })
    : SftpSession.open({ source, silenceMs, clock, signal })
}

async function lookUntilSettled(session: RemoteFolder, { sightings, clock, signal }: FetchFolderOptions) {
  const listing = await session.list()
  const sighting = sightings.look(listing)
  const { settlesInMs } = sighting
  if (settlesInMs === undefined || settlesInMs > waitHereMsMax) return { listing, ...sighting }
  await clock.sleep(Math.ceil(settlesInMs), signal)
  const again = await session.list()
  return { listing: again, ...sightings.look(again) }
}

async function fetchAll(run: Run, files: readonly RemoteFile[]): Promise<number> {
  let accepted = 0
  let batch: Fetched[] = []
  let bytes = 0
  const acceptBatch = async () => {
    if (batch.length === 0) return
    accepted += (await run.feedPull.accept(batch)).length
    const remotes = batch.flatMap(({ remote }) => remote ?? [])
    run.log.info({ feed: run.feedName, files: remotes.length, bytes }, 'fetched files')
    batch = []
    bytes = 0
    await clearAway(run, remotes)
  }
  for (const file of files) {
    const fetched = await fetchOne(run, file)
    if (fetched === undefined) continue
    batch.push(fetched)
    bytes += file.bytes
    if (batch.length >= batchFilesMax || bytes >= batchBytesMax) await acceptBatch()
  }
  await acceptBatch()
  return accepted
}

/** Undefined: it changed while it was read, or could not be read; the next fetch tries again. */
async function fetchOne(run: Run, file: RemoteFile): Promise<Fetched | undefined> {
  const { feedPull, session, signal, log, feedName } = run
  await using part = await feedPull.openPart()
  try {
    await part.expect(file.bytes)
    await session.download(file, part)
    const now = await session.look(file.name)
    if (now === undefined || !isSameFile(now, file) || part.bytes !== file.bytes) {
      log.info({ feed: feedName, file: file.name }, 'changed while it was fetched: it is tried again')
      return undefined
    }
    await part.finish()
    const fetched = feedPull.claimFor(file.name, feedPull.modeOf(file.name))
    await rename(part.path, fetched.path)
    return { ...fetched, remote: file }
  } catch (error) {
    signal.throwIfAborted()
    if (!(error instanceof PullError) || error.code === 'disk-full') throw error
    run.troubles.push(error)
    return undefined
  } finally {
    await removeIfPresent(part.path)
  }
}

/** Only what is still what was accepted: a file that was written anew meanwhile is the next one. */
async function clearAway(run: Run, files: readonly RemoteFile[]): Promise<void> {
  const { source, session, feedPull } = run
  if (source.after === 'keep') return
  const gone = new Set<string>()
  for (const file of files) {
    try {
      const now = await session.look(file.name)
      if (now !== undefined && !isSameFile(now, file)) continue
      if (now !== undefined) await clearOne(run, file)
      gone.add(file.name)
    } catch (error) {
      run.signal.throwIfAborted()
      if (!(error instanceof PullError)) throw error
      run.troubles.push(error)
    }
  }
  if (gone.size === 0) return
  // The same name, size and time again would be another file.
  const { state } = feedPull
  await feedPull.save({ ...state, taken: state.taken.filter(({ name }) => !gone.has(name)) })
}

async function clearOne(run: Run, { name }: RemoteFile): Promise<void> {
  const { source, session, sightings, clock } = run
  if (source.after === 'delete') await session.delete(name)
  else {
    const stamp = new Date(clock.now()).toISOString().replace(/[-:.Z]/g, '')
    await session.move(name, { to: source.moveTo ?? 'done', otherName: cutBytes(`${stamp}-${name}`, 255) })
  }
  run.names.delete(name)
  for (const marker of sightings.markersToRemove(name, run.names)) await session.delete(marker)
}
