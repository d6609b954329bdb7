import { open, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { consentsFileName } from '../consents/reader.ts'
import { StorageError, systemErrorCode } from '../lib/errors.ts'
import { hashContent } from '../sources/compress.ts'
import { manifestFileName } from '../sources/manifest.ts'
import { mirrorFileName } from '../storage.ts'

/** The databases of a catalog, each where it has one. The last is what makes a state folder whole. */
export const databaseNames = [consentsFileName, mirrorFileName] as const
/** Which manifest the databases speak of. */
export const stateIdName = 'id'
/** In the order in which they are copied: the manifest is never behind what the databases name. */
export const backupNames = [...databaseNames, stateIdName, manifestFileName]

/** Says what a backup holds. Written last: without it a folder is no backup. */
export const contentsName = 'backup.json'
const formatVersion = 1

const fileSchema = z.object({ name: z.enum(backupNames), bytes: z.int().nonnegative(), sha256: z.string() })
const contentsSchema = z.object({
  format: z.int(),
  version: z.string(),
  at: z.iso.datetime(),
  catalogs: z.array(z.object({ catalog: z.string(), files: z.array(fileSchema) })),
})

export type BackupFile = z.infer<typeof fileSchema>
export type BackupContents = z.infer<typeof contentsSchema>

export function formatContents(contents: Omit<BackupContents, 'format'>): string {
  return `${JSON.stringify({ format: formatVersion, ...contents }, undefined, 2)}\n`
}

/** What a backup holds, by its own word. Throws a StorageError where the folder is none. */
export async function readContents(folder: string): Promise<BackupContents> {
  const contents = contentsSchema.safeParse(await readJson(join(folder, contentsName)))
  if (!contents.success) throw noBackup(folder, 'is no backup of catalogd', contents.error)
  const { format, version } = contents.data
  if (format <= formatVersion) return contents.data
  throw noBackup(folder, `was made by a later version of catalogd (${version})`)
}

/** Throws a StorageError where a file of the backup is not what was written. */
export async function verifyFile(path: string, { bytes, sha256 }: BackupFile): Promise<void> {
  const found = await stat(path).catch(() => undefined)
  if (found?.size === bytes && (await digestOf(path, bytes)) === sha256) return
  throw new StorageError('backup-damaged', `${path} is not as the backup was made`, {
    hint: 'Copy the backup again from where it was made, or take another one',
  })
}

export function digestOf(path: string, bytes: number): Promise<string> {
  return hashContent({ from: path, bytes, signal: undefined })
}

/** Where the last whole line of a manifest ends. */
export async function endOfLines(path: string): Promise<number> {
  await using file = await open(path, 'r')
  const block = Buffer.allocUnsafe(64 * 1024)
  for (let end = (await file.stat()).size; end > 0; ) {
    const from = Math.max(0, end - block.length)
    const { bytesRead } = await file.read(block, 0, end - from, from)
    const last = block.subarray(0, bytesRead).lastIndexOf(10)
    if (last >= 0) return from + last + 1
    end = from
  }
  return 0
}

/** Whether the first `bytes` of both files are the same. */
export async function beginAlike(one: string, other: string, bytes: number): Promise<boolean> {
  return bytes === 0 || (await digestOf(one, bytes)) === (await digestOf(other, bytes))
}

async function readJson(path: string): Promise<unknown> {
  try {
    return JSON.parse(await readFile(path, 'utf8'))
  } catch (error) {
    if (error instanceof SyntaxError || systemErrorCode(error) === 'ENOENT') return undefined
    throw error
  }
}

function noBackup(folder: string, what: string, cause?: unknown): StorageError {
  return new StorageError('no-backup', `${folder} ${what}`, {
    hint: 'Give the folder that catalogd backup made; one whose name ends in .unfinished was never completed',
    cause,
  })
}
