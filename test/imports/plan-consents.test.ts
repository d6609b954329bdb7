import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { decodeConsent, digestConsent, encodeConsent } from '../../src/consents/document.ts'
import { positionOf } from '../../src/consents/position.ts'
import { planConsents } from '../../src/imports/plan-consents.ts'
import type { AcceptSequence, ConsentId, ProductId } from '../../src/lib/brand.ts'
import type { StoredProduct } from '../../src/outbox/model.ts'

const id = 'anna' as ConsentId
const email = 'anna@shop.example'
const at = (sequence: number) => positionOf(sequence as AcceptSequence, 1)

interface Known {
  stored?: [consent: boolean, sequence: number]
  acknowledged?: number
}

function plan(consent: boolean, sequence: number, { stored, acknowledged }: Known = {}) {
  const before: StoredProduct | undefined = stored && {
    document: encodeConsent({ email, consent: stored[0] }),
    partial: undefined,
    meta: at(stored[1]),
  }
  const planned = planConsents({
    steps: [{ id, statement: { email, consent }, position: at(sequence) }],
    stored: new Map(before ? [[id as ProductId, before]] : []),
    acknowledged: new Map(acknowledged === undefined ? [] : [[id, at(acknowledged)]]),
  })
  const [write] = planned.writes
  const { added, changed, urgent, new: granted } = planned.tally
  return { write, unchanged: planned.unchanged, tally: { added, changed, urgent, granted } }
}

describe('a record of consent', () => {
  it('that is the first is offered: a grant among the new, a revocation at once', () => {
    const granted = plan(true, 5)
    expect(granted.write).toMatchObject({ meta: at(5), offer: { lane: 'new', digest: digestConsent(true) } })
    expect(granted.tally).toEqual({ added: 1, changed: 0, urgent: 0, granted: 1 })
    expect(plan(false, 5).write?.offer?.lane).toBe('urgent')
  })

  it('that says what is known moves the position on, and is left to the outbox to be dropped', () => {
    const { write, unchanged, tally } = plan(true, 6, { stored: [true, 5] })
    expect(write).toMatchObject({ meta: at(6), offer: { lane: 'new' } })
    expect([unchanged, tally.added + tally.changed]).toEqual([1, 0])
  })

  it('that says otherwise is offered', () => {
    const { write, tally } = plan(false, 6, { stored: [true, 5] })
    expect(write?.offer).toEqual({ lane: 'urgent', digest: digestConsent(false) })
    expect(tally).toEqual({ added: 0, changed: 1, urgent: 1, granted: 0 })
  })

  it('that is older than what is applied, or the same, writes nothing', () => {
    for (const sequence of [4, 5]) {
      const { write, unchanged } = plan(false, sequence, { stored: [true, 5] })
      expect([write, unchanged]).toEqual([undefined, 1])
    }
  })

  it('that was acknowledged is restored after Redis lost it, and nothing before it', () => {
    expect(plan(true, 5, { acknowledged: 5 }).write).toMatchObject({ meta: at(5), offer: undefined })
    expect(plan(false, 4, { acknowledged: 5 }).write).toBeUndefined()
    expect(plan(false, 6, { acknowledged: 5 }).write?.offer?.lane).toBe('urgent')
  })

  it('is offered although a document says the same that is older than what was acknowledged', () => {
    // A Redis that was rolled back: the endpoint holds what the acknowledged record said, not this document.
    expect(plan(false, 7, { stored: [false, 3], acknowledged: 5 }).write?.offer?.lane).toBe('urgent')
  })
})

describe('many records', () => {
  it('come to the newest one, in whatever order feeds are applied, and never offer what is not later than acknowledged', () => {
    const records = fc.uniqueArray(
      fc.record({ consent: fc.boolean(), sequence: fc.integer({ min: 1, max: 40 }) }),
      {
        selector: ({ sequence }) => sequence,
        minLength: 1,
      },
    )
    fc.assert(
      fc.property(records, fc.integer({ min: 0, max: 20 }), (shuffled, acknowledged) => {
        let stored: Known['stored']
        for (const { consent, sequence } of shuffled) {
          const known = { ...(stored ? { stored } : {}), ...(acknowledged > 0 ? { acknowledged } : {}) }
          const { write } = plan(consent, sequence, known)
          if (write?.offer) expect(sequence).toBeGreaterThan(acknowledged)
          if (write?.document) stored = [decodeConsent(write.document).consent, sequence]
        }
        const newest = shuffled.toSorted((a, b) => b.sequence - a.sequence)[0]
        if (newest && newest.sequence >= acknowledged) {
          expect(stored).toEqual([newest.consent, newest.sequence])
        }
      }),
    )
  })
})
