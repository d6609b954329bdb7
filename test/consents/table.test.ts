import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type CallEnd, type ConsentRow, positionOf } from '../../src/consents/row.ts'
import { ConsentStore } from '../../src/consents/store.ts'
import type { AcceptSequence, ConsentId } from '../../src/lib/brand.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { Database } from '../../src/lib/database.ts'
import { type TempDir, tempDir } from '../support/temp-dir.ts'

const id = 'anna' as ConsentId
const horizonMs = 1_000
const letter = { reason: 'no', status: 400, requestId: null, at: '2026-01-01T00:00:00.000Z' }

let folder: TempDir
let database: Database
let table: ConsentStore
beforeAll(async () => {
  folder = await tempDir('consents')
  database = Database.open({ file: folder.join('consents.db'), access: 'write' })
  table = new ConsentStore(database, systemClock, () => undefined)
  // Never committed, and so never synced.
  database.exec('BEGIN')
})
afterAll(async () => {
  table[Symbol.dispose]()
  await folder[Symbol.asyncDispose]()
})

/** Empty; it ends the one before. */
function openTable() {
  database.exec('DELETE FROM consents')
  const say = (consent: boolean, sequence: number, { nowMs = 0, waitsBefore = 0 } = {}) => {
    const statement = { email: 'anna@shop.example', consent }
    const position = positionOf(sequence as AcceptSequence, 1)
    return table.applyStep({ id, statement, position }, { nowMs, waitsBefore })
  }
  const row = () => {
    const { consent, known, lane, letter: text } = table.find(id) ?? {}
    return { consent, known, lane, letter: text == null ? text : 'letter' }
  }
  const begin = (nowMs = 0) => {
    const [due] = [...table.due(0, 1), ...table.due(1, 1)]
    return due && table.begin(due, { nowMs, horizonMs }) ? due : undefined
  }
  /** A transaction of its own. */
  const settle = (how: 'retry' | 'drop') => {
    database.exec('COMMIT')
    table.settle(how, [id], 9)
    database.exec('BEGIN')
  }
  const send = (end: CallEnd, nowMs = 0) => table.end(begin(nowMs) as ConsentRow, end, nowMs)
  return { say, row, begin, send, settle }
}

describe('a record of consent', () => {
  test('that is the first is due: a grant in its lane, a revocation before all', () => {
    const granted = openTable()
    expect(granted.say(true, 5)).toBe('added')
    expect(granted.row()).toMatchObject({ consent: 1, known: null, lane: 1 })
    const revoked = openTable()
    revoked.say(false, 5)
    expect(revoked.row()).toMatchObject({ consent: 0, lane: 0 })
  })

  test('that says what the endpoint holds moves the position on and is not due', () => {
    const { say, row, send } = openTable()
    say(true, 5)
    send({ kind: 'taken' })
    expect(row()).toMatchObject({ known: 1, lane: null })
    expect(say(true, 6)).toBeUndefined()
    expect(table.find(id)?.position).toBe(positionOf(6 as AcceptSequence, 1))
    expect(row()).toMatchObject({ lane: null })
    expect(say(false, 5)).toBeUndefined()
    expect(table.find(id)?.position).toBe(positionOf(6 as AcceptSequence, 1))
    expect(say(false, 7)).toBe('changed')
    expect(row()).toMatchObject({ consent: 0, known: 1, lane: 0 })
  })

  test('that takes back what a call may have done is sent, whatever the table said before', () => {
    for (const kind of ['failed', 'unknown'] as const) {
      const { say, row, send } = openTable()
      say(false, 1)
      send({ kind: 'taken' })
      say(true, 2)
      send({ kind })
      say(false, 3)
      expect(row()).toMatchObject({ consent: 0, known: null, lane: 0 })
    }
  })

  test('that takes back what no call has done is not', () => {
    const { say, row, send } = openTable()
    say(false, 1)
    send({ kind: 'taken' })
    say(true, 2)
    send({ kind: 'not-taken' })
    say(false, 3)
    expect(row()).toMatchObject({ consent: 0, known: 0, lane: null })
  })

  test('that says what was refused stays a letter; one that says otherwise, or a dropped one, is sent', () => {
    const { say, row, send, settle } = openTable()
    say(true, 1)
    send({ kind: 'refused', letter, isNamed: false })
    say(true, 2)
    expect(row()).toMatchObject({ lane: null, letter: 'letter' })
    settle('drop')
    expect(row()).toMatchObject({ lane: null, letter: null })
    say(true, 3)
    expect(row()).toMatchObject({ lane: 1 })
    send({ kind: 'refused', letter, isNamed: false })
    say(false, 4)
    expect(row()).toMatchObject({ lane: 0, letter: null })
  })

  test('that grants and was accepted before the table was restored waits; a revocation does not', () => {
    const { say, row, settle } = openTable()
    say(true, 5, { waitsBefore: 6 })
    expect(row()).toMatchObject({ lane: null, letter: 'letter' })
    settle('retry')
    expect(row()).toMatchObject({ lane: 1, letter: null })
    const other = openTable()
    other.say(false, 5, { waitsBefore: 6 })
    expect(other.row()).toMatchObject({ lane: 0 })
  })
})

test('a grant that is not confirmed goes before all others, and waits for the operator after the horizon', () => {
  const { say, row, send, begin } = openTable()
  say(true, 1)
  send({ kind: 'unknown' }, 100)
  expect(row()).toMatchObject({ lane: 0 })
  // The horizon counts from the first call.
  send({ kind: 'unknown' }, 900)
  expect(begin(100 + horizonMs)).toBeUndefined()
  expect(row()).toMatchObject({ lane: null, letter: 'letter' })
  say(true, 2)
  expect(row()).toMatchObject({ lane: 1, letter: null })
  expect(begin(9_999)).toMatchObject({ consent: 1, attempted: null })
})

test('refusals in a row are taken back, but not those before an acceptance or with a name', () => {
  const { say, row, send } = openTable()
  say(true, 1)
  send({ kind: 'refused', letter, isNamed: true })
  expect(table.refusedInARow).toBe(0)
  say(false, 2)
  send({ kind: 'refused', letter, isNamed: false })
  expect(table.refusedInARow).toBe(1)
  table.takeBack(0)
  expect(row()).toMatchObject({ lane: 0, letter: null })
  send({ kind: 'refused', letter, isNamed: false })
  const other = { id: 'bob' as ConsentId, statement: { email: 'b@shop.example', consent: true } }
  table.applyStep({ ...other, position: positionOf(3 as AcceptSequence, 1) }, { nowMs: 0, waitsBefore: 0 })
  send({ kind: 'taken' })
  expect(table.refusedInARow).toBe(0)
  expect(row()).toMatchObject({ letter: 'letter' })
})

test('records in any order, and calls with any end: the endpoint comes to hold the newest, and is told no more than it must be', () => {
  const records = fc.uniqueArray(
    fc.record({ consent: fc.boolean(), sequence: fc.integer({ min: 1, max: 40 }) }),
    {
      selector: ({ sequence }) => sequence,
      minLength: 1,
    },
  )
  const ends = fc.array(fc.constantFrom('taken', 'not-taken', 'failed', 'unknown', 'none'), {
    minLength: 40,
    maxLength: 40,
  })
  fc.assert(
    fc.property(records, ends, (shuffled, fates) => {
      const { say, row, begin } = openTable()
      let held: 0 | 1 | null | undefined
      let isCertain = true
      const call = (kind: Exclude<CallEnd['kind'], 'refused'>, during?: () => void) => {
        const begun = begin()
        during?.()
        if (!begun) return
        // What the endpoint holds for certain is never told once more.
        if (isCertain) expect(begun.consent).not.toBe(held)
        if (kind !== 'not-taken') held = begun.consent
        if (kind === 'taken') isCertain = true
        if (kind === 'failed' || kind === 'unknown') isCertain = false
        table.end(begun, { kind }, 0)
      }
      shuffled.forEach(({ consent, sequence }, index) => {
        const fate = fates[index] ?? 'none'
        if (fate === 'none') say(consent, sequence)
        else call(fate, () => say(consent, sequence))
      })
      for (let calls = 0; calls < 3; calls += 1) call('taken')
      const newest = shuffled.toSorted((a, b) => b.sequence - a.sequence)[0]
      expect(row()).toMatchObject({ consent: Number(newest?.consent), lane: null })
      expect(held).toBe(Number(newest?.consent))
    }),
    { numRuns: 500 },
  )
})
