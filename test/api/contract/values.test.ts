import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isCalendarDate, isCategoryPath, isHttpUrl } from '../../../src/api/contract/values.ts'

describe('isCalendarDate', () => {
  it('agrees with the calendar for every day and every impossible one', () => {
    const parts = fc.tuple(
      fc.integer({ min: 100, max: 9999 }),
      fc.integer({ min: 0, max: 14 }),
      fc.integer({ min: 0, max: 32 }),
    )
    fc.assert(
      fc.property(parts, ([year, month, day]) => {
        const date = new Date(Date.UTC(year, month - 1, day))
        const exists =
          date.getUTCFullYear() === year && date.getUTCMonth() === month - 1 && date.getUTCDate() === day
        const text = [
          String(year).padStart(4, '0'),
          ...[month, day].map((part) => String(part).padStart(2, '0')),
        ].join('-')
        expect(isCalendarDate(text)).toBe(exists)
      }),
      { numRuns: 2000 },
    )
  })
})

describe('isHttpUrl', () => {
  it.each([
    'https://shop.example',
    'HTTP://SHOP.EXAMPLE/a?b=c#d',
    'http://127.0.0.1:8080/ä',
    'https://[::1]/a',
    'https://пример.example/a',
  ])('accepts %s', (address) => expect(isHttpUrl(address)).toBe(true))
  it.each([
    '',
    'shop.example',
    '//shop.example/a',
    'http:shop.example',
    'http:///a',
    'https://?a',
    'javascript:alert(1)',
    ' https://a/b',
    'https://a/b\n',
    'https://a b/',
    'http://a:99999/',
    'http:\\\\a\\b',
  ])('refuses %j', (address) => expect(isHttpUrl(address)).toBe(false))
})

describe('isCategoryPath', () => {
  it.each(['Home', 'Home/Kitchen', '/Home/Kitchen', 'Tea & Coffee/Pots, 2 l'])('accepts %s', (path) =>
    expect(isCategoryPath(path)).toBe(true),
  )
  it.each([
    '',
    '/',
    '//',
    'Home/',
    'Home//Kitchen',
    '//Home',
    'Home/ /Pans',
    'Home > Kitchen',
    'Home>Kitchen',
    'Home &gt; Kitchen',
    'Home/Kitchen > Pans',
  ])('refuses %j', (path) => expect(isCategoryPath(path)).toBe(false))
})
