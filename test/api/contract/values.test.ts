import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  isCalendarDate,
  isCategoryPath,
  isCountryCode,
  isEmailAddress,
  isHttpUrl,
  isIsoDateTime,
  isLanguageCode,
  isTimeZone,
} from '../../../src/api/contract/values.ts'

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

describe('isEmailAddress', () => {
  it.each([
    'anna@shop.example',
    'anna+sale/2@mail.shop.example',
    "o'hara@shop.example",
    'a@localhost',
    'änne@müller.example',
    'a@xn--mller-kva.example',
  ])('accepts %s', (address) => expect(isEmailAddress(address)).toBe(true))
  it.each([
    '',
    'anna',
    '@shop.example',
    'anna@',
    'anna@b@shop.example',
    'anna b@shop.example',
    'anna@shop.example,',
    '<anna@shop.example>',
    '"anna"@shop.example',
    'anna;bob@shop.example',
    'anna@shop..example',
    'anna@shop.example.',
    'anna@-shop.example',
    '\ud800@shop.example',
    `${'a'.repeat(250)}@shop.example`,
  ])('refuses %j', (address) => expect(isEmailAddress(address)).toBe(false))
})

describe('codes and times', () => {
  it.each(['DE', 'gb', 'US'])('takes %s for a country', (code) => expect(isCountryCode(code)).toBe(true))
  it.each(['', 'D', 'DEU', 'QQ', '1A'])('takes %j for no country', (code) =>
    expect(isCountryCode(code)).toBe(false),
  )
  it.each(['en', 'en-GB', 'pt_BR', 'zh-Hant-TW'])('takes %s for a language', (code) =>
    expect(isLanguageCode(code)).toBe(true),
  )
  it.each(['', 'e', 'english', '12', 'en-'])('takes %j for no language', (code) =>
    expect(isLanguageCode(code)).toBe(false),
  )
  it.each(['Europe/Berlin', 'UTC', 'America/Argentina/Buenos_Aires'])('takes %s for a time zone', (zone) =>
    expect(isTimeZone(zone)).toBe(true),
  )
  it.each(['', 'Berlin', '+01:00', 'Mars/Base'])('takes %j for no time zone', (zone) =>
    expect(isTimeZone(zone)).toBe(false),
  )
  it.each(['2026-11-20T08:00:00Z', '2026-11-20 08:00', '2026-11-20T08:00:00.5+01:00', '2026-11-20'])(
    'takes %s for a time',
    (time) => expect(isIsoDateTime(time)).toBe(true),
  )
  it.each(['', 'tomorrow', '2026-02-30T08:00:00Z', '2026-11-20T25:00', '20.11.2026'])(
    'takes %j for no time',
    (time) => expect(isIsoDateTime(time)).toBe(false),
  )
})
