import { randomUUID } from 'node:crypto'
import { open, unlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { StorageError, systemErrorCode } from '../lib/errors.ts'
import { detectCompression } from './detect-compression.ts'
import type { FileText } from './model.ts'
import type { FileSource } from './read-file.ts'
import { fileRefusal } from './refusal.ts'
import { readSheet } from './xlsx-sheet.ts'

/** A spreadsheet is compressed itself: a million rows come to a tenth of this. */
const bytesMax = 2 ** 30

/**
 * The sheets of spreadsheets that are compressed once more, or members of an archive: each is unpacked to the disk,
 * since the parts of a spreadsheet are read in any order.
 */
export async function* readPackedSheets(
  texts: AsyncIterable<FileText>,
  source: FileSource,
  sheet: string | undefined,
): AsyncGenerator<FileText> {
  for await (const { name, chunks } of texts) {
    await using file = await unpack(chunks, { ...source, name })
    // How far the file has been read does not change any more, but work is done.
    const onProgress = source.onProgress && (() => source.onProgress?.(source.bytes))
    const unpacked = { ...source, name, path: file.path, bytes: file.bytes, onProgress }
    if ((await detectCompression(unpacked)) !== 'xlsx') throw noSpreadsheet(name)
    yield { name, chunks: readSheet(unpacked, sheet) }
  }
}

/** Into a file without a name, which is gone however the process ends. */
async function unpack(
  chunks: AsyncIterable<Buffer>,
  { name, signal }: FileSource,
): Promise<AsyncDisposable & { path: string; bytes: number }> {
  const path = join(tmpdir(), `catalogd-sheet-${randomUUID()}`)
  const file = await writing(() => open(path, 'wx+', 0o600))
  try {
    await unlink(path)
    let bytes = 0
    for await (const chunk of chunks) {
      signal?.throwIfAborted()
      bytes += chunk.length
      if (bytes > bytesMax) throw tooLarge(name)
      await writing(() => file.writeFile(chunk))
    }
    return { path: `/dev/fd/${file.fd}`, bytes, [Symbol.asyncDispose]: () => file.close() }
  } catch (error) {
    await file.close()
    throw error
  }
}

async function writing<T>(write: () => Promise<T>): Promise<T> {
  try {
    return await write()
  } catch (cause) {
    throw new StorageError(
      'sheet-not-written',
      `cannot unpack a spreadsheet to ${tmpdir()} (${systemErrorCode(cause) ?? cause})`,
      { hint: 'Make room on the disk and check that the folder can be written', cause },
    )
  }
}

/** Of several members only the first was looked at before. */
function noSpreadsheet(name: string): Error {
  return fileRefusal({
    name,
    code: 'nested-archive',
    found: 'what was compressed is no spreadsheet, though it begins as one or stands beside one',
    hint: 'Drop the file inside as it is, without an archive around it',
  })
}

function tooLarge(name: string): Error {
  return fileRefusal({
    name,
    code: 'spreadsheet-too-large',
    found: 'the spreadsheet inside is larger than 1 GB',
    hint: 'Export CSV, which may be of any size, or several smaller spreadsheets',
  })
}
