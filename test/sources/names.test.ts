import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { FeedName } from '../../src/lib/brand.ts'
import type { Clock } from '../../src/lib/clock.ts'
import { ClaimIds, claimFileName, parseClaimFileName } from '../../src/sources/claim-name.ts'
import { cleanName, displayName, isTemporaryName, rawNameOf } from '../../src/sources/entry-name.ts'
import { compilePatterns, markersOf } from '../../src/sources/file-patterns.ts'

function clockAt(times: number[]): Clock {
  let last = 0
  return { now: () => (last = times.shift() ?? last), monotonic: () => 0, sleep: async () => {} }
}

describe('claim ids', () => {
  it('sort in the order in which they were made, also when the clock stands still or is set back', () => {
    const ids = new ClaimIds(clockAt([5_000, 5_000, 5_000, 4_000, 5_001, 1e12, 1e12]))
    const made = Array.from({ length: 7 }, () => ids.next())
    expect(made.toSorted()).toEqual(made)
    expect(new Set(made).size).toBe(7)
  })

  it('differ between processes', () => {
    expect(new ClaimIds(clockAt([5])).next()).not.toBe(new ClaimIds(clockAt([5])).next())
  })
})

describe('names of claimed files', () => {
  const claim = new ClaimIds(clockAt([1e12])).next()

  it('carry everything that a line needs, and fit into a folder', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'binary', minLength: 1, maxLength: 300 }),
        fc.string({ minLength: 1, maxLength: 24 }),
        fc.constantFrom('full' as const, 'delta' as const),
        fc.boolean(),
        fc.option(fc.constant(claim), { nil: undefined }),
        (original, feed, mode, resend, grownFrom) => {
          const parts = { claim, feed: feed as FeedName, mode, resend, grownFrom, name: cleanName(original) }
          const fileName = claimFileName(parts)
          expect(Buffer.byteLength(fileName)).toBeLessThanOrEqual(245)
          expect(fileName).not.toMatch(/[/\0]/)
          const parsed = parseClaimFileName(fileName)
          expect({ ...parsed, name: undefined }).toEqual({ ...parts, name: undefined })
          // Cut only where the folder demands it.
          if (Buffer.byteLength(fileName) < 240) expect(parsed?.name).toBe(parts.name)
        },
      ),
    )
  })

  it('are told from other names', () => {
    expect(parseClaimFileName('products.csv')).toBeUndefined()
    expect(
      parseClaimFileName(
        `.copy-${claimFileName({ claim, feed: 'f' as FeedName, mode: 'full', resend: false, grownFrom: undefined, name: 'a' })}`,
      ),
    ).toBeUndefined()
  })
})

describe('cleaned names', () => {
  it.each([
    ['products.csv', 'products.csv'],
    ['../../etc/passwd', '_.._etc_passwd'],
    ['a\nb\u0007\u202ec.csv', 'a_b__c.csv'],
    ['...hidden', 'hidden'],
    ['\\\\server\\x.csv', '__server_x.csv'],
    ['...', 'file'],
    [`${'ä'.repeat(200)}.csv.gz`, `${'ä'.repeat(56)}.csv.gz`],
  ])('%j becomes %j', (original, cleaned) => {
    expect(cleanName(original)).toBe(cleaned)
  })

  it('are never hidden, empty, long or broken', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 400 }), (original) => {
        const cleaned = cleanName(original)
        expect(cleaned).toMatch(/^[^./\p{Cc}][^/\p{Cc}]*$/u)
        expect(Buffer.byteLength(cleaned)).toBeLessThanOrEqual(120)
        expect(cleaned.isWellFormed()).toBe(true)
      }),
    )
  })
})

describe('raw names', () => {
  it('show UTF-8 as text and other bytes one by one', () => {
    expect(displayName(rawNameOf(Buffer.from('Größe.csv')))).toBe('Größe.csv')
    expect(displayName(rawNameOf(Buffer.from('Größe.csv', 'latin1')))).toBe('Größe.csv')
  })
})

describe('temporary names', () => {
  it.each(['.x.csv', 'x.tmp', 'x.csv.PART', 'x.FilePart', '.nfs0001'])('%s is one', (name) => {
    expect(isTemporaryName(name)).toBe(true)
  })
  it.each(['x.csv', 'tmp.csv', 'part', 'x.partial'])('%s is none', (name) => {
    expect(isTemporaryName(name)).toBe(false)
  })
})

describe('patterns', () => {
  const modeOf = compilePatterns([
    { pattern: '*_full.csv', mode: 'full' },
    { pattern: '*.{csv,txt}', mode: 'delta' },
  ])
  it.each([
    ['a_full.csv', 'full'],
    ['a_full.csv.gz', 'full'],
    ['a_full.csv.zip', 'full'],
    ['a.txt.zst', 'delta'],
    ['a.CSV', undefined],
    ['a.csv.bz2', undefined],
    ['a.json', undefined],
  ])('%s is %s', (name, mode) => {
    expect(modeOf(name)).toBe(mode)
  })
})

describe('markers', () => {
  it.each([
    ['*.done', 'p.csv', ['p.csv.done', 'p.done']],
    ['*.done', 'p.csv.gz', ['p.csv.gz.done', 'p.csv.done', 'p.done']],
    ['ready_*', 'p.csv', ['ready_p.csv', 'ready_p']],
    ['*.ok', 'p', ['p.ok']],
    ['_SUCCESS', 'p.csv', ['_SUCCESS']],
  ])('of %s for %s', (pattern, name, markers) => {
    expect(markersOf(pattern, name)).toEqual(markers)
  })
})
