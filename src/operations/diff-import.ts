import type { CatalogConfig } from '../config/model.ts'
import { parseHeld } from '../imports/context.ts'
import type { AcceptSequence, FeedName } from '../lib/brand.ts'
import { ConfigError } from '../lib/errors.ts'
import type { MirrorReader } from '../mirror/reader.ts'
import { sourceIn } from '../sources/archive.ts'
import { readManifest } from '../sources/manifest-reader.ts'
import { diffFile, type FileDiff, type OnChange } from './diff-file.ts'
import { requireFile } from './open-file.ts'
import {
  countRemovedBrands,
  type LabelledChange,
  labelOf,
  type ProductLabel,
  type RemovedBrands,
  readForBrandsMax,
} from './product-labels.ts'

interface ImportDiffOptions {
  catalog: CatalogConfig
  /** `state/<catalog>`. */
  dir: string
  mirror: MirrorReader
  nowMs: number
  signal: AbortSignal
  onChange: OnChange
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
  | { kind: 'removals'; products: ({ productId: string } & ProductLabel)[]; more: boolean }
  | { kind: 'file'; changes: LabelledChange[]; more: boolean }

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
    const ids = mirror.heldIds(name, examplesMax + 1)
    const stored = mirror.read(ids.slice(0, examplesMax))
    const products = [...stored].map(([productId, product]) => ({ productId, ...labelOf(product) }))
    return { kind: 'removals', products, more: ids.length > examplesMax }
  }
  const changes: LabelledChange[] = []
  const onChange: OnChange = (change, label) => {
    if (changes.length >= examplesMax) throw new EnoughFound()
    changes.push({ ...change, ...label?.() })
  }
  try {
    await diffImport({ ...options, onChange }, { feed, sequence: sequence as AcceptSequence })
    return { kind: 'file', changes, more: false }
  } catch (error) {
    if (!(error instanceof EnoughFound)) throw error
    return { kind: 'file', changes, more: true }
  }
}

/** Whose products the removals that a feed holds are; undefined where no brand is known of any. */
export async function heldBrands(
  { catalog, mirror, signal }: Pick<ImportDiffOptions, 'catalog' | 'mirror' | 'signal'>,
  name: string,
): Promise<RemovedBrands | undefined> {
  const feed = catalog.feeds.get(name as FeedName)
  return feed && countRemovedBrands({ feed, mirror, signal }, mirror.heldIds(feed.name, readForBrandsMax + 1))
}
