import { stat } from 'node:fs/promises'
import { basename } from 'node:path'
import { type BoundMapping, compileMapping, type MissingColumn } from '../catalog/mapping.ts'
import type { FeedConfig, FeedMode } from '../config/model.ts'
import { ConfigError, FileRefusedError, SourceError, systemErrorCode } from '../lib/errors.ts'
import { type Judgement, judgeFile } from '../records/judge.ts'
import { compilePatterns } from '../sources/file-patterns.ts'

interface FileOptions {
  feed: FeedConfig
  file: string
  signal: AbortSignal
  onProgress?: (bytesRead: number) => void
}

/** A file as the import would judge it, without anything being changed. */
export type OpenedFile = { name: string; bytes: number; mode: FeedMode } & (
  | { kind: 'readable'; judgement: Judgement; mapping: BoundMapping }
  | { kind: 'missing-columns'; judgement: Judgement; missingColumns: readonly MissingColumn[] }
  | { kind: 'refused'; reason: string; hint: string | undefined }
)

/** The first pass over a file that is not accepted. Throws a SourceError when it cannot be read at all. */
export async function openFile({ feed, file, signal, onProgress }: FileOptions): Promise<OpenedFile> {
  const name = basename(file)
  const bytes = await sizeOf(file)
  const mode = modeOf(feed, name)
  const mapping = compileMapping({ feed, mode })
  try {
    const judgement = await judgeFile({
      path: file,
      name,
      bytes,
      format: feed.format,
      neededColumns: mapping.neededColumns,
      openIdReader: (columns) => {
        const binding = mapping.bindLeniently(columns)
        return binding.kind === 'bound' ? binding.bound.idReader : undefined
      },
      onProgress,
      signal,
    })
    const binding = mapping.bind(judgement.columns)
    const opened = { name, bytes, mode, judgement }
    return binding.kind === 'bound'
      ? { ...opened, kind: 'readable', mapping: binding.bound }
      : { ...opened, kind: 'missing-columns', missingColumns: binding.missingColumns }
  } catch (error) {
    if (!(error instanceof FileRefusedError)) throw error
    return { name, bytes, mode, kind: 'refused', reason: error.message, hint: error.hint }
  }
}

/** By the feed's patterns; a name that matches none has the mode of the first. */
export function modeOf(feed: FeedConfig, name: string): FeedMode {
  return compilePatterns(feed.files)(name) ?? feed.files[0]?.mode ?? 'full'
}

/** Throws a ConfigError when there is no such file, a SourceError when it cannot be looked at. */
export async function requireFile(file: string): Promise<void> {
  await sizeOf(file)
}

async function sizeOf(file: string): Promise<number> {
  try {
    const stats = await stat(file)
    if (stats.isFile()) return stats.size
  } catch (cause) {
    const code = systemErrorCode(cause)
    if (code === 'ENOENT' || code === 'ENOTDIR') {
      throw new ConfigError('file-missing', `there is no file ${file}`, { hint: 'Check the path', cause })
    }
    throw new SourceError('file-unreadable', `${file} cannot be read (${code ?? cause})`, {
      hint: 'Check the path and the permissions',
      cause,
    })
  }
  throw new ConfigError('file-irregular', `${file} is not a regular file`, { hint: 'Name a feed file' })
}
