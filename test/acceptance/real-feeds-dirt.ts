import type { AcceptanceFeed, FeedBytes } from './real-feeds-shared.ts'
import { amount, list, type Row, text } from './reference.ts'

/** Feeds with the dirt that real ones have, for machines that do not hold any real one. */
export function dirtFeeds(): AcceptanceFeed[] {
  return [german, bazaar]
}

/** Windows-1252, semicolons, decimal commas, CRLF ends around bare LF in cells, ragged and doubled rows. */
const german: AcceptanceFeed = {
  name: 'german',
  mode: 'full',
  yaml: `
product_id: Artikelnummer
name: Bezeichnung
url: "https://laden.example/artikel/{Artikelnummer}"
image_url: Bild
availability: { column: Bestand, when: { "<=0": OutOfStock, "": OutOfStock }, otherwise: InStock }
inventory_level: Bestand
price: { column: Preis, decimal: ",", thousands: "." }
price_currency_code: { value: EUR }
list_price: { column: UVP, decimal: ",", thousands: "." }
categories: { column: Warengruppe, split: "|", separator: ">", slash: "-" }
description: Text
date_published: { column: Angelegt, date: DD.MM.YYYY }
`,
  files: () => [germanFile()],
  read: (row) => {
    const stock = amount(row.cell('Bestand'))
    const [day, month, year] = row.cell('Angelegt').split('.')
    const money = (column: string) => {
      const cell = row.cell(column).replaceAll('.', '').replace(',', '.')
      return amount(cell)
    }
    return {
      id: text(row.cell('Artikelnummer')),
      bad: /[a-z]/i.test(row.cell('Preis').replace(' €', '')),
      values: {
        name: text(row.cell('Bezeichnung')),
        url: `https://laden.example/artikel/${row.cell('Artikelnummer')}`,
        image_url: text(row.cell('Bild')),
        availability: stock === undefined || stock <= 0 ? 'OutOfStock' : 'InStock',
        inventory_level: stock,
        price: money('Preis'),
        price_currency_code: 'EUR',
        list_price: money('UVP'),
        categories: list(row.cell('Warengruppe'), '|')?.map((path) =>
          list(path.replaceAll('/', '-'), '>')?.join('/'),
        ),
        description: text(row.cell('Text')),
        date_published: year && `${year}-${month}-${day}`,
      },
    }
  },
}

function germanFile(): FeedBytes {
  const header = 'Artikelnummer;Bezeichnung;Bild;Bestand;Preis;UVP;Warengruppe;Text;Angelegt'
  const picture = (number: number) => `https://laden.example/bild/${number}.jpg`
  const row = (number: number, { price = `${number},50`, rest = '01.02.2025' } = {}) =>
    `A-${number};Stuhl „Grün“ Nr. ${number};${picture(number)};${number % 7};${price};1.${100 + number},00 €;Möbel > Sitzen/Liegen|Garten;"Zeile eins\nZeile ""zwei""; und mehr";${rest}`
  const rows = Array.from({ length: 40 }, (_, index) => row(index + 1))
  rows.push(
    row(41, { rest: '03.04.2025;;;' }), // Empty cells behind the last column are no error.
    row(42, { rest: '03.04.2025;x' }), // A full one is.
    'A-43;zu kurz',
    ';ohne Nummer;https://laden.example/bild/0.jpg;1;1,00;;;;',
    row(44, { price: 'auf Anfrage' }),
    row(45, { price: '' }),
    row(5, { price: '1.299,95 €' }), // The second row of this product is the one that counts.
    '',
    ' A-46 ; Leer umrandet ;https://laden.example/bild/46.jpg; 3 ; 12,00 ;;;;',
  )
  const content = `${[header, ...rows].join('\r\n')}\r\n`
  return {
    name: 'artikel.csv',
    bytes: windows1252(content),
    text: content,
    delimiter: ';',
    encoding: 'windows-1252',
  }
}

/** The few characters of the feed that are not Latin-1. */
function windows1252(content: string): Buffer {
  const places: Readonly<Record<string, number>> = { '€': 0x80, '„': 0x84, '“': 0x93 }
  return Buffer.from([...content].map((char) => places[char] ?? char.charCodeAt(0)))
}

/** UTF-8 with a byte order mark and tabs; amounts as on a price tag; the id inside a link; three files that overlap. */
const bazaar: AcceptanceFeed = {
  name: 'bazaar',
  mode: 'delta',
  yaml: `
product_id: { column: link, pattern: "/item/(?P<id>[0-9]+)", result: "bazaar-{id}" }
name: title
url: link
image_url: { column: [large image, small image] }
availability: { column: state, when: { in stock: InStock, out of stock: OutOfStock } }
price: { column: price, thousands: "," }
price_currency_code: { value: INR }
rating_value: { column: stars, pattern: "^([0-9.]*)" }
tag1: { column: labels, split: "|" }
`,
  files: () => [bazaarFile('c.tsv', 1, 30), bazaarFile('b.tsv', 20, 45), bazaarFile('a.tsv', 28, 60)],
  read: (row: Row) => {
    const number = row.cell('link').split('/item/')[1]
    const states: Readonly<Record<string, string>> = { 'in stock': 'InStock', 'out of stock': 'OutOfStock' }
    const stars = row.cell('stars')
    return {
      id: number === undefined ? undefined : `bazaar-${number}`,
      bad: row.cell('state') !== '' && states[row.cell('state')] === undefined,
      values: {
        name: text(row.cell('title')),
        url: text(row.cell('link')),
        image_url: text(row.cell('large image')) ?? text(row.cell('small image')),
        availability: states[row.cell('state')],
        price: amount(row.cell('price'), ','),
        price_currency_code: 'INR',
        rating_value: /^\d/.test(stars) ? stars : undefined,
        tag1: list(row.cell('labels'), '|'),
      },
    }
  },
}

/** Later files bring other prices, leave cells empty that earlier ones filled, and have states nobody has heard of. */
function bazaarFile(name: string, from: number, to: number): FeedBytes {
  const lines = ['link\ttitle\tlarge image\tsmall image\tstate\tprice\tstars\tlabels']
  for (let number = from; number <= to; number++) {
    const title = number % 5 === 0 ? `"Tab\there, ""${number}"" inches"` : `Lamp ₹ № ${number} 灯`
    const state = ['in stock', 'out of stock', 'in stock', '', 'perhaps'][(number + from) % 9] ?? 'in stock'
    const price = number % 4 === 3 && from > 1 ? '' : `"₹1,${10 + (number % 80)},${900 + from}.50"`
    const link = number % 17 === 0 ? 'https://bazaar.example/none' : `https://bazaar.example/item/${number}`
    const large = number % 3 === 0 ? '' : `https://bazaar.example/${number}.jpg`
    const stars = number % 6 === 0 ? 'FREE' : `4.${number % 10}`
    lines.push(
      [link, title, large, 'https://bazaar.example/s.jpg', state, price, stars, 'new| sale |'].join('\t'),
    )
  }
  const content = `\uFEFF${lines.join('\n')}`
  return { name, bytes: Buffer.from(content), text: content, delimiter: '\t', encoding: 'utf-8' }
}
