import { describe, expect, it } from 'vitest'
import { type Aliases, withAliases } from '../../src/catalog/aliases.ts'
import { type BoundMapping, compileMapping } from '../../src/catalog/mapping.ts'
import type { FeedConfig } from '../../src/config/model.ts'
import { listPresets } from '../../src/config/preset-file.ts'
import { loadFeed } from './read-preset.ts'

type Row = Readonly<Record<string, string>>

/** Gives rows by the preset's own names: what the first pass reads of each, and what mapping calls it. */
type Read = (rows: readonly Row[]) => unknown[]

/** As the file has the columns: `headerOf` says what a column is called there. */
function readAs(feed: FeedConfig, headers: readonly string[], headerOf: (name: string) => string): Read {
  const binding = compileMapping({ feed, mode: 'full' }).bindLeniently(headers)
  if (binding.kind !== 'bound') throw new Error(JSON.stringify(binding))
  const { bound } = binding
  return (rows) =>
    rows.map((row) => {
      const named = new Map(Object.entries(row).map(([name, cell]) => [headerOf(name), cell]))
      return readCells(
        bound,
        headers.map((header) => named.get(header)),
      )
    })
}

function readCells({ idReader, map }: BoundMapping, cells: readonly unknown[]) {
  const seen = idReader.indices.map((index) => cells[index])
  const { patch, issues } = map({ record: 1, line: 2, cells }, 0)
  const id = patch?.productId ?? issues.find(({ productId }) => productId !== undefined)?.productId
  const read = idReader.read(seen)
  expect(read).toBe(id)
  return { id: read, links: idReader.links?.read(seen) }
}

/** Each of the columns blank or not, in all combinations. */
function rowsOf(columns: readonly string[]): Row[] {
  return Array.from({ length: 2 ** columns.length }, (_, bits) =>
    Object.fromEntries(columns.map((column, bit) => [column, bits & (1 << bit) ? '' : `v${bit}`])),
  )
}

async function open(preset: string) {
  const feed = await loadFeed(`preset: ${preset}\nshopUrl: https://shop.example\ncurrency: EUR`)
  const aliases: Aliases = feed.aliases ?? {}
  const needed = compileMapping({ feed, mode: 'full' }).neededColumns
  const others = new Set(Object.values(aliases).flat())
  const names = needed.filter((column) => !others.has(column) || Object.hasOwn(aliases, column))
  const rows = rowsOf(
    ['g:item_group_id', 'g:id', 'SKU', 'ID', 'Parent'].filter((name) => names.includes(name)),
  )
  const plain = rowsOf(names.slice(0, 3))
  return { feed, aliases, needed, names, rows: [...rows, ...plain] }
}

describe.each(listPresets())('preset %s', (preset) => {
  it('reads the same ids and ties however a table spells its header', async () => {
    const { feed, aliases, names, rows } = await open(preset)
    const own = readAs(feed, names, (name) => name)(rows)
    expect(own.length).toBeGreaterThan(7)
    for (const at of [0, 1, 2]) {
      const headerOf = (name: string) => aliases[name]?.[at] ?? aliases[name]?.[0] ?? name
      expect(readAs(feed, names.map(headerOf), headerOf)(rows)).toEqual(own)
      const lower = (name: string) => (aliases[name] ? headerOf(name).toUpperCase() : name)
      expect(readAs(feed, names.map(lower), lower)(rows)).toEqual(own)
    }
  })

  it('reads the same ids and ties in objects, which have the other names only', async () => {
    const { feed, aliases, needed, names, rows } = await open(preset)
    const columns = withAliases(needed, aliases)
    const own = readAs(feed, columns, (name) => name)(rows)
    expect(readAs(feed, columns, (name) => aliases[name]?.[0] ?? name)(rows)).toEqual(own)
    expect(names.length).toBeGreaterThan(2)
  })
})
