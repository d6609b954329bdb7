import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { parse } from 'csv-parse/sync'
import { SaxesParser } from 'saxes'
import { describe, expect, it } from 'vitest'
import { checkFile } from '../../src/operations/check-file.ts'
import { guessFeed } from '../../src/operations/guess/guess-feed.ts'
import { loadFeed } from '../presets/read-preset.ts'
import { type SharedOutcome, sharedOutcomes } from './shared-feeds-table.ts'

const root = fileURLToPath(new URL('../../../shared/feeds/', import.meta.url))
const isThere = existsSync(root)
const signal = AbortSignal.timeout(280_000)
type ProductFile = Extract<SharedOutcome, { kind: 'products' }>

const of = <Kind extends SharedOutcome['kind']>(kind: Kind) =>
  sharedOutcomes
    .filter((outcome): outcome is Extract<SharedOutcome, { kind: Kind }> => outcome.kind === kind)
    .map((outcome) => [outcome.file, outcome] as const)

describe.skipIf(!isThere)('every shared feed has an outcome', () => {
  it('in the table', () => {
    const files = readdirSync(root, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && /\.(csv|json|txt|xml)$/.test(entry.name))
      .map(({ parentPath, name }) => `${parentPath}/${name}`.slice(root.length).replace(/^\//, ''))
    expect(sharedOutcomes.map(({ file }) => file).sort()).toEqual(files.sort())
  })

  it.each(of('products'))('products: %s', async (_, outcome) => {
    const { file, records, accepted, rejected, incomplete, lines } = outcome
    expect(lines.split('\n').length - (lines.startsWith('preset') ? 0 : 1)).toBeLessThanOrEqual(9)
    const feed = await loadFeed(lines)
    const check = await checkFile({ feed, file: root + file, nowMs: Date.parse('2026-06-01'), signal })
    expect(check.refused ?? check.missingColumns).toBeUndefined()
    expect(check).toMatchObject({
      records,
      applied: accepted,
      rejected: records - accepted,
      incomplete: { products: incomplete },
    })
    const codes = check.problems.filter(({ severity }) => severity === 'reject')
    const most = (code: string) =>
      Math.max(...codes.filter((one) => one.code === code).map(({ count }) => count))
    for (const [code, count] of Object.entries(rejected)) expect(most(code), code).toBe(count)

    const second = secondOpinion(outcome)
    expect({ records: second.length, accepted: second.filter(({ isGood }) => isGood).length }).toEqual({
      records,
      accepted,
    })
  })

  it.each(of('refused'))('refused whole: %s', async (_, { file, reason }) => {
    const feed = await loadFeed('preset: google-merchant')
    const check = await checkFile({ feed, file: root + file, nowMs: 0, signal })
    expect(check).toMatchObject({ ok: false, applied: 0, refused: { reason: expect.stringMatching(reason) } })
    expect(() => readItems(file, 'item')).toThrow()
    const [line = ''] = readFileSync(root + file, 'utf8')
      .split('\n')
      .slice(364)
    expect(/&(?!amp;|lt;|gt;|quot;|apos;|#)/.exec(line)?.index).toBe(90)
  })

  it.each(of('no-products'))('no products: %s', async (_, { file }) => {
    const guess = guessFeed({ file: root + file, given, signal })
    await expect(guess).rejects.toThrow(/no column looks like|no records|no array of objects|found no/i)
  })

  it.each(of('no-header'))('numbered columns to start from: %s', async (_, { file }) => {
    const { lines, open } = await guessFeed({ file: root + file, given, signal })
    expect(open).toContainEqual(expect.stringContaining('its first line looks like data'))
    expect(open).toContain('fields.price: which column is it?')
    expect(lines).toContainEqual(expect.objectContaining({ key: 'format', open: true }))
  })
})

const given = { shopUrl: undefined, currency: undefined, id: undefined }

interface Opinion {
  isGood: boolean
}

/** By parsers that the program does not use for this, and rules written for these files alone. */
function secondOpinion({ file, format }: ProductFile): readonly Opinion[] {
  if (format === 'xml') return productsOfItems(file)
  const delimiter = file.startsWith('prestashop') ? ';' : ','
  const rows: Record<string, string>[] = parse(readFileSync(root + file, 'utf8'), {
    columns: true,
    bom: true,
    delimiter,
    relax_column_count: true,
    relax_quotes: true,
  })
  if (file.startsWith('shopify'))
    return groupBy(rows, (row) => row.Handle).map((group) => ({
      isGood: group.some((row) => row['Variant Price'] !== '' && row['Image Src'] !== ''),
    }))
  if (file.startsWith('woo')) {
    const heads = rows.filter(({ Type }) => Type !== 'variation')
    return heads.map(({ Images }) => ({ isGood: Images !== '' }))
  }
  if (file.startsWith('prestashop'))
    return rows.map((row) => ({ isGood: row.id !== '' && row['Name*'] !== '' }))
  const ids = new Set<string>()
  return rows.map((row) => {
    const id = /\/dp\/([A-Z0-9]{10})/.exec(row.link ?? '')?.[1] ?? ''
    ids.add(id)
    return { isGood: id !== '' && `${row.discount_price}${row.actual_price}` !== '' }
  })
}

function productsOfItems(file: string): readonly Opinion[] {
  const isPlain = /Velofant_feed|test1/.test(file)
  const items = readItems(file, isPlain ? 'product' : 'item')
  const prefix = isPlain ? '' : 'g:'
  const image = isPlain ? 'image_url' : 'g:image_link'
  const groups = groupBy(items, (item) => item['g:item_group_id'] ?? item[`${prefix}id`])
  return groups.map((group) => ({
    isGood: group.some((item) => {
      const text = (name: string) => item[`${prefix}${name}`] ?? item[name] ?? ''
      const isAddress = [text('link'), item[image] ?? ''].every((address) =>
        /^https?:\/\/[^\s/]+\/\S*$/.test(address),
      )
      return isAddress && text('title') !== '' && text('price') !== '' && text('availability') !== ''
    }),
  }))
}

/** Texts of the children of each element of this name, the last of one name counting. */
function readItems(file: string, element: string): Record<string, string>[] {
  const parser = new SaxesParser({ xmlns: false })
  const items: Record<string, string>[] = []
  const path: string[] = []
  let text = ''
  parser.on('error', (error) => {
    throw new Error(error.message)
  })
  parser.on('opentag', ({ name }) => {
    path.push(name)
    text = ''
    if (name === element) items.push({})
  })
  parser.on('text', (part) => {
    text += part
  })
  parser.on('cdata', (part) => {
    text += part
  })
  parser.on('closetag', ({ name }) => {
    path.pop()
    const item = items.at(-1)
    if (item && path.at(-1) === element && text.trim() !== '') item[name] = text.trim()
    text = ''
  })
  parser.write(readFileSync(root + file, 'utf8')).close()
  return items
}

function groupBy<Row>(rows: readonly Row[], keyOf: (row: Row) => string | undefined): Row[][] {
  const groups = new Map<string, Row[]>()
  for (const row of rows) {
    const key = keyOf(row) ?? ''
    groups.set(key, [...(groups.get(key) ?? []), row])
  }
  return [...groups.values()]
}
