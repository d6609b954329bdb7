import { writeFile } from 'node:fs/promises'
import { gzipSync, zstdCompressSync } from 'node:zlib'
import type { Encoding, FormatConfig } from '../../src/config/format-model.ts'
import { type Judgement, judgeFile } from '../../src/records/judge.ts'
import type { JudgeOptions } from '../../src/records/judge-model.ts'
import type { Dialect, ParsedRecord, RecordIssue, RejectedRecord } from '../../src/records/model.ts'
import { readRecords } from '../../src/records/read-records.ts'
import { type TempDir, tempDir } from '../support/temp-dir.ts'

export const anyFormat: FormatConfig = {
  type: undefined,
  delimiter: undefined,
  quote: undefined,
  encoding: undefined,
  recordBytes: 2 ** 24,
}

/** Writes feed files into a folder of their own. */
export class FeedFolder implements AsyncDisposable {
  readonly #dir: TempDir

  private constructor(dir: TempDir) {
    this.#dir = dir
  }

  static async open(): Promise<FeedFolder> {
    return new FeedFolder(await tempDir('records'))
  }

  path(name: string): string {
    return this.#dir.join(name)
  }

  /** The file as a source for both passes. */
  async write(
    name: string,
    content: Buffer | string,
  ): Promise<{ path: string; bytes: number; name: string }> {
    const bytes = Buffer.from(content)
    await writeFile(this.path(name), bytes)
    return { path: this.path(name), bytes: bytes.length, name }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#dir[Symbol.asyncDispose]()
  }
}

type Source = { path: string; bytes: number; name: string }

/** Judges with the id in the column `id`. */
export function judge(
  source: Source,
  { format, ...rest }: { format?: Partial<FormatConfig> } & Partial<Omit<JudgeOptions, 'format'>> = {},
): Promise<Judgement> {
  return judgeFile({
    ...source,
    format: { ...anyFormat, ...format },
    neededColumns: ['id'],
    openIdReader: (columns) => {
      const index = columns.indexOf('id')
      if (index < 0) return undefined
      return {
        indices: [index],
        read: ([cell]) => (typeof cell === 'string' && cell.trim() !== '' ? cell.trim() : undefined),
      }
    },
    ...rest,
  })
}

export interface ReadResult {
  records: readonly ParsedRecord[]
  rejected: readonly RejectedRecord[]
  issues: readonly RecordIssue[]
  batches: number
}

export async function read(
  source: Source,
  judgement: Pick<Judgement, 'dialect' | 'columns'>,
  neededColumns?: readonly string[],
): Promise<ReadResult> {
  const result = {
    records: [] as ParsedRecord[],
    rejected: [] as RejectedRecord[],
    issues: [] as RecordIssue[],
    batches: 0,
  }
  const { dialect, columns } = judgement
  for await (const batch of readRecords({
    ...source,
    dialect,
    columns,
    neededColumns,
    recordBytes: anyFormat.recordBytes,
  })) {
    result.records.push(...batch.records)
    result.rejected.push(...batch.rejected)
    const found = [...batch.records, ...batch.rejected].sort((one, other) => one.record - other.record)
    result.issues.push(...found.flatMap(({ issues = [] }) => issues))
    result.batches += 1
  }
  return result
}

/** Both passes. */
export async function judgeAndRead(source: Source, options: Parameters<typeof judge>[1] = {}) {
  const judgement = await judge(source, options)
  return { judgement, ...(await read(source, judgement)) }
}

export function encode(text: string, encoding: Encoding, { mark }: { mark: boolean }): Buffer {
  const marked = mark ? `\ufeff${text}` : text
  if (encoding === 'utf-8') return Buffer.from(marked)
  if (encoding === 'windows-1252')
    return Buffer.from(text.replaceAll('€', '\x80').replaceAll('–', '\x96'), 'latin1')
  const littleEndian = Buffer.from(marked, 'utf16le')
  return encoding === 'utf-16le' ? littleEndian : littleEndian.swap16()
}

export function compress(bytes: Buffer, compression: Dialect['compression']): Buffer {
  if (compression === 'none') return bytes
  if (compression === 'zip' || compression === 'xlsx') throw new Error('made by zip-file.ts')
  return compression === 'gzip' ? gzipSync(bytes) : zstdCompressSync(bytes)
}
