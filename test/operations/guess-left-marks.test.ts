import { writeFile } from 'node:fs/promises'
import { expect, it } from 'vitest'
import { guessFeed } from '../../src/operations/guess/guess-feed.ts'
import { leftMarks, tryGuess } from '../../src/operations/guess/try-guess.ts'
import { tempDir } from '../support/temp-dir.ts'
import { tableOf } from './guess-support.ts'

const image = 'https://c.example/1.jpg'

it.each([
  ['marks at the end of levels', ['Men -/Clothing -']],
  ['marks that many have', ['Men < Shirts', 'Women < Jeans', 'Men < Coats']],
])('sees %s in categories', (_, categories) => {
  expect(leftMarks([{ categories }])).toEqual([expect.stringMatching(/^fields\.categories: /)])
})

it.each([
  [['T-Shirts', 'Men/Jeans', 'Books - Fiction', 'Home']],
  [['Cups, Mugs & Glasses', 'Food, Drinks and Tobacco']],
  [['C&A', 'A+B', '50% off', 'Size 3-4']],
  [['/coats/new']],
])('takes %j for categories', (categories) => {
  expect(leftMarks([{ categories }])).toEqual([])
})

it.each([`${image}&&${image}`, `${image}||${image}`, `${image};`, `${image}~//c.example/2.jpg`])(
  'sees several addresses in %s',
  (text) => {
    expect(leftMarks([{ image_url: text }])).toEqual([expect.stringMatching(/^fields\.image_url: /)])
    expect(leftMarks([{ alternate_image_urls: [text] }])).toHaveLength(1)
  },
)

it.each([`https://proxy.example/?url=${image}`, `https://cdn.example/fetch/w_300/${image}`, image])(
  'takes %s for one address',
  (text) => {
    expect(leftMarks([{ image_url: text }])).toEqual([])
  },
)

it('says so in what it guesses, whatever rules have made of it', async () => {
  await using dir = await tempDir('guess')
  const file = dir.join('export.csv')
  await writeFile(file, tableOf({ Category: ['Men -', 'Women -'], Subcategory: ['Shirts -', 'Jeans -'] }))
  const signal = AbortSignal.timeout(240_000)
  const given = { shopUrl: undefined, currency: undefined, id: undefined }
  const guess = await guessFeed({ file, given, signal })
  const trial = await tryGuess(guess, { file, given, nowMs: Date.UTC(2026, 2, 5), signal })
  expect(trial.guess.open).toContainEqual(
    expect.stringMatching(/^fields\.categories: such as "Men -\/Shirts -"/),
  )
})
