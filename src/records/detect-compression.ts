import { tmpdir } from 'node:os'
import type { Dialect, FileText } from './model.ts'
import { type FileSource, fileRefusal, openSource } from './read-file.ts'
import { UnnamedFile } from './unnamed-file.ts'
import { readSheet } from './xlsx-sheet.ts'
import { openZipArchive, type ZipArchive } from './zip-archive.ts'

/** Other containers by their first bytes, so that they are named and not read as text. */
const otherMagic: readonly { hex: string; found: string; hint: string }[] = [
  { hex: 'd0cf11e0a1b11ae1', found: 'an old Excel workbook (.xls)', hint: 'Save it as .xlsx or CSV' },
  { hex: '526172211a07', found: 'a RAR archive', hint: 'Use zip, gzip or zstd' },
  { hex: '377abcaf271c', found: 'a 7-Zip archive', hint: 'Use zip, gzip or zstd' },
  { hex: '425a68', found: 'compressed with bzip2', hint: 'Use gzip, zstd or zip' },
  { hex: 'fd377a585a00', found: 'compressed with xz', hint: 'Use gzip, zstd or zip' },
  { hex: '25504446', found: 'a PDF document', hint: 'Export CSV, XLSX, XML or JSON' },
]

/** Starts of containers that are not looked for inside an archive. */
const nestedMagic: readonly { hex: string; found: string }[] = [
  { hex: '504b0304', found: 'a zip archive or a spreadsheet' },
  { hex: '1f8b08', found: 'compressed with gzip' },
  { hex: '28b52ffd', found: 'compressed with zstd' },
  ...otherMagic,
]

/** Documents that are zip archives too. */
const otherDocuments: readonly { member: RegExp; found: string }[] = [
  { member: /^xl\/workbook\.bin$/, found: 'a binary Excel workbook (.xlsb)' },
  { member: /^content\.xml$/, found: 'an OpenDocument file' },
  { member: /^word\//, found: 'a Word document' },
]

/** By content: what a file is called says nothing reliable. */
export async function detectCompression(source: FileSource): Promise<Dialect['compression']> {
  const head = await readHead(source)
  if (starts(head, '1f8b')) return 'gzip'
  if (head.length < 4) return 'none'
  const magic = head.readUInt32LE()
  // A zstd file may begin with a skippable frame (sixteen magic numbers).
  if (magic === 0xfd2fb528 || (magic & 0xfffffff0) >>> 0 === 0x184d2a50) return 'zstd'
  // An archive without members begins with its end.
  if (starts(head, '504b0304') || starts(head, '504b0506')) return detectZip(source)
  const other = otherMagic.find(({ hex }) => starts(head, hex))
  if (other) throw unsupported(source.name, other.found, other.hint)
  return 'none'
}

/**
 * By its beginning, of at least 64 bytes: which member a spreadsheet begins with is up to the program that wrote it, but
 * no other archive begins with one of these.
 */
export function isSpreadsheet(head: Buffer): boolean {
  if (head.length < 30 || !starts(head, '504b0304')) return false
  const name = head.toString('latin1', 30, 30 + head.readUInt16LE(26))
  return /^(\[Content_Types\]\.xml|(_rels|docProps|xl|customXml)\/.*)$/.test(name)
}

/** Throws FileRefusedError when what was compressed, or a member, begins like another container. */
export function checkNested(head: Buffer, name: string): void {
  const nested = nestedMagic.find(({ hex }) => starts(head, hex))
  if (nested === undefined) return
  throw fileRefusal({
    name,
    code: 'nested-archive',
    found: `what was compressed is itself ${nested.found}`,
    hint: 'Drop the file inside as it is, without an archive around it',
  })
}

async function detectZip(source: FileSource): Promise<'zip' | 'xlsx'> {
  await using archive = await openZipArchive({ ...source, onProgress: undefined })
  if (isWorkbook(archive)) return 'xlsx'
  const other = otherDocuments.find(({ member }) => archive.members.some(({ name }) => member.test(name)))
  if (other && archive.members.some(({ name }) => /^(\[Content_Types\]\.xml|mimetype)$/.test(name))) {
    throw unsupported(source.name, other.found, 'Save it as .xlsx or CSV')
  }
  return 'zip'
}

function isWorkbook({ members }: ZipArchive): boolean {
  const has = (name: string) => members.some((member) => member.name === name)
  return (
    has('[Content_Types].xml') &&
    has('_rels/.rels') &&
    members.some(({ name }) => /workbook\d*\.xml$/i.test(name))
  )
}

async function readHead(source: FileSource): Promise<Buffer> {
  await using handle = await openSource(source)
  const head = Buffer.alloc(8)
  const { bytesRead } = await handle.read(head, 0, Math.min(head.length, source.bytes), 0)
  return head.subarray(0, bytesRead)
}

function starts(head: Buffer, hex: string): boolean {
  return head.toString('hex', 0, hex.length / 2) === hex
}

function unsupported(name: string, found: string, hint: string): Error {
  return fileRefusal({ name, code: 'unsupported-format', found: `the content is ${found}`, hint })
}

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
    const unpacked = { ...source, name, path: file.path, bytes: file.bytes, held: undefined, onProgress }
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
