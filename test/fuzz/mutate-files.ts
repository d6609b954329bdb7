import { unlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import type { FeedConfig } from '../../src/config/model.ts'
import type { FieldRule } from '../../src/config/rule-model.ts'
import { readFeedFile } from '../../src/imports/open-feed-file.ts'
import { ProblemCollector } from '../../src/imports/report.ts'
import { openFile } from '../../src/operations/open-file.ts'
import type { Dialect } from '../../src/records/model.ts'
import { columnRule, feedOf } from '../catalog/support.ts'
import { type FileFormat, fileFormats, generateFile } from './base-file.ts'
import { mapReference, type ReferenceDocument } from './map-reference.ts'
import { Random } from './random.ts'
import { readReference } from './read-reference.ts'
import type { Failure, Tally } from './run-cases.ts'

/** Longer than any of these small files takes, by the time of the processor: the machine may be busy. */
const longestMs = 1000

/** Runs the cases `from` up to but not including `to`: mutated files as they are checked and imported. */
export async function mutateFiles(
  seed: number,
  { from, to }: { from: number; to: number },
): Promise<{ tally: Tally; failures: Failure[] }> {
  const tally: Tally = {}
  const failures: Failure[] = []
  for (let number = from; number < to; number++) {
    const random = Random.ofCase(seed, number)
    const format = fileFormats[number % fileFormats.length] as FileFormat
    const isMutated = random.chance(0.97)
    const bytes = generateFile(random, format, isMutated)
    const feed = feedFor(format, random.chance(0.5))
    const began = process.cpuUsage()
    const found = await readDocuments(bytes, { format, feed }).catch((error: unknown) => ({
      kind: 'crashed' as const,
      reason: error instanceof Error ? (error.stack ?? error.message) : String(error),
    }))
    const { user, system } = process.cpuUsage(began)
    const counts = tally[format] ?? { cases: 0, refused: 0, codes: {} }
    tally[format] = counts
    counts.cases += 1
    const difference =
      user + system > longestMs * 1000
        ? `took ${(user + system) / 1000} ms`
        : await compare(found, bytes, isMutated)
    if (found.kind === 'read') counts.documents = (counts.documents ?? 0) + found.documents.size
    if (found.kind === 'refused') {
      counts.refused += 1
      counts.codes = { ...counts.codes, [found.code]: (counts.codes?.[found.code] ?? 0) + 1 }
    }
    if (difference === undefined) continue
    const text = bytes.toString('latin1', 0, 400)
    failures.push({ case: number, kind: format, difference, text, settings: feed.format })
  }
  return { tally, failures }
}

type Documents = Map<string, ReferenceDocument>

type Found =
  | { kind: 'read'; documents: Documents; damaged: ReadonlySet<unknown>; dialect: Dialect }
  | { kind: 'refused'; code: string }
  | { kind: 'crashed'; reason: string }

function feedFor(format: FileFormat, isConfigured: boolean): FeedConfig {
  const rule = (column: string, more: Partial<FieldRule> = {}): FieldRule => ({
    ...columnRule(...(format === 'csv' || format === 'tsv' ? [column] : [column, `g:${column}`])),
    ...more,
  })
  const fields = {
    product_id: rule('sku'),
    name: rule('title'),
    description: rule('description'),
    price: rule('price', { pattern: { regex: '^(\\d{1,7}(?:\\.\\d{1,2})?)$', result: undefined } }),
    inventory_level: rule('stock', { pattern: { regex: '^(\\d{1,6})$', result: undefined } }),
    availability: rule('availability', { when: { 'in stock': 'InStock', 'out of stock': 'OutOfStock' } }),
    url: rule('url'),
    categories: rule('categories', { split: '|' }),
  }
  const types: Partial<Record<FileFormat, FeedConfig['format']>> = {}
  const none = {
    type: undefined,
    delimiter: undefined,
    quote: undefined,
    encoding: undefined,
    recordBytes: 1_000_000,
  }
  types.tsv = { ...none, type: 'tsv', quote: '"' }
  types.ndjson = { ...none, type: 'ndjson', encoding: 'utf-8' }
  types.json = { ...none, type: 'json', path: 'products' }
  types.xml = { ...none, type: 'xml', path: 'rss/channel/item' }
  return feedOf(fields, { format: (isConfigured && types[format]) || none })
}

async function readDocuments(
  bytes: Buffer,
  { format, feed }: { format: FileFormat; feed: FeedConfig },
): Promise<Found> {
  const file = join(tmpdir(), `catalogd-fuzz-${process.pid}.${format}`)
  writeFileSync(file, bytes)
  try {
    const { signal } = new AbortController()
    const opened = await openFile({ feed, file, signal })
    if (opened.kind === 'refused') return { kind: 'refused', code: gistOf(opened.reason) }
    if (opened.kind !== 'products') return { kind: 'refused', code: opened.kind }
    const documents: Documents = new Map()
    const damaged = new Set<unknown>()
    const reading = { now: () => 0, problems: new ProblemCollector() }
    for await (const { items, rejected } of readFeedFile(opened, reading)) {
      for (const { source: object, issues } of rejected) {
        if (typeof object === 'object' && issues.some(({ code }) => code === 'invalid-encoding'))
          damaged.add(object.sku ?? object['g:sku'])
      }
      for (const { id, item } of items) {
        if (documents.has(id)) throw new Error(`${id} would be sent twice`)
        documents.set(id, { set: JSON.parse(JSON.stringify(item.set)), clear: item.clear })
      }
    }
    return { kind: 'read', documents, damaged, dialect: opened.judgement.dialect }
  } finally {
    unlinkSync(file)
  }
}

/** The beginning of a message without names, places and numbers. */
function gistOf(reason: string): string {
  const words = reason.replace(/^[^:]*: (line \d+, column \d+: )?/, '').replace(/\d+/g, '#')
  return words.split(' ').slice(0, 4).join(' ')
}

/** What is wrong with it; undefined when nothing is. */
async function compare(found: Found, bytes: Buffer, isMutated: boolean): Promise<string | undefined> {
  if (found.kind === 'crashed') return found.reason
  if (found.kind === 'refused') return isMutated ? undefined : `a sound file is refused: ${found.code}`
  const records = await readReference(bytes, found.dialect)
  if (records === undefined) return 'read, but the reference refuses it'
  const expected = mapReference(records)
  for (const id of new Set([...found.documents.keys(), ...expected.keys()])) {
    const [one, other] = [found.documents.get(id), expected.get(id)].map(sorted)
    // Damage in what no parser passes on, such as the first of two members with one key, is not seen by the reference.
    const isUnseen = one === undefined && found.damaged.has(id)
    if (!isDeepStrictEqual(one, other) && !isUnseen)
      return `${JSON.stringify(id)}: found ${JSON.stringify(one)}, expected ${JSON.stringify(other)} (${JSON.stringify(found.dialect)})`
  }
  return undefined
}

function sorted(document: ReferenceDocument | undefined): ReferenceDocument | undefined {
  return document && { set: document.set, clear: document.clear.toSorted() }
}
