import { readdir } from 'node:fs/promises'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { HeldRows } from '../../src/records/held-rows.ts'
import { Repeated } from '../../src/records/repeated.ts'
import { FeedFolder } from './feed-file.ts'
import { type GroupedFile, readGroups } from './group-file.ts'

let folder: FeedFolder

beforeEach(async () => {
  folder = await FeedFolder.open()
})

afterEach(() => folder[Symbol.asyncDispose]())

/** Each product as the records of its rows, the head first. */
function rowsOf({ records }: GroupedFile): number[][] {
  return records.map(({ rows }) => (rows ?? []).map(({ record }) => record))
}

function issuesOf({ records }: GroupedFile): unknown[] {
  return records.flatMap(({ issues = [] }) => issues.map(({ record, code }) => [record, code]))
}

describe('rows below the row of their product', () => {
  const by = 'above'

  it('belong to it, wherever rows with its id stand', async () => {
    const text = 'id,ref,name\na,,A\n,,a2\nb,,B\nx,variant,b2\n,,b3\na,,AA\n,,a4\n'
    const file = await readGroups(folder, text, { by })
    expect(rowsOf(file)).toEqual([
      [3, 4, 5],
      [1, 2, 6, 7],
    ])
    expect(file.records.map(({ cells }) => cells[0])).toEqual(['b', 'a'])
    expect([file.counted, file.table.withoutId, file.table.has('x')]).toEqual([2, 0, false])
  })

  it('are a record without an id where there is none above', async () => {
    const file = await readGroups(folder, 'id,ref,name\n,,X\n,,Y\na,,A\n', { by })
    expect(rowsOf(file)).toEqual([[1, 2], [3]])
    expect(file.table.withoutId).toBe(1)
  })

  it('belong to no other product when the row above them cannot be read', async () => {
    const file = await readGroups(folder, 'id,ref,name\na,,A\nb,,B,1\n,,b2\nc,,C\n', { by })
    expect(rowsOf(file)).toEqual([[1], [4]])
    expect(file.rejected.map(({ record }) => record)).toEqual([2, 3])
  })
})

describe('rows of one id', () => {
  it('are one product, adjacent or not, with the first cells that are not empty', async () => {
    const text = 'id,name,list\na,,1\nb,B,\na,A,2\n a ,AA,3\nc,C,\nb,,9\n'
    const file = await readGroups(folder, text)
    expect(rowsOf(file)).toEqual([[1, 3, 4], [5], [2, 6]])
    expect(file.records.map(({ cells }) => cells)).toEqual([
      ['a', 'A', '1'],
      ['c', 'C', ''],
      ['b', 'B', '9'],
    ])
    expect(file.records.map(({ record, line }) => [record, line])).toEqual([
      [1, 2],
      [5, 6],
      [2, 3],
    ])
    expect([file.counted, file.table.size, file.table.has('a'), file.table.has('d')]).toEqual([
      3,
      3,
      true,
      false,
    ])
    expect(file.table.isLast()).toBe(true)
  })

  it('without an id are records of their own', async () => {
    const file = await readGroups(folder, 'id,name\n,X\na,A\n,Y\n')
    expect(rowsOf(file)).toEqual([[1], [2], [3]])
    expect([file.counted, file.table.withoutId]).toEqual([3, 2])
  })

  it('are rejected together when one of them is', async () => {
    const file = await readGroups(folder, 'id,name\na,1\nb,1\na,2,3\nb,2\na,4\nc,1\n')
    expect(rowsOf(file)).toEqual([[2, 4], [6]])
    expect(file.rejected.map(({ record, isRest, issues }) => [record, isRest, issues[0]?.code])).toEqual([
      [1, true, 'row-of-rejected'],
      [3, undefined, 'cell-count'],
      [5, true, 'row-of-rejected'],
    ])
    expect(file.rejected[0]?.issues[0]?.message).toMatch(
      /^record 3, another row of the same product, is rejected/,
    )
  })

  it('that are too large together are rejected without being held', async () => {
    const rows = Array.from({ length: 50 }, (_, index) => `a,${index}${'x'.repeat(200)}`)
    const file = await readGroups(folder, ['id,name', ...rows, 'b,B', ''].join('\n'), { recordBytes: 5000 })
    expect(rowsOf(file)).toEqual([[51]])
    expect(file.rejected).toHaveLength(50)
    expect(file.rejected.filter(({ isRest }) => !isRest).map(({ issues }) => issues[0]?.code)).toEqual([
      'group-size',
    ])
  })
})

describe('rows with parents', () => {
  const by = 'parent'

  it('belong to the row that they name, which may come later', async () => {
    const text = 'id,ref,parent,name\nv1,11,p1,V\np1,1,,\nv2,12,id:1,W\np2,2,,P\nv3,13, p1 ,X\n'
    const file = await readGroups(folder, text, { by })
    expect(rowsOf(file)).toEqual([[4], [2, 1, 3, 5]])
    expect(file.records[1]?.cells.slice(0, 4)).toEqual(['p1', '1', 'p1', 'V'])
    expect([file.counted, file.table.has('p1'), file.table.has('v1')]).toEqual([2, true, false])
    expect(issuesOf(file)).toEqual([])
  })

  it('belong to the parent of their parent', async () => {
    const file = await readGroups(folder, 'id,parent\nc,b\nb,a\na,\nd,c\n', { by })
    expect(rowsOf(file)).toEqual([[3, 1, 2, 4]])
  })

  it('that name none of the file are products of their own, and it says so', async () => {
    const file = await readGroups(folder, 'id,parent\nv,gone\np,\nw,gone\n', { by })
    expect(rowsOf(file)).toEqual([[1], [2], [3]])
    expect(issuesOf(file)).toEqual([
      [1, 'no-parent'],
      [3, 'no-parent'],
    ])
    expect(file.records[0]?.issues?.[0]).toMatchObject({ field: 'parent', severity: 'warn' })
    expect(file.records[0]?.issues?.[0]?.message).toMatch(/^found "gone", expected the name of a row/)
    expect(file.table.has('v')).toBe(true)
  })

  it('that go round in a ring are products of their own', async () => {
    const file = await readGroups(folder, 'id,parent\na,b\nb,c\nc,b\nd,d\n', { by })
    expect(rowsOf(file)).toEqual([[1, 2].toReversed(), [3], [4]])
    expect(issuesOf(file)).toEqual([
      [2, 'parent-cycle'],
      [3, 'parent-cycle'],
    ])
  })

  it('belong to the first of several with the name, and it says so unless these are one product', async () => {
    const text = 'id,ref,parent\np,7,\nq,7,\nv,,id:7\np,8,\nw,,p\n'
    const file = await readGroups(folder, text, { by })
    expect(rowsOf(file)).toEqual([[2], [1, 3, 4, 5]])
    expect(issuesOf(file)).toEqual([[3, 'parent-ambiguous']])
  })

  it('belong to a row without a parent even when another one has its name', async () => {
    const file = await readGroups(folder, 'id,ref,parent\nv,1,id:1\nw,,id:1\np,1,\n', { by })
    expect(rowsOf(file)).toEqual([[3, 1, 2]])
  })

  it('give their parent cells, but no id', async () => {
    const file = await readGroups(folder, 'id,ref,parent,name\n,1,,\nv,2,id:1,V\n', { by })
    expect(file.records.map(({ cells }) => cells)).toEqual([['', '1', 'id:1', 'V']])
    expect(file.table.withoutId).toBe(1)
  })

  it('need no id of their own', async () => {
    const file = await readGroups(folder, 'id,ref,parent\np,1,\n,2,p\n,3,p\n', { by })
    expect(rowsOf(file)).toEqual([[1, 2, 3]])
    expect([file.counted, file.table.withoutId]).toEqual([1, 0])
  })
})

describe('rows that list their members', () => {
  const by = 'members'

  it('are one product with them, before or after', async () => {
    const text = 'id,members,name\na,,A\np,a|b,P\nb,,B\nc,,C\np,,de\nb,,de\n'
    const file = await readGroups(folder, text, { by })
    expect(rowsOf(file)).toEqual([[4], [2, 1, 3, 5, 6]])
    expect([file.counted, file.table.has('a')]).toEqual([2, false])
  })

  it('say which members are not there, and who has one already', async () => {
    const file = await readGroups(folder, 'id,members\np,a|gone\nq,a\na,\n', { by })
    expect(rowsOf(file)).toEqual([[2], [1, 3]])
    expect(issuesOf(file)).toEqual([
      [1, 'no-member'],
      [3, 'parent-ambiguous'],
    ])
  })
})

describe('rows that wait', () => {
  it('go to a file when they take too much memory, and come back as they were', async () => {
    const rows = Array.from({ length: 3000 }, (_, index) => {
      const list = index % 3 === 0 ? null : [index, { deep: 'é€😀' }]
      return JSON.stringify({ id: `p${index % 500}`, name: `row ${index}`, list })
    })
    const text = `${rows.join('\n')}\n`
    const [held, spilled] = [
      await readGroups(folder, text),
      await readGroups(folder, text, { heldBytesMax: 20_000 }),
    ]
    expect(spilled.records).toEqual(held.records)
    expect(spilled.records).toHaveLength(500)
    expect(spilled.records[7]?.rows?.[3]?.source).toEqual(JSON.parse(rows[1507] as string))
    expect(await readdir(folder.path('spill'))).toEqual([])
  })

  it('keep repeated elements apart from lists', async () => {
    await using held = new HeldRows({ dir: folder.path('spill'), bytesMax: 0 })
    const cells = [Repeated.from(['a', ['b']]), ['a', ['b']], null, undefined]
    const source = Object.fromEntries(
      cells.map((cell, index) => [index === 3 ? '__proto__' : `c${index}`, cell]),
    )
    await held.add(1, { record: 1, line: 1, cells, source })
    expect(held.spilledBytes).toBeGreaterThan(0)
    const [row] = await held.take(1)
    expect(row).toEqual({ record: 1, line: 1, cells, source })
    expect(row?.cells.map((cell) => cell instanceof Repeated)).toEqual([true, false, false, false])
    expect(await held.take(1)).toEqual([])
  })

  it('are 40,000 products at once in bounded memory', async () => {
    const count = 40_000
    const lines = [0, 1].flatMap((round) => Array.from({ length: count }, (_, index) => `p${index},${round}`))
    const file = await readGroups(folder, `id,name\n${lines.join('\n')}\n`, { heldBytesMax: 4_000_000 })
    expect(file.records).toHaveLength(count)
    const wrong = file.records.filter(
      ({ rows, cells }, index) =>
        cells[0] !== `p${index}` || rows?.map((row) => row.cells[1]).join('') !== '01',
    )
    expect(wrong).toEqual([])
  })
})
