import { stat } from 'node:fs/promises'
import { basename } from 'node:path'
import type { FeedConfig, FeedMode } from '../config/model.ts'
import { refuseColumns } from '../imports/import-consents.ts'
import {
  type ConsentFile,
  describeRefusal,
  openConsents,
  openProducts,
  type ProductFile,
  type UnboundFile,
} from '../imports/open-feed-file.ts'
import { ConfigError, FileRefusedError, SourceError, systemErrorCode } from '../lib/errors.ts'
import { compileNames } from '../sources/file-patterns.ts'

export interface AcceptedFile {
  name: string
  mode: FeedMode
  bytes: number
  /** Columns that are missing are passed over, as where it is approved. */
  isLenient: boolean
}

interface FileOptions {
  feed: FeedConfig
  file: string
  /** What was accepted: its name and mode, and how much of the file belongs to it. */
  accepted?: AcceptedFile | undefined
  signal: AbortSignal
  onProgress?: ((bytesRead: number) => void) | undefined
}

/** A file as the import would judge it, without anything being changed. */
export type OpenedFile = { bytes: number; mode: FeedMode } & (
  | ProductFile
  | ConsentFile
  | UnboundFile
  | { kind: 'refused'; reason: string; hint?: string }
)

/** The first pass over a file that is not accepted. Throws a SourceError when it cannot be read at all. */
export async function openFile({ feed, file, accepted, ...given }: FileOptions): Promise<OpenedFile> {
  const name = accepted?.name ?? basename(file)
  const bytes = accepted?.bytes ?? (await requireFile(file))
  const mode = accepted?.mode ?? modeOf(feed, name)
  const isLenient = accepted?.isLenient === true
  const options = { feed, mode, isLenient, source: { path: file, name, bytes, ...given } }
  try {
    if (feed.kind === 'products') return { bytes, mode, ...(await openProducts(options)) }
    const opened = await openConsents(options)
    if (opened.kind === 'missing-columns') throw refuseColumns(name, opened)
    return { bytes, mode, ...opened }
  } catch (error) {
    if (!(error instanceof FileRefusedError)) throw error
    return { bytes, mode, kind: 'refused', ...describeRefusal(feed, error) }
  }
}

/** By the feed's patterns; a name that matches none has the mode of the first. */
export function modeOf(feed: FeedConfig, name: string): FeedMode {
  return compileNames(feed)(name) ?? feed.files[0]?.mode ?? 'full'
}

/** Its size. Throws a ConfigError when there is no such file, a SourceError when it cannot be looked at. */
export async function requireFile(file: string): Promise<number> {
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
