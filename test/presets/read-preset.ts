import { writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { productFields, productSchema } from '../../src/api/contract/product.ts'
import { groupProblems } from '../../src/catalog/group-links.ts'
import { checkRule } from '../../src/catalog/mapping.ts'
import { mergeFields, rankFields } from '../../src/catalog/ranks.ts'
import { composeDocument } from '../../src/catalog/stored-form.ts'
import { readConfig } from '../../src/config/load.ts'
import type { FeedConfig } from '../../src/config/model.ts'
import type { FeedName } from '../../src/lib/brand.ts'
import { openFile } from '../../src/operations/open-file.ts'
import { readGroupedRecords } from '../../src/records/read-grouped-records.ts'
import { tempDir } from '../support/temp-dir.ts'

export interface PresetReading {
  /** By id: what goes over the wire, or the required fields that are missing. */
  documents: Record<string, unknown>
  /** `code field`, one for each issue. */
  issues: readonly string[]
  later: Record<string, unknown>
  /** What the records say, complete or not. */
  said: Record<string, unknown>
}

interface Given {
  /** Lines of the feed besides the preset. */
  lines?: string
  now?: string
}

/** A feed as it would stand in a configuration. */
export async function loadFeed(lines: string): Promise<FeedConfig> {
  await using dir = await tempDir('presets')
  const file = dir.join('catalogd.yaml')
  const feed = `${lines}\ndrop: ./drop`.replace(/^/gm, '        ')
  await writeFile(
    file,
    `catalogs:\n  main:\n    api: { url: "http://127.0.0.1:1", productsToken: token }\n    feeds:\n      products:\n${feed}\n`,
  )
  const { config } = await readConfig({ file, env: {}, productFields, checkRule, checkGroup: groupProblems })
  const [catalog] = config.catalogs.values()
  return catalog?.feeds.get('products' as FeedName) as FeedConfig
}

/** What comes of a fixture with a preset, through the stages of an import. Every document is held against the contract. */
export async function readPreset(preset: string, fixture: string, given: Given = {}): Promise<PresetReading> {
  const feed = await loadFeed(`preset: ${preset}\n${given.lines ?? ''}`)
  return readFeed(feed, fileURLToPath(new URL(`fixtures/${fixture}`, import.meta.url)), given.now)
}

export async function readFeed(feed: FeedConfig, path: string, now = '2026-06-01'): Promise<PresetReading> {
  const signal = AbortSignal.timeout(240_000)
  const opened = await openFile({ feed, file: path, signal })
  if (opened.kind !== 'products') throw new Error(JSON.stringify(opened))
  const { source, judgement, recordBytes } = opened
  const ranks = rankFields(new Map([[feed.name, feed]]))
  const reading = {
    documents: {} as Record<string, unknown>,
    issues: [] as string[],
    later: {} as Record<string, unknown>,
    said: {} as Record<string, unknown>,
  }
  for await (const batch of readGroupedRecords({ ...source, ...judgement, recordBytes })) {
    reading.issues.push(...batch.rejected.flatMap(({ issues }) => issues.map(({ code }) => code)))
    for (const record of batch.records) {
      const { item: patch, issues } = opened.map(record, Date.parse(now))
      for (const { code, field, severity, productId } of [...(record.issues ?? []), ...issues])
        reading.issues.push(
          `${productId ?? `record ${record.record}`}: ${severity} ${code} ${field ?? ''}`.trim(),
        )
      if (!patch) continue
      const { productId, later } = patch
      reading.said[productId] = patch.set
      const { fields, writers } = mergeFields(undefined, { patch, feed: feed.name, ranks })
      const composed = composeDocument(
        { fields, writers, feeds: new Set(), missingFrom: new Set() },
        productId,
      )
      reading.documents[productId] =
        composed.kind === 'complete'
          ? productSchema.parse(JSON.parse(composed.bytes.toString()))
          : composed.missing
      if (later) reading.later[productId] = later
    }
  }
  return reading
}
