import { expect, it } from 'vitest'
import { openAliases } from '../../src/catalog/aliases.ts'
import { compileGroup } from '../../src/catalog/group-links.ts'
import type { GroupConfig } from '../../src/config/model.ts'
import type { IdReader } from '../../src/records/judge-model.ts'

/** Reads one row; the id is that of column `sku`. */
function linksOf(group: GroupConfig, row: Record<string, unknown>) {
  const columns = Object.keys(row)
  const idReader: IdReader = {
    indices: [columns.indexOf('sku')],
    read: ([id]) => (typeof id === 'string' && id !== '' ? id : undefined),
  }
  const reader = compileGroup(group, [])?.bind(idReader, openAliases(columns, undefined))
  const cells = reader?.indices.map((index) => row[columns[index] as string]) ?? []
  return { id: reader?.read(cells), ...reader?.links?.read(cells) }
}

it('a row is called by its names, or else by its id', () => {
  const row = { ID: 7, sku: 'a', Parent: ' id:3 ' }
  const named = linksOf({ by: 'parent', parent: 'Parent', names: ['sku', 'id:{ID}', 'gone', '{gone}!'] }, row)
  expect(named).toEqual({ id: 'a', names: ['a', 'id:7'], parent: 'id:3', members: [] })
  const plain = { by: 'parent', parent: 'p-{Parent}', names: [] } as const
  expect(linksOf(plain, { Parent: '3', sku: 'a' })).toMatchObject({ names: ['a'], parent: 'p-3' })
  expect(linksOf(plain, { Parent: '', sku: '' })).toMatchObject({ names: [], parent: undefined })
  expect(linksOf({ by: 'id' }, { sku: 'a' })).toEqual({ id: 'a', names: [], parent: undefined, members: [] })
})

it('a row whose cells are as said belongs to the row above', () => {
  const where = { sku: { values: [''], not: false }, kind: { values: ['image'], not: true } }
  const read = (row: Record<string, unknown>) => linksOf({ by: 'above', where }, row).continues
  expect(read({ sku: ' ', kind: 'variant' })).toBe(true)
  expect(read({ sku: '', kind: 'image' })).toBe(false)
  expect(read({ sku: 'a', kind: 'variant' })).toBe(false)
})

it('members are what the pattern finds between the split marks', () => {
  const group = { by: 'members', column: 'v', split: '|', pattern: 'sku=([^,]+)', names: [] } as const
  const read = (v: unknown) => linksOf(group, { sku: 'p', v }).members
  expect(read('sku=p-red,color=Red|color=Blue,sku= p-blue |color=none')).toEqual(['p-red', 'p-blue'])
  expect(read(['sku=a', 'sku=b'])).toEqual(['a', 'b'])
  expect([read(''), read(undefined), read({ a: 1 })]).toEqual([[], [], []])
})

it('the columns that tie rows together must be there, those of names need not', () => {
  const missing = (group: GroupConfig) => compileGroup(group, [])?.missing(() => undefined)
  expect(missing({ by: 'parent', parent: '{a}/{b}', names: ['c'] })).toEqual(['a', 'b'])
  expect(missing({ by: 'members', column: 'd', split: '|', names: [] })).toEqual(['d'])
  expect(missing({ by: 'above', where: { e: { values: [''], not: false } } })).toEqual(['e'])
  expect(missing({ by: 'id' })).toEqual([])
})
