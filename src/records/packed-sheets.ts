import { tmpdir } from 'node:os'
import { detectCompression } from './detect-compression.ts'
import type { FileText } from './model.ts'
import type { FileSource } from './read-file.ts'
import { fileRefusal } from './refusal.ts'
import { UnnamedFile } from './unnamed-file.ts'
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

async function unpack(
  chunks: AsyncIterable<Buffer>,
  { name, signal, spillDir = tmpdir() }: FileSource,
): Promise<AsyncDisposable & { path: string; bytes: number }> {
  const file = await UnnamedFile.open({ dir: spillDir, what: 'a spreadsheet that is unpacked' })
  try {
    let bytes = 0
    for await (const chunk of chunks) {
      signal?.throwIfAborted()
      bytes += chunk.length
      if (bytes > bytesMax) throw tooLarge(name)
      await file.append(chunk)
    }
    return { path: file.path, bytes, [Symbol.asyncDispose]: () => file[Symbol.asyncDispose]() }
  } catch (error) {
    await file[Symbol.asyncDispose]()
    throw error
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
