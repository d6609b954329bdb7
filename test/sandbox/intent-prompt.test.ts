import { describe, expect, it } from 'vitest'
import { RecentMap } from '../../src/sandbox/intent/intent-answer.ts'
import { parsePrompt } from '../../src/sandbox/intent/intent-prompt.ts'

const brands = new Set(['nike', 'casa lumo', 'pace co'])
const parse = (prompt: string) => parsePrompt(prompt, (key) => brands.has(key))

/** `<30`, `<=30`, `>30`, `20..40`, with the first currency. */
function priceOf(prompt: string): string {
  const { priceMin, priceMax, currencies = [] } = parse(prompt).constraints
  const price =
    priceMin && priceMax
      ? `${priceMin.value}..${priceMax.value}`
      : priceMax
        ? `${priceMax.isInclusive ? '<=' : '<'}${priceMax.value}`
        : priceMin
          ? `${priceMin.isInclusive ? '>=' : '>'}${priceMin.value}`
          : ''
  return [price, currencies[0] ?? ''].join(' ').trim()
}

describe('the price in a prompt', () => {
  it.each([
    ['under 50', '<50'],
    ['below €30', '<30 EUR'],
    ['between 20 and 40', '20..40'],
    ['from 40 to 20 euros', '20..40 EUR'],
    ['20-40 €', '20..40 EUR'],
    ['at least 100', '>=100'],
    ['over £15.50', '>15.5 GBP'],
    ['less than 1,299.00 USD', '<1299 USD'],
    ['unter 1.299,00 €', '<1299 EUR'],
    ['höchstens 49,90 Euro', '<=49.9 EUR'],
    ['zwischen 10 und 20 Franken', '10..20 CHF'],
    ['ab 300 kr', '>=300 SEK'],
    ['nothing over 80', '<=80'],
    ['no more than 80 zł', '<=80 PLN'],
    ['not less than 80', '>=80'],
    ['50 dollars or less', '<=50 USD'],
    ['100 or more', '>=100'],
    ['100€+', '>=100 EUR'],
    ['up to 2k', '<=2000'],
    ['budget of 120', '<=120'],
    ['around 100 €', '80..120 EUR'],
    ['a 50 euro lamp', '40..60 EUR'],
    ['for 20€', '<=20 EUR'],
    ['<= 40', '<=40'],
    ['under ₹1,29,900', '<129900 INR'],
    ['a lamp', ''],
    ['shoes size 42', ''],
    ['under 5 kg', ''],
    ['under 1.5 kg', ''],
    ['at least 4 stars', ''],
    ['a 27 inch screen', ''],
    ['for 4 people', ''],
    ['at least 20% off', ''],
    ['over 2 years old', ''],
  ])('%s', (prompt, price) => {
    expect(priceOf(prompt)).toBe(price)
  })
})

describe('the other demands of a prompt', () => {
  it.each([
    ['lamp in stock', { availability: 'in-stock' }],
    ['lamp available now', { availability: 'in-stock' }],
    ['sofort lieferbar', { availability: 'in-stock' }],
    ['not out of stock', { availability: 'in-stock' }],
    ['sold out lamps', { availability: 'out-of-stock' }],
    ['lamps on sale', { onDiscount: true }],
    ['discounted lamps', { onDiscount: true }],
    ['at least 20% off', { onDiscount: true, discountMin: 0.2 }],
    ['at least 4 stars', { ratingMin: 4 }],
    ['4.5+ stars', { ratingMin: 4.5 }],
    ['rated above 4', { ratingMin: 4 }],
    ['cheapest lamp', { order: 'price-up' }],
    ['not too expensive', { order: 'price-up' }],
    ['best rated lamp', { order: 'rating' }],
    ['bestseller', { order: 'popularity' }],
    ['newest lamps', { order: 'newest' }],
    ['priciest lamp', { order: 'price-down' }],
  ])('%s', (prompt, constraints) => {
    const found = Object.entries(parse(prompt).constraints).filter(([, value]) => value !== undefined)
    expect(Object.fromEntries(found)).toEqual(constraints)
  })
})

describe('the words of a prompt', () => {
  it.each([
    ['Show me some red running shoes, please', ['red', 'running', 'shoe'], []],
    ['shoes that are not red', ['shoe'], ['red']],
    ['shoes without leather or suede in blue', ['shoe', 'blue'], ['leather', 'suede']],
    ['no nike', [], ['nike']],
    ['lamps but not from Casa Lumo', ['lamp'], ['casa lumo']],
    ['anything but black', [], ['black']],
    ['Lampen ohne Kabel', ['lampen'], ['kabel']],
    ['women’s knives, boxes and glasses', ['woman', 'knife', 'box', 'glass'], []],
    ['not over 50, wool', ['wool'], []],
    ['shoes for men', ['shoe', 'man'], []],
    ["men's boots", ['man', 'boot'], []],
    ['shoes that are not for kids', ['shoe'], ['kid']],
    ['sandals neither red nor blue', ['sandal'], ['red', 'blue']],
    ['weder rot noch blau', [], ['rot', 'blau']],
    ['bbq', ['barbecue'], []],
  ])('%s', (prompt, terms, negatives) => {
    const parsed = parse(prompt)
    expect(parsed.terms).toEqual(terms)
    expect(parsed.negatives.map((phrase) => phrase.join(' '))).toEqual(negatives)
  })

  it('name brands of several words', () => {
    expect(parse('a Casa Lumo lamp or one of Pace & Co').brands).toEqual(['casa lumo', 'pace co'])
  })
})

it('a map of recent things forgets what was not asked for longest', () => {
  const recent = new RecentMap<number>(2)
  recent.set('a', 1)
  recent.set('b', 2)
  expect(recent.get('a')).toBe(1)
  recent.set('c', 3)
  expect([...recent.entries()]).toEqual([
    ['a', 1],
    ['c', 3],
  ])
})
