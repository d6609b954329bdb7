/** What comes of each file under `shared/feeds`, read in place. `lines`: of the feed besides `drop`, the preset included. */
export type SharedOutcome =
  | {
      kind: 'products'
      file: string
      format: 'csv' | 'xml'
      lines: string
      /** Products, where several rows make one. */
      records: number
      accepted: number
      /** By code of the first issue. */
      rejected: Readonly<Record<string, number>>
      /** Accepted, but not sent until another feed brings what is missing. */
      incomplete: number
    }
  /** Tables beside the products, and files that try parsers: no feed of products. */
  | { kind: 'no-products'; file: string; why: string }
  /** The same, and their first line is data: a configuration with numbered columns is offered, with all of it to be looked at. */
  | { kind: 'no-header'; file: string; why: string }
  /** Nothing of it is applied. */
  | { kind: 'refused'; file: string; reason: RegExp }

const shop = 'shopUrl: https://shop.example\ncurrency: USD'
const merchant = 'preset: google-merchant'
const amazonLines = `fields:
  product_id: { column: link, pattern: "/dp/([A-Z0-9]{10})" }
  name: name
  url: link
  image_url: image
  availability: { value: InStock }
  price: { column: [discount_price, actual_price], thousands: "," }
  price_currency_code: { value: INR }
  list_price: { column: actual_price, thousands: "," }`
const prisjaktLines = `fields:
  product_id: id
  name: title
  url: link
  image_url: image_url
  availability: { column: availability, words: availability }
  price: { column: [sale_price, price] }
  price_currency_code: { value: SEK }`

type Row = readonly [file: string, records: number, rejected?: Readonly<Record<string, number>>]

function products(
  format: 'csv' | 'xml',
  lines: string,
  rows: readonly Row[],
  incomplete = 0,
): readonly SharedOutcome[] {
  return rows.map(([file, records, rejected = {}]) => {
    const lost = Object.values(rejected).reduce((sum, count) => sum + count, 0)
    return { kind: 'products', file, format, lines, records, accepted: records - lost, rejected, incomplete }
  })
}

const noPrice = { 'required-empty': 1 }

export const sharedOutcomes: readonly SharedOutcome[] = [
  ...products('csv', amazonLines, [
    ['amazon/Air Conditioners.csv', 100, noPrice],
    ['amazon/All Appliances.csv', 100],
    ['amazon/All Car and Motorbike Products.csv', 100, noPrice],
    ['amazon/All Electronics.csv', 100, noPrice],
    ['amazon/All Exercise and Fitness.csv', 100],
    ['amazon/All Grocery and Gourmet Foods.csv', 100, noPrice],
    ['amazon/All Home and Kitchen.csv', 100],
    ['amazon/All Pet Supplies.csv', 100],
    ['amazon/All Sports Fitness and Outdoors.csv', 100],
    ['amazon/Amazon Fashion.csv', 100, noPrice],
    ['amazon/Baby Bath Skin and Grooming.csv', 100],
    ['amazon/Baby Fashion.csv', 100, noPrice],
  ]),
  ...products('xml', merchant, [
    ['google-merchant/history/001-20260526T023802.xml', 15],
    ['google-merchant/history/002-20260527T052254.xml', 22],
    ['google-merchant/history/003-20260527T032329.xml', 10],
    ['google-merchant/history/004-20260527T171609.xml', 13],
    ['google-merchant/history/005-20260528T051538.xml', 16],
    ['google-merchant/history/006-20260528T121814.xml', 17],
    ['google-merchant/history/007-20260529T121707.xml', 20],
    ['google-merchant/history/008-20260530T122241.xml', 22],
    ['google-merchant/history/009-20260531T122056.xml', 25],
    ['google-merchant/history/010-20260601T071832.xml', 6],
    ['google-merchant/history/011-20260601T073937.xml', 9],
    ['google-merchant/history/012-20260601T190652.xml', 12],
    ['prisjakt/Produkter_Prisjakt10_XMl.txt', 11],
    ['prisjakt/Produkter_Prisjakt1_XML.txt', 9, { 'required-empty': 5 }],
    ['prisjakt/Produkter_Prisjakt20_XMl.txt', 17],
    ['prisjakt/Produkter_Prisjakt5_XMl.txt', 9, { 'required-empty': 1 }],
    ['prisjakt/velofant_prisjakt_feed_FIXED.xml', 9, { 'required-empty': 5 }],
    ['prisjakt/velofant_prisjakt_feed_VALID.xml', 9, { 'required-empty': 5 }],
  ]),
  ...products('xml', prisjaktLines, [
    ['prisjakt/Velofant_feed.txt', 20, { contract: 1 }],
    ['prisjakt/test1.txt', 17],
  ]),
  ...products('csv', `preset: shopify\n${shop}`, [
    ['shopify/apparel.csv', 20],
    ['shopify/jewelery.csv', 20],
  ]),
  ...products('csv', `preset: prestashop\n${shop}`, [['prestashop/products_import.csv', 2]]),
  ...products('csv', `preset: woocommerce\n${shop}`, [['woocommerce/sample_products.csv', 15]], 1),
  { kind: 'refused', file: 'prisjakt/Produkter_Prisjakt11_XMl.txt', reason: /line 365, column 91: found & / },
  { kind: 'refused', file: 'prisjakt/Produkter_Prisjakt12_XMl.txt', reason: /line 365, column 91: found & / },
  { kind: 'refused', file: 'prisjakt/Produkter_Prisjakt13_XMl.txt', reason: /line 365, column 91: found & / },
  ...[
    ['prestashop/categories_import.csv', 'names and texts of categories'],
    ['prestashop/combinations_import.csv', 'variants of products, for the preset prestashop-combinations'],
    ['prestashop/manufacturers_import.csv', 'names of brands'],
    ['prestashop/suppliers_import.csv', 'names of suppliers'],
    ...[
      'comma_in_quotes empty empty_crlf escaped_quotes json newlines newlines_crlf quotes_and_newlines simple',
      'simple_crlf utf8',
    ]
      .flatMap((names) => names.split(' '))
      .flatMap((name) => [
        [`conformance/csv-spectrum/csvs/${name}.csv`, 'for parsers'],
        [`conformance/csv-spectrum/json/${name}.json`, 'for parsers'],
      ]),
  ].map(([file = '', why = '']): SharedOutcome => ({ kind: 'no-products', file, why })),
  { kind: 'no-header', file: 'utf16/ProductDescription.csv', why: 'texts' },
  { kind: 'no-header', file: 'utf16/ProductModelProductDescriptionCulture.csv', why: 'languages of texts' },
]
