import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { parse } from 'yaml'
import { checkFile } from '../../src/operations/check-file.ts'
import { feedText } from '../../src/operations/guess/feed-text.ts'
import { guessFeed } from '../../src/operations/guess/guess-feed.ts'
import { sharedOutcomes } from '../acceptance/shared-feeds-table.ts'
import { loadFeed } from '../presets/read-preset.ts'
import { tempDir } from '../support/temp-dir.ts'

const root = fileURLToPath(new URL('../../../shared/feeds/', import.meta.url))
const signal = AbortSignal.timeout(280_000)
const idOfLink = { column: 'link', pattern: '/dp/([A-Z0-9]{10})' }

/** What `init --from` would write, and what `check` says of the file then. */
async function guessAndCheck(file: string, currency?: string) {
  const id = file.includes('/amazon/') ? idOfLink : undefined
  const given = { shopUrl: 'https://shop.example', currency: currency ?? (id ? 'INR' : 'SEK'), id }
  const guess = await guessFeed({ file, given, signal })
  const feed = await loadFeed(unindented(feedText('products', guess.lines, 0)))
  const check = await checkFile({ feed, file, nowMs: Date.parse('2026-06-01'), signal })
  return { guess, check }
}

/** The keys of the feed alone. */
function unindented(text: string): string {
  expect(parse(text)).toHaveProperty('products')
  return text
    .split('\n')
    .slice(1)
    .map((line) => line.replace(/^ {2}/, ''))
    .join('\n')
}

it.skipIf(!existsSync(root))(
  'guesses at least four fifths of the shared product files well enough',
  async () => {
    const files = sharedOutcomes.filter(({ kind }) => kind === 'products').map(({ file }) => file)
    const bad: string[] = []
    for (const file of files) {
      const { check } = await guessAndCheck(root + file)
      const whole = check.applied - check.incomplete.products
      if (check.refused || check.missingColumns || whole < check.records * 0.8) bad.push(file)
    }
    expect(files.length).toBeGreaterThan(30)
    // More than half of their products have no picture in these.
    expect(bad).toEqual([
      'prisjakt/Produkter_Prisjakt1_XML.txt',
      'prisjakt/velofant_prisjakt_feed_FIXED.xml',
      'prisjakt/velofant_prisjakt_feed_VALID.xml',
    ])
  },
)

it.each([
  [
    'German, with semicolons and decimal commas',
    'Artikelnummer;Bezeichnung;Verkaufspreis;UVP;Lagerbestand;Bild;Produktlink;Warengruppe;Hersteller',
    [
      'A-1;Teekanne;1.024,50;1.199,00;3;https://k.example/i/1.jpg;https://k.example/1;Küche > Tee;Ton',
      'A-2;Tasse;12,90;;0;https://k.example/i/2.jpg;https://k.example/2;Küche > Tee;Ton',
      'A-3;Löffel;3,50;4,00;12;https://k.example/i/3.jpg;https://k.example/3;Küche;Ton',
    ],
    { name: 'Bezeichnung', price: { column: 'Verkaufspreis', decimal: ',', thousands: '.' } },
    'EUR',
  ],
  [
    'Swedish, with tabs and amounts with a currency',
    'Artikelnummer\tBenämning\tPris\tLagersaldo\tBildlänk\tProduktlänk\tVarumärke',
    [
      'S1\tCykel\t4 995 kr\t2\thttps://c.example/i/1.jpg\thttps://c.example/1\tNord',
      'S2\tHjälm\t599 kr\t0\thttps://c.example/i/2.jpg\thttps://c.example/2\tNord',
    ],
    { name: 'Benämning', brand: 'Varumärke' },
    'SEK',
  ],
  [
    'French',
    'référence,désignation,prix ttc,stock,image,lien,marque,catégorie',
    [
      'F1,Lampe,"1 299,00 €",4,https://l.example/i/1.jpg,https://l.example/1,Lum,Maison/Salon',
      'F2,Ampoule,"9,90 €",0,https://l.example/i/2.jpg,https://l.example/2,Lum,Maison',
    ],
    { product_id: 'référence', brand: 'marque' },
    'EUR',
  ],
  [
    'English thousands that look like decimals',
    'sku,name,price,image,url',
    [
      '1,Bed,"1,499",https://b.example/i/1.jpg,https://b.example/1',
      '2,Sofa,"12,999",https://b.example/i/2.jpg,https://b.example/2',
      '3,Cup,650,https://b.example/i/3.jpg,https://b.example/3',
    ],
    { price: { column: 'price', thousands: ',' } },
    'EUR',
  ],
])('guesses a file of our own: %s', async (_, header, rows, expected, currency) => {
  await using dir = await tempDir('guess')
  const file = dir.join('export.csv')
  await writeFile(file, `${[header, ...rows].join('\n')}\n`)
  const { guess, check } = await guessAndCheck(file, currency)
  const rules = Object.fromEntries(guess.lines.map(({ key, value }) => [key.replace('fields.', ''), value]))
  expect(rules).toMatchObject(expected)
  expect(check).toMatchObject({ records: rows.length, applied: rows.length, incomplete: { products: 0 } })
})
