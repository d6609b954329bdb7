import { describe, expect, it } from 'vitest'
import { AlertBook, type BookEntry, type Condition } from '../../src/alerts/alert-book.ts'
import type { CatalogName } from '../../src/lib/brand.ts'

const minute = 60_000
const start = Date.parse('2026-11-21T22:00:00Z')

function condition(changes: Partial<Condition> = {}): Condition {
  return {
    ...{ kind: 'held', subject: 'products', severity: 'warning', message: 'm', hint: 'h' },
    catalog: 'main' as CatalogName,
    ...changes,
  }
}

/** Looks at given minutes; answers `minute state`, with the id's time where it matters. */
function openBook(entries: readonly BookEntry[] = []) {
  const book = new AlertBook({ everyMs: 15 * minute, entries })
  const at = (minutes: number, conditions: readonly Condition[], unsure = false) =>
    book
      .update({ conditions, nowMs: start + minutes * minute, isUnsure: () => unsure })
      .map(({ state, id }) => ({ state, id }))
  const states = (...looked: Parameters<typeof at>) => at(...looked).map(({ state }) => state)
  return { book, at, states }
}

describe('AlertBook', () => {
  it('tells once that something began, and once that it is over', () => {
    const { at } = openBook()
    const [began] = at(0, [condition()])
    expect(began).toEqual({ state: 'firing', id: 'held:main:products:2026-11-21T22:00:00.000Z' })
    expect(at(1, [condition({ message: 'other words' })])).toEqual([])
    expect(at(600, [condition()])).toEqual([])
    expect(at(601, [])).toEqual([{ state: 'resolved', id: began?.id }])
    expect(at(602, [])).toEqual([])
  })

  it('tells apart by kind, catalog and subject', () => {
    const { states } = openBook()
    const other = { catalog: 'other' as CatalogName }
    expect(states(0, [condition(), condition({ kind: 'failed' }), condition(other)])).toHaveLength(3)
    expect(states(1, [condition({ subject: 'stock' }), condition(other)])).toEqual([
      'firing',
      'resolved',
      'resolved',
    ])
  })

  it('makes no storm of what comes and goes', () => {
    const { states, at } = openBook()
    const [first] = at(0, [condition()])
    expect(states(1, [])).toEqual(['resolved'])
    // Again within the quarter of an hour: told only when that has passed.
    for (const minutes of [2, 4, 6, 8]) {
      expect(states(minutes, [condition()])).toEqual([])
      expect(states(minutes + 1, [])).toEqual([])
    }
    expect(states(14, [condition()])).toEqual([])
    const [later] = at(15, [condition()])
    expect(later?.state).toBe('firing')
    expect(later?.id).not.toBe(first?.id)
  })

  it('tells a new occurrence at most every quarter of an hour', () => {
    const { states } = openBook()
    const occurrence = (number: number) => condition({ occurrence: String(number) })
    expect(states(0, [occurrence(1)])).toEqual(['firing'])
    expect(states(5, [occurrence(2)])).toEqual([])
    expect(states(15, [occurrence(3)])).toEqual(['firing'])
    expect(states(31, [occurrence(3)])).toEqual([])
  })

  it('reminds of what lasts once a day', () => {
    const { states } = openBook()
    states(0, [condition()])
    expect(states(24 * 60 - 1, [condition()])).toEqual([])
    expect(states(24 * 60, [condition()])).toEqual(['firing'])
    expect(states(24 * 60 + 1, [condition()])).toEqual([])
  })

  it('waits where a matter must last, and tells nothing of one that did not', () => {
    const { states } = openBook()
    const lasting = condition({ forMs: minute })
    expect(states(0, [lasting])).toEqual([])
    expect(states(0.5, [])).toEqual([])
    expect(states(1, [lasting])).toEqual([])
    expect(states(2, [lasting])).toEqual(['firing'])
  })

  it('says nothing is over that it cannot see', () => {
    const { states } = openBook()
    states(0, [condition()])
    expect(states(1, [], true)).toEqual([])
    expect(states(2, [])).toEqual(['resolved'])
  })

  it('goes on where an earlier process ended', () => {
    const first = openBook()
    first.states(0, [condition(), condition({ subject: 'over' })])
    const kept = JSON.parse(JSON.stringify(first.book.entries())) as BookEntry[]
    const { states } = openBook(kept)
    expect(states(1, [condition()])).toEqual(['resolved'])
    expect(states(2, [condition()])).toEqual([])
    expect(states(3, [])).toEqual(['resolved'])
  })

  it('forgets what is over, and is not silenced by a clock that was set back', () => {
    const { book, states } = openBook()
    states(0, [condition()])
    states(1, [])
    expect(book.entries()).toHaveLength(1)
    states(16, [])
    expect(book.entries()).toEqual([])
    states(20, [condition()])
    states(21, [])
    expect(states(-60, [condition()])).toEqual(['firing'])
  })
})
