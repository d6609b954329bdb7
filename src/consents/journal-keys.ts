import { open, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { systemErrorCode } from '../lib/errors.ts'
import { journalHeaderSchema, parseLine } from './journal-entry.ts'
import { readFirstLine } from './journal-file.ts'

/** What stands in a state folder is not always a catalog, and not always readable: `lost+found` of a volume. */
const passedOver = new Set(['ENOENT', 'ENOTDIR', 'EACCES', 'EPERM'])

export interface JournalKey {
  path: string
  /** Of the key that made its ids. Undefined: its first line is damaged, which its reader complains of. */
  fingerprint: string | undefined
}

/** Of a catalog, by its folder in the state folder. */
export function journalPath(dir: string): string {
  return join(dir, 'consents', 'acknowledged.ndjson')
}

/** Names the key and the manifest that a journal belongs to. */
export function identityOf(fingerprint: string, stateId: string): string {
  return `${fingerprint}.${stateId}`
}

/** The journals of all catalogs, with the key that each was begun with. */
export async function readJournalKeys(stateDir: string): Promise<JournalKey[]> {
  const names = await readdir(stateDir).catch((error: unknown) => {
    if (systemErrorCode(error) === 'ENOENT') return []
    throw error
  })
  const found = await Promise.all(names.map((name) => readJournalKey(journalPath(join(stateDir, name)))))
  return found.filter((one) => one !== undefined)
}

async function readJournalKey(path: string): Promise<JournalKey | undefined> {
  try {
    await using file = await open(path, 'r')
    const header = parseLine(await readFirstLine(file), journalHeaderSchema)
    return { path, fingerprint: header?.identity.split('.', 1)[0] }
  } catch (error) {
    if (passedOver.has(systemErrorCode(error) ?? '')) return undefined
    throw error
  }
}
