import type { Change } from '../catalog/model.ts'
import type { CatalogConfig } from '../config/model.ts'
import { parseHeld } from '../imports/context.ts'
import type { AcceptSequence, FeedName } from '../lib/brand.ts'
import { ConfigError } from '../lib/errors.ts'
import type { MirrorReader } from '../mirror/reader.ts'
import { sourceIn } from '../sources/archive.ts'
import { readManifest } from '../sources/manifest-reader.ts'
import { diffFile, type FileDiff } from './diff-file.ts'
import { requireFile } from './open-file.ts'

interface ImportDiffOptions {
  catalog: CatalogConfig
  /** `state/<catalog>`. */
  dir: string
  mirror: MirrorReader
  nowMs: number
  signal: AbortSignal
  onChange: (change: Change) => void
}

/**
 * What applying an accepted file would do now, as if it had been approved: one that is held or late, as a rule. Throws a
 * ConfigError when the feed has no such import, or the archive has the file no longer.
 */
export async function diffImport(
  { dir, catalog, ...options }: ImportDiffOptions,
  { feed: name, sequence }: { feed: string; sequence: AcceptSequence },
): Promise<FileDiff> {
  using manifest = await readManifest(dir)
  const accept = manifest.file(sequence)
  const feed = catalog.feeds.get(name as FeedName)
  if (!accept || accept.feed !== name || !feed) {
    const of = accept ? `is one of feed ${accept.feed}` : 'is not there'
    const hint = 'See catalogd imports; a file that is called by a number is named with its folder, as ./12'
    throw new ConfigError('import-unknown', `import ${sequence} of feed ${name} ${of}`, { hint })
  }
  const { path, bytes } = await sourceIn(dir, accept, manifest)
  await requireFile(path)
  const { name: file, mode } = accept
  const accepted = { name: file, mode, bytes, isLenient: true }
  return { ...(await diffFile({ ...options, catalog, feed, dir, file: path, accepted })), file }
}

/** Some of what an import holds back: products that it no longer names, or what its records would change. */
export type HeldExamples =
  | { kind: 'removals'; products: string[]; more: boolean }
  | { kind: 'file'; changes: Change[]; more: boolean }

class EnoughFound extends Error {}

/** At most so many; null: nothing of it is held. A held file is read until there are enough. */
export async function heldExamples(
  options: Omit<ImportDiffOptions, 'onChange'>,
  { feed, sequence }: { feed: string; sequence: number },
  examplesMax: number,
): Promise<HeldExamples | null> {
  const { mirror } = options
  const name = feed as FeedName
  const held = parseHeld(mirror.held().get(name)).find((each) => each.sequence === sequence)
  if (!held) return null
  if (held.kind === 'removals') {
    const products = mirror.heldIds(name, examplesMax + 1)
    return { kind: 'removals', products: products.slice(0, examplesMax), more: products.length > examplesMax }
  }
  const changes: Change[] = []
  const onChange = (change: Change) => {
    if (changes.length >= examplesMax) throw new EnoughFound()
    changes.push(change)
  }
  try {
    await diffImport({ ...options, onChange }, { feed, sequence: sequence as AcceptSequence })
    return { kind: 'file', changes, more: false }
  } catch (error) {
    if (!(error instanceof EnoughFound)) throw error
    return { kind: 'file', changes, more: true }
  }
}
