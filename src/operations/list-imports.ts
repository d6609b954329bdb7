import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { CatalogConfig, Config } from '../config/model.ts'
import { type ImportReport, readReport, reportPath } from '../imports/report.ts'
import type { AcceptSequence } from '../lib/brand.ts'
import { ConfigError } from '../lib/errors.ts'
import { pathInArchive } from '../sources/archive.ts'
import { type ManifestReader, type ReadManifest, readManifest } from '../sources/manifest-reader.ts'
import type { AcceptLine, ImportOutcome } from '../sources/model.ts'
import { stateDirOf } from '../storage.ts'

export interface ImportEntry {
  sequence: number
  feed: string
  file: string
  mode: string
  bytes: number
  acceptedAt: string
  /** Where the archive has the file; null: it was removed. */
  archive: string | null
  /** `waiting` until it is imported. */
  outcome: 'waiting' | ImportOutcome
  /** What the operator decided about what was held. */
  decision: 'approve' | 'discard' | null
  report: ImportReport | null
}

interface Place {
  config: Config
  catalog: CatalogConfig
  /** Of who reads often. */
  readManifest?: ReadManifest | undefined
}

/** The newest imports, newest first. Needs no Redis. */
export async function listImports(
  { config, catalog, readManifest: read = readManifest }: Place,
  limit: number,
): Promise<ImportEntry[]> {
  const dir = stateDirOf(config, catalog.name)
  using manifest = await read(dir)
  const newest: AcceptLine[] = []
  for (let sequence = manifest.nextSequence - 1; sequence > 0 && newest.length < limit; sequence -= 1) {
    const accept = manifest.file(sequence as AcceptSequence)
    if (accept) newest.push(accept)
  }
  return await Promise.all(newest.map((accept) => readEntry(accept, { dir, manifest })))
}

/** One import. Throws a ConfigError when there is none of that number. */
export async function findImport(
  { config, catalog, readManifest: read = readManifest }: Place,
  sequence: number,
): Promise<ImportEntry> {
  const dir = stateDirOf(config, catalog.name)
  using manifest = await read(dir)
  const accept = manifest.file(sequence as AcceptSequence)
  if (accept) return await readEntry(accept, { dir, manifest })
  throw new ConfigError('import-unknown', `there is no import ${sequence}`, { hint: 'See catalogd imports' })
}

/** Where the report of an import stands; undefined: there is none. */
export async function findReport(
  { config, catalog, readManifest: read = readManifest }: Place,
  sequence: number,
): Promise<string | undefined> {
  const dir = stateDirOf(config, catalog.name)
  using manifest = await read(dir)
  const accept = manifest.file(sequence as AcceptSequence)
  const path = accept && reportPath(join(dir, 'reports'), accept)
  return path !== undefined && existsSync(path) ? path : undefined
}

async function readEntry(
  accept: AcceptLine,
  { dir, manifest }: { dir: string; manifest: ManifestReader },
): Promise<ImportEntry> {
  const { sequence, feed, name, mode, bytes, acceptedAt } = accept
  const outcome = manifest.outcome(sequence)
  const archive = pathInArchive(dir, accept, manifest)
  const report = outcome && (await readReport(reportPath(join(dir, 'reports'), accept)))
  return {
    sequence,
    feed,
    file: name,
    mode,
    bytes,
    acceptedAt,
    archive: existsSync(archive) ? archive : null,
    outcome: outcome?.outcome ?? 'waiting',
    decision: decisionOn(sequence, manifest),
    report: report ?? null,
  }
}

/** What was decided about what an import held. */
export function decisionOn(sequence: AcceptSequence, manifest: ManifestReader): ImportEntry['decision'] {
  for (const line of manifest.decisions().toReversed()) {
    if ((line.decision === 'approve' || line.decision === 'discard') && line.import === sequence)
      return line.decision
  }
  return null
}
