import type { Dirent, Stats } from 'node:fs'
import { lstat, opendir } from 'node:fs/promises'
import { ifPresent, systemErrorCode } from '../lib/errors.ts'
import { type RawName, rawNameOf } from './entry-name.ts'

export interface FolderEntry {
  raw: RawName
  kind: 'file' | 'folder' | 'link' | 'device'
}

/**
 * Entries of a folder, never all at once in memory. Names are read as bytes (`RawName`); the type of the option does
 * not know that.
 */
export async function* scanFolder(dir: string): AsyncGenerator<FolderEntry> {
  const folder = await opendir(dir, { encoding: 'buffer' as BufferEncoding, bufferSize: 256 })
  for await (const entry of folder) {
    yield { raw: rawNameOf(entry.name as unknown as Buffer), kind: kindOf(entry) }
  }
}

/** The same for a folder that need not exist. */
export async function* scanIfPresent(dir: string): AsyncGenerator<FolderEntry> {
  try {
    yield* scanFolder(dir)
  } catch (error) {
    if (systemErrorCode(error) !== 'ENOENT') throw error
  }
}

export function lstatIfPresent(path: string | Buffer): Promise<Stats | undefined> {
  return ifPresent(lstat(path))
}

function kindOf(entry: Dirent | Stats): FolderEntry['kind'] {
  if (entry.isFile()) return 'file'
  if (entry.isDirectory()) return 'folder'
  return entry.isSymbolicLink() ? 'link' : 'device'
}
