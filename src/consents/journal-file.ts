import { randomUUID } from 'node:crypto'
import { type FileHandle, open } from 'node:fs/promises'
import { dirname } from 'node:path'
import { StorageError, systemErrorCode } from '../lib/errors.ts'
import { makeFolder, writeDurably } from '../sources/durable.ts'
import {
  type JournalEntry,
  type JournalHeader,
  journalEntrySchema,
  journalHeaderSchema,
  parseLine,
} from './journal-entry.ts'

const headerBytesMax = 4_096
const readBytes = 65_536
const newline = 0x0a

/** Opens the file for reading and writing; one that is missing is begun. A last line that is torn is cut off. */
export async function openJournalFile(
  path: string,
  identity: string,
): Promise<{ file: FileHandle; header: JournalHeader; bytes: number }> {
  const file = (await openPresent(path)) ?? (await beginFile(path, identity))
  try {
    const header = parseLine(await readFirstLine(file), journalHeaderSchema)
    if (!header) throw damaged(path, 0)
    if (header.identity !== identity) {
      throw new StorageError(
        'consent-journal',
        `${path} belongs to another consents.key or another manifest`,
        {
          hint: 'Restore the state folder whole, from one backup',
        },
      )
    }
    return { file, header, bytes: await cutTornLine(file) }
  } catch (error) {
    await file.close()
    throw error
  }
}

/** Of a generation that is begun. */
export function newHeader(identity: string): JournalHeader {
  return { identity, generation: randomUUID(), compactedBytes: 0 }
}

function damaged(path: string, offset: number): StorageError {
  return new StorageError('consent-journal', `${path} cannot be read at byte ${offset}`, {
    hint: 'Restore it from a backup of the state folder, or remove the damaged line; consents are not sent until then',
  })
}

export interface JournalPart {
  entries: JournalEntry[]
  /** Offset behind the last whole line that was read. */
  to: number
}

/** The whole lines that begin at `from` and end before `end`, as many as fit into one read. */
export async function readPart(
  file: FileHandle,
  path: string,
  { from, end }: { from: number; end: number },
): Promise<JournalPart> {
  const buffer = Buffer.allocUnsafe(Math.min(readBytes, end - from))
  const { bytesRead } = await file.read(buffer, 0, buffer.length, from)
  const length = buffer.subarray(0, bytesRead).lastIndexOf(newline) + 1
  if (length === 0) throw damaged(path, from)
  const lines = buffer.toString('utf8', 0, length - 1).split('\n')
  // The header is a line like any other to a reader that begins at the beginning.
  const texts = from === 0 ? lines.slice(1) : lines
  const entries = texts.map((line) => {
    const entry = parseLine(line, journalEntrySchema)
    if (!entry) throw damaged(path, from + buffer.subarray(0, length).indexOf(line))
    return entry
  })
  return { entries, to: from + length }
}

async function openPresent(path: string): Promise<FileHandle | undefined> {
  try {
    return await open(path, 'r+')
  } catch (error) {
    if (systemErrorCode(error) === 'ENOENT') return undefined
    throw error
  }
}

async function beginFile(path: string, identity: string): Promise<FileHandle> {
  await makeFolder(dirname(path))
  await writeDurably(path, `${JSON.stringify(newHeader(identity))}\n`, `${path}.new`)
  return open(path, 'r+')
}

export async function readFirstLine(file: FileHandle): Promise<string> {
  const buffer = Buffer.alloc(headerBytesMax)
  const { bytesRead } = await file.read(buffer, 0, headerBytesMax, 0)
  const text = buffer.toString('utf8', 0, bytesRead)
  return text.slice(0, text.indexOf('\n'))
}

/** A write that a kill or a power loss cut short: nobody was told of it, since its sync had not returned. */
async function cutTornLine(file: FileHandle): Promise<number> {
  const { size } = await file.stat()
  const buffer = Buffer.alloc(readBytes)
  for (let end = size; end > 0; ) {
    const from = Math.max(0, end - readBytes)
    const { bytesRead } = await file.read(buffer, 0, end - from, from)
    const last = buffer.subarray(0, bytesRead).lastIndexOf(newline)
    if (last < 0) {
      end = from
      continue
    }
    const length = from + last + 1
    if (length < size) {
      await file.truncate(length)
      await file.datasync()
    }
    return length
  }
  return 0
}
