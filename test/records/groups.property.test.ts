import fc from 'fast-check'
import { expect, it } from 'vitest'
import { FeedFolder } from './feed-file.ts'
import { type GroupedFile, readGroups } from './group-file.ts'

interface Row {
  id: string
  parent: string
  name: string
}

const ids = ['a', 'b', 'c', 'd', 'e', 'f', 'g']
const texts = fc.constantFrom('', 'x', 'y', 'text'.repeat(20))
const manyRows = { minLength: 1, maxLength: 60 }

/** By id, in file order within each. */
function inMap(rows: readonly Row[], keyOf: (row: Row, index: number) => string): Map<string, number[]> {
  const groups = new Map<string, number[]>()
  rows.forEach((row, index) => {
    const key = keyOf(row, index)
    groups.set(key, [...(groups.get(key) ?? []), index + 1])
  })
  return groups
}

function csv(rows: readonly Row[]): string {
  return `id,parent,name\n${rows.map(({ id, parent, name }) => `${id},${parent},${name}\n`).join('')}`
}

/** In file order, whichever the head is. */
function groupsOf({ records }: GroupedFile): number[][] {
  return records.map(({ rows }) => (rows ?? []).map(({ record }) => record).toSorted((a, b) => a - b))
}

function byLast(groups: Iterable<number[]>): number[][] {
  return [...groups].toSorted((one, other) => Number(one.at(-1)) - Number(other.at(-1)))
}

it('however the rows of products alternate, the products are those of a map', async () => {
  await using folder = await FeedFolder.open()
  const row = fc.record({ id: fc.constantFrom(...ids), parent: fc.constant(''), name: texts })
  const check = async (rows: Row[], heldBytesMax: number) => {
    const file = await readGroups(folder, csv(rows), { heldBytesMax })
    const groups = byLast(inMap(rows, ({ id }) => id).values())
    expect(groupsOf(file)).toEqual(groups)
    expect(file.records.map(({ cells }) => cells)).toEqual(
      groups.map((group) => {
        const own = group.map((record) => rows[record - 1] as Row)
        return [own[0]?.id, '', own.find(({ name }) => name !== '')?.name ?? '']
      }),
    )
    expect(file.counted).toBe(groups.length)
  }
  await fc.assert(fc.asyncProperty(fc.array(row, manyRows), fc.constantFrom(0, 1000, 1_000_000), check), {
    numRuns: 80,
  })
})

it('whoever belongs to whom, the products are those that following the names gives', async () => {
  await using folder = await FeedFolder.open()
  // Each id once, so that the plain way below needs no rule for names that several rows have.
  const tree = fc.tuple(
    fc.shuffledSubarray(ids, { minLength: 1 }),
    fc.array(fc.constantFrom('', ...ids, 'gone')),
  )
  const check = async ([order, parents]: [string[], string[]]) => {
    const rows = order.map((id, index) => ({ id, parent: parents[index] ?? '', name: id }))
    const byId = new Map(rows.map((each) => [each.id, each]))
    const isInRing = (start: Row) => {
      let at: Row | undefined = start
      for (let step = 0; step < ids.length; step++) {
        at = at.parent === at.id ? undefined : byId.get(at.parent)
        if (at === undefined || at === start) return at === start
      }
      return false
    }
    const headOf = (start: Row): string => {
      const parent = byId.get(start.parent)
      return parent === undefined || parent === start || isInRing(start) ? start.id : headOf(parent)
    }
    const file = await readGroups(folder, csv(rows), { by: 'parent', heldBytesMax: 0 })
    expect(groupsOf(file)).toEqual(byLast(inMap(rows, headOf).values()))
    expect(file.records.map(({ cells }) => cells[0]).toSorted()).toEqual(
      [...new Set(rows.map(headOf))].toSorted(),
    )
  }
  await fc.assert(fc.asyncProperty(tree, check), { numRuns: 150 })
})
