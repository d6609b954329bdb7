import { writeFile } from 'node:fs/promises'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { productFields } from '../../src/api/contract/product.ts'
import { compileMapping } from '../../src/catalog/mapping.ts'
import { configJsonSchema } from '../../src/config/json-schema.ts'
import type { FeedConfig } from '../../src/config/model.ts'
import { readTables } from '../../src/imports/read-tables.ts'
import { readCheckedConfig } from '../../src/operations/read-config.ts'
import { readProducts } from '../operations/guess-support.ts'
import { type TempDir, tempDir } from '../support/temp-dir.ts'
import { blocks, codes, type Fence, fences, pageNames, readPage, section, tableRows } from './pages.ts'

// What the documentation says about feeds: each piece of configuration is read, and each example maps as it says.

/** The pages read its examples on 5 March 2026. */
const nowMs = Date.UTC(2026, 2, 5, 12)
const { signal } = new AbortController()
let folder: TempDir

beforeEach(async () => {
  folder = await tempDir('docs-feeds')
  await writeFile(folder.join('groups.csv'), blocks('csv', section('mapping.md', '## Tables'))[0] ?? '')
})
afterEach(() => folder[Symbol.asyncDispose]())

describe('the field rules', () => {
  const rows = tableRows(section('mapping.md', '## Field rules'))

  it('are all that there are', () => {
    const { definitions } = configJsonSchema(productFields) as {
      definitions: { fieldRule: { anyOf: { properties?: object }[] } }
    }
    const keys = definitions.fieldRule.anyOf.flatMap(({ properties }) => Object.keys(properties ?? {}))
    const documented = rows.flatMap(([cell = '']) => codes(cell)).filter((key) => key !== '{…}')
    expect(documented.toSorted()).toEqual(keys.toSorted())
  })

  it.each(rows)('%s %s', async (_key, _does, rule = '', cells = '', becomes = '') => {
    const [example = ''] = codes(rule)
    const field = example.slice(0, example.indexOf(':'))
    const id = field === 'product_id' ? '' : 'product_id: id\n  '
    const feed = await readFeed(`fields:\n  ${id}${example}\n`)
    const given = (codes(cells)[0] ?? '').split('; ').map((cell) => cell.split(/=(.*)/s))
    const mapping = compileMapping({ feed, mode: 'full', readTable: (await readTables(feed, signal))?.read })
    const record = { id: 'P1', ...Object.fromEntries(given) }
    const binding = mapping.bind(Object.keys(record))
    if (binding.kind !== 'bound') throw new Error(`columns are missing: ${JSON.stringify(binding)}`)
    const { patch, issues } = binding.bound.map({ record: 1, line: 2, cells: Object.values(record) }, nowMs)
    if (patch === undefined) throw new Error(JSON.stringify(issues))
    if (becomes === '*kept*') {
      expect(patch.set).toHaveProperty(field, undefined)
      expect(patch.clear).not.toContain(field)
    } else {
      const set: Record<string, unknown> = { ...patch.set, product_id: patch.productId }
      expect(set[field]).toEqual(JSON.parse(codes(becomes)[0] ?? ''))
    }
  })
})

describe('the feeds of the pages', () => {
  const all = pageNames.flatMap((page) => fences(readPage(page)))
  // Indented ones belong to a configuration, those that are lists into the files of the Stack.
  const pieces = all.filter(
    ({ language, text }) => language === 'yaml' && !text.includes('catalogs:') && !/^[ -]/.test(text),
  )

  it.each(pieces.map(({ text }) => text))('are correct: %s', async (text) => {
    expect(await readPiece(text)).toBeDefined()
  })

  it.each(examplesIn(all))('map as they say: $yaml', async ({ yaml, files, products }) => {
    const named = [...yaml.matchAll(/\.\/([\w-]+\.\w+)/g)].map(([, name = '']) => name)
    const [feedFile, ...others] = files.toSorted((one, other) => isProgram(one) - isProgram(other))
    if (feedFile === undefined) throw new Error('the example has no file')
    for (const [index, name] of named.entries()) await writeFile(folder.join(name), others[index]?.text ?? '')
    const file = folder.join(`export.${feedFile.language}`)
    await writeFile(file, feedFile.text)
    const feed = await readFeed(yaml)
    const found = await readProducts({ feed, file, nowMs, signal })
    expect(found.products.map(({ product }) => product)).toEqual(JSON.parse(products))
  })
})

interface Example {
  yaml: string
  files: Fence[]
  products: string
}

/** A piece of configuration, then files, then the products that come of them. */
function examplesIn(all: readonly Fence[]): Example[] {
  return all.flatMap(({ language, text }, at) => {
    if (language !== 'yaml' || text.includes('catalogs:')) return []
    const rest = all.slice(at + 1)
    const next = rest.findIndex((fence) => fence.language === 'yaml' || fence.language === 'console')
    const own = rest.slice(0, next < 0 ? undefined : next)
    const last = own.findLastIndex((fence) => fence.language === 'json' && fence.text.startsWith('['))
    return last < 1 ? [] : [{ yaml: text, files: own.slice(0, last), products: own[last]?.text ?? '' }]
  })
}

function isProgram({ language }: Fence): number {
  return language === 'ts' ? 1 : 0
}

async function readFeed(piece: string): Promise<FeedConfig> {
  const config = await readPiece(piece)
  const feed = [...config.catalogs.values()][0]?.feeds.values().next().value
  if (feed === undefined) throw new Error('the example has no feed')
  return feed
}

/** Sections of their own, feeds by name, or the keys of one feed. */
async function readPiece(piece: string) {
  const isSection = /^(console|alerts|intent|stack):/.test(piece)
  const hasPlace = /^(drop|pull):/m.test(piece)
  const feed = `      products:\n${indent(hasPlace ? piece : `drop: ./drop\n${piece}`, 8)}`
  const feeds = piece.startsWith('feeds:') ? indent(piece, 4) : `    feeds:\n${feed}`
  const other = '    feeds: { products: { drop: ./drop } }\n'
  const catalog = `catalogs:\n  main:\n    api: { url: "http://127.0.0.1", productsToken: t }\n`
  const file = folder.join('catalogd.yaml')
  await writeFile(file, isSection ? `${piece}\n${catalog}${other}` : `${catalog}${feeds}`)
  for (const [, name = ''] of piece.matchAll(/\.\/([\w-]+\.ts)/g))
    await writeFile(folder.join(name), '', { flag: 'a' })
  const env = new Proxy({}, { get: () => 'https://hooks.example/token', has: () => true })
  return (await readCheckedConfig({ file, env })).config
}

function indent(text: string, columns: number): string {
  return text.replace(/^(?=.)/gm, ' '.repeat(columns))
}
