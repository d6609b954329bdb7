import { type FileHandle, open, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { systemErrorCode } from '../lib/errors.ts'
import { type CallLogEntry, callLogEntrySchema } from './call-log-entry.ts'

const listingsMax = 5

/**
 * Reads back what all processes wrote about their calls since a wall-clock time (in ms), file by file, in the order of
 * writing within each. Lines that are torn or unreadable are passed over. A call that ran across `sinceMs` has only its
 * `end` in the answer: ask for the time-out of a call earlier to have both.
 */
export async function* readRecentCalls(dir: string, sinceMs: number): AsyncGenerator<CallLogEntry> {
  const seen = new Set<number>()
  // A file that is rotated between listing and opening has another name then: what was missed is listed again.
  for (let missed = true, listings = 0; missed && listings < listingsMax; listings++) {
    missed = false
    for (const name of await listFiles(dir)) {
      const file = await openIfPresent(join(dir, name))
      if (!file) {
        missed = true
        continue
      }
      try {
        const { ino, mtimeMs } = await file.stat()
        if (seen.has(ino)) continue
        seen.add(ino)
        if (mtimeMs >= sinceMs) yield* readEntries(file, sinceMs)
      } finally {
        await file.close()
      }
    }
  }
}

async function* readEntries(file: FileHandle, sinceMs: number): AsyncGenerator<CallLogEntry> {
  for await (const line of file.readLines({ autoClose: false })) {
    const entry = parseEntry(line)
    if (entry && entry.at >= sinceMs) yield entry
  }
}

function parseEntry(line: string): CallLogEntry | undefined {
  if (line === '') return undefined
  try {
    return callLogEntrySchema.safeParse(JSON.parse(line)).data
  } catch {
    return undefined
  }
}

async function listFiles(dir: string): Promise<string[]> {
  try {
    return (await readdir(dir)).filter((name) => name.endsWith('.ndjson'))
  } catch (error) {
    if (systemErrorCode(error) === 'ENOENT') return []
    throw error
  }
}

async function openIfPresent(path: string): Promise<FileHandle | undefined> {
  try {
    return await open(path, 'r')
  } catch (error) {
    if (systemErrorCode(error) === 'ENOENT') return undefined
    throw error
  }
}
