import { type FileHandle, open, rename } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { ConsentId } from '../lib/brand.ts'
import { privateFileMode } from '../lib/private-modes.ts'
import { syncFolder } from '../sources/durable.ts'
import type { JournalEntry } from './journal-entry.ts'
import { newHeader, openJournalFile, readPart } from './journal-file.ts'

/** How much of a journal is held in memory at a time, about. */
const partitionBytes = 32 * 1024 * 1024

/** What stands of one id: the last settled record, and what happened to later ones. */
interface Standing {
  settled: JournalEntry | undefined
  later: JournalEntry[]
}

/**
 * Writes the journal anew with the lines that still say something, as a new generation. Reads it once for each part of
 * the ids, so that memory stays bounded however long it has become. Answers its new length.
 */
export async function compactJournal({
  path,
  identity,
  partBytes = partitionBytes,
}: {
  path: string
  identity: string
  partBytes?: number
}): Promise<number> {
  const { file: from, bytes } = await openJournalFile(path, identity)
  await using _ = from
  const temporary = `${path}.new`
  await using to = await open(temporary, 'w', privateFileMode)
  const partitions = Math.ceil(bytes / partBytes)
  const header = newHeader(identity)
  // The length that the header names is known in the end only: until then blanks keep its place.
  const width = JSON.stringify({ ...header, compactedBytes: Number.MAX_SAFE_INTEGER }).length
  let length = width + 1
  await to.writeFile(`${' '.repeat(width)}\n`)
  for (let partition = 0; partition < partitions; partition++) {
    const lines = linesOf(await readStanding(from, { path, bytes, partition, partitions }))
    for (const line of lines) {
      // Unlike `write`, it writes all of it or fails: a disk that fills up must not leave half a line inside.
      await to.writeFile(line)
      length += Buffer.byteLength(line)
    }
  }
  const finished = JSON.stringify({ ...header, compactedBytes: length })
  await to.write(finished.padEnd(width), 0)
  await to.sync()
  await rename(temporary, path)
  await syncFolder(dirname(path))
  return length
}

async function readStanding(
  file: FileHandle,
  {
    path,
    bytes,
    partition,
    partitions,
  }: { path: string; bytes: number; partition: number; partitions: number },
): Promise<Map<ConsentId, Standing>> {
  const standing = new Map<ConsentId, Standing>()
  for (let from = 0; from < bytes; ) {
    const { entries, to } = await readPart(file, path, { from, end: bytes })
    for (const entry of entries) {
      if (partitionOf(entry.id, partitions) === partition) note(standing, entry)
    }
    from = to
  }
  return standing
}

/** Ids are hashes: their first characters spread evenly. */
function partitionOf(id: ConsentId, partitions: number): number {
  return Buffer.from(id.slice(0, 4), 'base64url').readUIntBE(0, 3) % partitions
}

function note(standings: Map<ConsentId, Standing>, entry: JournalEntry): void {
  const standing = standings.get(entry.id) ?? { settled: undefined, later: [] }
  standings.set(entry.id, standing)
  if (entry.event === 'acknowledged' || entry.event === 'drop') {
    if (standing.settled && standing.settled.position > entry.position) return
    standing.settled = entry
    standing.later = standing.later.filter(({ position }) => position > entry.position)
  } else if (entry.event === 'retry') {
    standing.later = standing.later.map((later) =>
      later.event === 'unconfirmed' && later.position <= entry.position
        ? { ...later, event: 'failed' }
        : later,
    )
  } else if (!standing.settled || entry.position > standing.settled.position) {
    addLater(standing, entry)
  }
}

/** One line of each kind and record says it all: the first. */
function addLater(standing: Standing, entry: JournalEntry): void {
  const isKnown = standing.later.some(
    ({ event, position }) => event === entry.event && position === entry.position,
  )
  if (!isKnown) standing.later.push(entry)
}

function* linesOf(standings: ReadonlyMap<ConsentId, Standing>): Iterable<string> {
  let lines: string[] = []
  for (const { settled, later } of standings.values()) {
    for (const entry of [...(settled ? [settled] : []), ...later]) lines.push(`${JSON.stringify(entry)}\n`)
    if (lines.length < 1_000) continue
    yield lines.join('')
    lines = []
  }
  if (lines.length > 0) yield lines.join('')
}
