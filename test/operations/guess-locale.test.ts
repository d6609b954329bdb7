import fc from 'fast-check'
import { expect, it } from 'vitest'
import { parseNumberText } from '../../src/catalog/number-text.ts'
import { findLocale } from '../../src/operations/guess/find-locale.ts'

it.each([
  [['12.50', '3'], { decimal: '.', thousands: undefined }],
  [['12,50', '3'], { decimal: ',', thousands: undefined }],
  [['1,499', '650', '12,999'], { decimal: '.', thousands: ',' }],
  [['1.499', '650', '12.999'], { decimal: ',', thousands: '.' }],
  [['649', '1,499', '249.50'], { decimal: '.', thousands: ',' }],
  [['1.299,00', '9,90'], { decimal: ',', thousands: '.' }],
  [['1,299.00', '9.90'], { decimal: '.', thousands: ',' }],
  [['1 299,00', '9,90'], { decimal: ',', thousands: ' ' }],
  [["1'299.00", '9.90'], { decimal: '.', thousands: "'" }],
  [['1,23,456', '99'], { decimal: '.', thousands: ',' }],
  [['0.125', '0.250'], { decimal: '.', thousands: undefined }],
  [['-12,50', '7,00'], { decimal: ',', thousands: undefined }],
  [['4,417,08', '417,08', '1,299', '12'], { decimal: ',', thousands: ',' }],
  [['4.417.08', '9.90'], { decimal: '.', thousands: '.' }],
  [['12', '13'], { decimal: '.', thousands: undefined }],
])('%j are written so', (amounts, expected) => {
  expect(findLocale(amounts)).toEqual(expected)
})

it('knows nothing of no amounts, nor of amounts that are no numbers', () => {
  expect(findLocale([])).toBeUndefined()
  expect(findLocale(['a', 'b'])).toBeUndefined()
})

it('reads prices with two decimals back, however they were written', () => {
  const locales = [
    { decimal: '.', thousands: ',' },
    { decimal: ',', thousands: '.' },
    { decimal: ',', thousands: ' ' },
    { decimal: '.', thousands: "'" },
    { decimal: ',', thousands: ',' },
  ] as const
  const prices = fc.array(fc.integer({ min: 1, max: 99_999_999 }), { minLength: 1, maxLength: 30 })
  fc.assert(
    fc.property(fc.constantFrom(...locales), prices, ({ decimal, thousands }, cents) => {
      const texts = cents.map((cent) => {
        const whole = String(Math.floor(cent / 100)).replace(/\B(?=(\d{3})+$)/g, thousands)
        return `${whole}${decimal}${String(cent % 100).padStart(2, '0')}`
      })
      const found = findLocale(texts)
      expect(found && texts.map((text) => Number(parseNumberText(text, found)))).toEqual(
        cents.map((cent) => cent / 100),
      )
    }),
  )
})
