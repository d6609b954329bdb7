import { stat } from 'node:fs/promises'
import { basename } from 'node:path'
import { type BoundConsents, compileConsentMapping } from '../catalog/consent-mapping.ts'
import { type BoundMapping, compileMapping, type MissingColumn } from '../catalog/mapping.ts'
import type { FeedConfig, FeedMode } from '../config/model.ts'
import { refuseColumns } from '../imports/import-consents.ts'
import { readTables } from '../imports/read-tables.ts'
import { ConfigError, FileRefusedError, SourceError, systemErrorCode } from '../lib/errors.ts'
import { redactEmails } from '../lib/redact.ts'
import { type Judgement, judgeFile } from '../records/judge.ts'
import type { JudgeOptions } from '../records/judge-pass.ts'
import { compileNames } from '../sources/file-patterns.ts'

interface FileOptions {
  feed: FeedConfig
  file: string
  signal: AbortSignal
  onProgress?: ((bytesRead: number) => void) | undefined
}

/** A file as the import would judge it, without anything being changed. */
export type OpenedFile = { name: string; bytes: number; mode: FeedMode } & (
  | { kind: 'readable'; judgement: Judgement; mapping: BoundMapping }
  | { kind: 'consents'; judgement: Judgement; mapping: BoundConsents }
  | { kind: 'missing-columns'; judgement: Judgement; missingColumns: readonly MissingColumn[] }
  | { kind: 'refused'; reason: string; hint: string | undefined }
)

/** The first pass over a file that is not accepted. Throws a SourceError when it cannot be read at all. */
export async function openFile({ feed, file, signal, onProgress }: FileOptions): Promise<OpenedFile> {
  const name = basename(file)
  const bytes = await sizeOf(file)
  const mode = modeOf(feed, name)
  const opened = { name, bytes, mode }
  const source = { path: file, name, bytes, format: feed.format, onProgress, signal }
  try {
    return feed.kind === 'consents'
      ? { ...opened, ...(await openConsentFile(feed, source)) }
      : { ...opened, ...(await openProductFile(feed, mode, source)) }
  } catch (error) {
    if (!(error instanceof FileRefusedError)) throw error
    const show = feed.kind === 'consents' ? redactEmails : (text: string) => text
    const hint = error.hint === undefined ? undefined : show(error.hint)
    return { ...opened, kind: 'refused', reason: show(error.message), hint }
  }
}

type Source = Omit<JudgeOptions, 'neededColumns' | 'openIdReader'>

async function openProductFile(feed: FeedConfig, mode: FeedMode, source: Source) {
  const readTable = await readTables(feed, source.signal)
  const mapping = compileMapping({ feed, mode, readTable })
  const judgement = await judgeFile({
    ...source,
    neededColumns: mapping.neededColumns,
    openIdReader: (columns) => {
      const binding = mapping.bindLeniently(columns)
      return binding.kind === 'bound' ? binding.bound.idReader : undefined
    },
  })
  const binding = mapping.bind(judgement.columns)
  return binding.kind === 'bound'
    ? { kind: 'readable' as const, judgement, mapping: binding.bound }
    : { kind: 'missing-columns' as const, judgement, missingColumns: binding.missingColumns }
}

async function openConsentFile(feed: FeedConfig, source: Source) {
  const mapping = compileConsentMapping(feed)
  const judgement = await judgeFile({
    ...source,
    neededColumns: mapping.neededColumns,
    openIdReader: (columns) => {
      const binding = mapping.bind(columns)
      return binding.kind === 'bound' ? binding.bound.idReader : undefined
    },
  })
  const binding = mapping.bind(judgement.columns)
  if (binding.kind === 'missing-columns') {
    throw refuseColumns(source.name, binding.missingColumns, judgement.columns)
  }
  const warnings = judgement.warnings.map(redactEmails)
  return { kind: 'consents' as const, judgement: { ...judgement, warnings }, mapping: binding.bound }
}

/** By the feed's patterns; a name that matches none has the mode of the first. */
export function modeOf(feed: FeedConfig, name: string): FeedMode {
  return compileNames(feed)(name) ?? feed.files[0]?.mode ?? 'full'
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
