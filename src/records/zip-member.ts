import picomatch from 'picomatch'
import type yauzl from 'yauzl'
import { type FileSource, fileRefusal } from './read-file.ts'

/** An archive with more is refused. */
export const membersMax = 10_000
const nameLengthMax = 1000
const namesShown = 5

export interface ZipMember {
  /** With its folders, separated by `/`. */
  name: string
  method: 'stored' | 'deflated'
  /** What the archive's directory says. */
  bytes: number
  compressedBytes: number
  crc32: number
  /** Where the member begins, for the library that reads its header. */
  entry: yauzl.Entry
}

const methodNames: Readonly<Record<number, string>> = {
  9: 'Deflate64',
  12: 'bzip2',
  14: 'LZMA',
  93: 'Zstandard',
  95: 'XZ',
  98: 'PPMd',
  99: 'AES encryption',
}

/** Throws FileRefusedError for a member that cannot or should not be read, whether it would be picked or not. */
export function checkMember(entry: yauzl.Entry, source: FileSource): ZipMember {
  const { fileName: name, compressionMethod } = entry
  if (name === '') throw damagedArchive(source, 'one of its members has no name')
  if (name.length > nameLengthMax || /\p{Cc}/u.test(name)) {
    throw fileRefusal({
      name: source.name,
      code: 'member-name',
      found: `a member's name holds control characters or is longer than ${nameLengthMax} characters`,
      hint: 'No export makes such a name: check where the file comes from',
    })
  }
  if (entry.isEncrypted() || compressionMethod === 99) {
    throw fileRefusal({
      name: source.name,
      code: 'encrypted',
      found: `its member ${name} is encrypted`,
      hint: 'Export the archive without a password',
    })
  }
  if (compressionMethod !== 0 && compressionMethod !== 8) {
    throw fileRefusal({
      name: source.name,
      code: 'unsupported-compression',
      found: `its member ${name} is compressed with ${methodNames[compressionMethod] ?? `method ${compressionMethod}`}`,
      hint: 'Compress with Deflate, the usual method of zip archives, or use gzip or zstd',
    })
  }
  const { uncompressedSize, compressedSize, crc32, relativeOffsetOfLocalHeader } = entry
  return {
    name,
    method: compressionMethod === 0 ? 'stored' : 'deflated',
    bytes: uncompressedSize,
    compressedBytes: compressedSize,
    crc32,
    // Not the whole entry: it holds comments and extra fields of any length.
    entry: { relativeOffsetOfLocalHeader } as yauzl.Entry,
  }
}

/** The members that a feed reads: those that match the configured glob, without what systems hide. Never empty. */
export function pickMembers(
  members: readonly ZipMember[],
  pattern: string | undefined,
  name: string,
): readonly ZipMember[] {
  const matches = picomatch(pattern ?? '**', { basename: true, dot: true })
  const picked = members.filter((member) => isVisible(member.name) && matches(member.name))
  if (picked.length > 0) return picked
  const names = members.slice(0, namesShown).map((member) => member.name)
  const more = members.length > namesShown ? ` and ${members.length - namesShown} more` : ''
  const seen = members.length === 0 ? 'it is empty' : `it has ${names.join(', ')}${more}`
  throw fileRefusal({
    name,
    code: 'no-member',
    found: `the archive has no member ${pattern === undefined ? 'that is a visible file' : `that matches ${pattern}`}: ${seen}`,
    hint:
      pattern === undefined
        ? 'Check the export, or name the members with format.members'
        : 'Correct format.members',
  })
}

function isVisible(name: string): boolean {
  return !/(^|\/)(\.|__MACOSX\/|Thumbs\.db$)/i.test(name)
}

export function damagedArchive(source: FileSource, found: string, cause?: unknown): Error {
  return fileRefusal({
    name: source.name,
    code: 'damaged-archive',
    found: `the zip archive is damaged: ${found}`,
    hint: 'Export it again, or transfer it again in binary mode, and rename it into place when it is complete',
    cause,
  })
}
