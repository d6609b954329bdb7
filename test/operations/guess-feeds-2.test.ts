import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { parse } from 'csv-parse/sync'
import { SaxesParser } from 'saxes'
import { describe, expect, it } from 'vitest'
import { parse as parseYaml, stringify } from 'yaml'
import type { FileCheck } from '../../src/operations/check-file.ts'
import { feedText } from '../../src/operations/guess/feed-text.ts'
import { guessFeed } from '../../src/operations/guess/guess-feed.ts'
import { loadFeed } from '../presets/read-preset.ts'
import { readProducts } from './guess-support.ts'

const root = fileURLToPath(new URL('../../../shared/feeds-2/', import.meta.url))
const nowMs = Date.parse('2026-06-01')
type Document = Readonly<Record<string, unknown>>
type Row = Readonly<Record<string, string>>

interface Reading {
  check: FileCheck
  open: readonly string[]
  /** By id. */
  products: ReadonlyMap<string, Document>
}

/** What `init --from` writes with constants alone, and what its feed makes of the file. */
async function readBy(name: string, currency?: string): Promise<Reading> {
  const signal = AbortSignal.timeout(300_000)
  const file = root + name
  const given = { shopUrl: 'https://shop.example', currency, id: undefined }
  const { lines, open } = await guessFeed({ file, given, signal })
  const feed = await loadFeed(stringify(parseYaml(feedText('products', lines, 0)).products))
  const { check, products } = await readProducts({ feed, file, nowMs, signal })
  const documents = products.map(({ product }) => [String(product.product_id), product] as const)
  return { check, open, products: new Map(documents) }
}

/** Second opinion: own readers, and rules written for these files alone. */
const csvRows = (name: string): Row[] =>
  parse(readFileSync(root + name), { columns: true, bom: true, relax_column_count: true })
const jsonRows = <Of>(name: string): Of[] => JSON.parse(readFileSync(root + name, 'utf8'))

interface ShopifyProduct {
  id: number
  title: string
  handle: string
  vendor: string
  images: readonly { src: string }[]
  variants: readonly { price: string; available: boolean }[]
}

interface ShopifyVariant {
  product_id: string
  variant_id: string
  handle: string
  vendor: string
  image_url: string
  price: number
  stock: number
  available: boolean
}

interface WooProduct {
  id: number
  name: string
  permalink: string
  main_image: string
  all_images: string
  price: string
}

interface Item {
  texts: Map<string, string[]>
}

/** Texts and attributes below each element of a name, by their path in it. */
function xmlItems(name: string, element: string): Item[] {
  const parser = new SaxesParser({ xmlns: false })
  const items: Item[] = []
  const path: string[] = []
  const own: string[] = []
  const add = (key: string, text: string) => {
    const texts = items.at(-1)?.texts
    if (texts && text.trim() !== '') texts.set(key, [...(texts.get(key) ?? []), text.trim()])
  }
  const depth = () => path.lastIndexOf(element)
  parser.on('opentag', ({ name: tag, attributes }) => {
    path.push(tag)
    own.push('')
    if (tag === element) items.push({ texts: new Map() })
    if (depth() < 0) return
    for (const [key, value] of Object.entries(attributes))
      add([...path.slice(depth() + 1), `@${key}`].join('.'), String(value))
  })
  const onText = (text: string) => {
    const last = own.pop()
    if (last !== undefined) own.push(last + text)
  }
  parser.on('text', onText)
  parser.on('cdata', onText)
  parser.on('closetag', () => {
    const text = own.pop() ?? ''
    if (depth() >= 0) add(path.slice(depth() + 1).join('.'), text)
    path.pop()
  })
  parser.write(readFileSync(root + name, 'utf8').replace(/^\uFEFF/, '')).close()
  return items
}

const first = ({ texts }: Item, key: string) => texts.get(key)?.[0]
const all = ({ texts }: Item, key: string) => texts.get(key)
const path = (text: string | undefined, mark: string) =>
  text
    ?.split(mark)
    .map((level) => level.trim().replaceAll('/', '-'))
    .join('/')
const defined = (document: Document) =>
  Object.fromEntries(Object.entries(document).filter(([, value]) => value !== undefined && value !== ''))

/** Every product of the second opinion is there, with these values, and no other. */
function expectAll({ products, check }: Reading, expected: ReadonlyMap<string, Document>): void {
  expect(check.refused ?? check.missingColumns).toBeUndefined()
  expect([...products.keys()].sort()).toEqual([...expected.keys()].sort())
  for (const [id, document] of expected) expect(products.get(id), id).toMatchObject(defined(document))
}

const byId = (entries: readonly (readonly [string, Document])[]) => new Map(entries)
const bare = (text: unknown) => String(text ?? '').replace(/\s+/g, '')

describe.skipIf(!existsSync(root))('feeds that nobody prepared for', () => {
  it.each([
    ['heureka-a.xml', 70],
    ['heureka-b.xml', 30],
  ])('%s: every item with an image; categories are one path each', async (name, count) => {
    const items = xmlItems(name, 'SHOPITEM').filter((item) => first(item, 'IMGURL') !== undefined)
    expect(items).toHaveLength(count)
    const expected = items.map((item) => {
      const categories = path(first(item, 'CATEGORYTEXT'), '|')
      const document = {
        name: first(item, 'PRODUCTNAME'),
        url: first(item, 'URL'),
        image_url: first(item, 'IMGURL'),
        alternate_image_urls: all(item, 'IMGURL_ALTERNATIVE'),
        price: Number(first(item, 'PRICE_VAT')),
        price_currency_code: 'CZK',
        brand: first(item, 'MANUFACTURER'),
        categories: categories === undefined ? undefined : [categories],
      }
      return [first(item, 'ITEM_ID') ?? '', document] as const
    })
    expectAll(await readBy(name, 'CZK'), byId(expected))
  })

  it('ceneo.xml: the main image, the others as alternates', async () => {
    const expected = xmlItems('ceneo.xml', 'o').map((item) => {
      const document = {
        name: first(item, 'name'),
        url: first(item, '@url'),
        image_url: first(item, 'imgs.main.@url'),
        alternate_image_urls: all(item, 'imgs.i.@url'),
        price: Number(first(item, '@price')),
        categories: [path(first(item, 'cat'), '/')],
      }
      return [first(item, '@id') ?? '', document] as const
    })
    const reading = await readBy('ceneo.xml', 'PLN')
    expect(reading.products.size).toBe(8)
    expectAll(reading, byId(expected))
    expect(reading.open.join()).not.toMatch(/image/)
  })

  it('skroutz.xml: further images, pieces, and a question where they contradict what is in stock', async () => {
    const expected = xmlItems('skroutz.xml', 'product').map((item) => {
      const document = {
        name: first(item, 'name'),
        url: first(item, 'link'),
        image_url: first(item, 'image'),
        alternate_image_urls: all(item, 'additional_imageurl'),
        price: Number(first(item, 'price_with_vat')),
        brand: first(item, 'manufacturer'),
        categories: [path(first(item, 'category'), '>')],
        inventory_level: Number(first(item, 'quantity')),
      }
      return [first(item, 'id') ?? '', document] as const
    })
    const reading = await readBy('skroutz.xml', 'EUR')
    expect(reading.products.size).toBe(149)
    expectAll(reading, byId(expected))
    expect(reading.open).toContainEqual(expect.stringMatching(/availability: .*"quantity" says/))
  })

  it('idealo-es.csv: compound headers', async () => {
    const last = new Map<string, Row>()
    for (const row of csvRows('idealo-es.csv')) last.set(row['N° artículo en tienda'] ?? '', row)
    last.delete('')
    const expected = [...last].map(([id, row]) => {
      const category = path(row['Categoría del producto en la tienda'], '>')
      const document = {
        name: row['Nombre del producto'],
        url: row['URL del producto'],
        image_url: row.URLimagen_1,
        brand: row['Fabricante / Marca'],
        categories: category === '' ? undefined : [category],
        price: Number(row.Precio),
        price_currency_code: 'EUR',
        inventory_level: Number(row.Unidades),
      }
      return [id, document] as const
    })
    const reading = await readBy('idealo-es.csv', 'EUR')
    expect(reading.products.size).toBe(1673)
    expect(reading.check).toMatchObject({ applied: 1673, rejected: 2, superseded: 1 })
    expectAll(reading, byId(expected))
    const described = [...last.values()].filter(
      (row) => (row['Descripción del producto'] ?? '').trim() !== '',
    )
    const texts = [...reading.products.values()].filter(({ description }) => description !== undefined)
    expect(texts.length).toBeGreaterThan(described.length * 0.98)
  })

  it('meta-pl.csv and meta-epages.csv: one product an id, or a group', async () => {
    for (const [name, currency, count] of [
      ['meta-pl.csv', 'PLN', 10],
      ['meta-epages.csv', undefined, 6],
    ] as const) {
      const groups = Map.groupBy(csvRows(name), (row) => row.item_group_id || (row.id ?? ''))
      const expected = [...groups].map(([id, rows]) => {
        const amounts = rows.map((row) =>
          Math.min(Number.parseFloat(row.sale_price || row.price || ''), Number.parseFloat(row.price ?? '')),
        )
        const document = {
          name: rows[0]?.title,
          url: rows[0]?.link,
          image_url: rows[0]?.image_link?.trim(),
          price: Math.min(...amounts),
          price_currency_code: currency ?? 'EUR',
          alternate_image_urls:
            rows[0]?.additional_image_link?.split(',').filter((text) => text !== '') ?? undefined,
        }
        const images = document.alternate_image_urls
        return [id, { ...document, alternate_image_urls: images?.length ? images : undefined }] as const
      })
      const reading = await readBy(name, currency)
      expect(reading.products.size, name).toBe(count)
      expect(reading.check.ids?.unreadable, name).toBe(0)
      expectAll(reading, byId(expected))
    }
  })

  it('shopify-products.json: the address by the handle, a SKU for each variant', async () => {
    const expected = jsonRows<ShopifyProduct>('shopify-products.json').map((product) => {
      const amounts = product.variants.map(({ price }) => Number(price))
      const document = {
        name: product.title,
        url: `https://shop.example/products/${product.handle}`,
        image_url: product.images[0]?.src,
        alternate_image_urls: product.images.map(({ src }) => src),
        price: Math.min(...amounts),
        brand: product.vendor,
        availability: product.variants.some(({ available }) => available) ? 'InStock' : 'OutOfStock',
      }
      return [String(product.id), document] as const
    })
    const reading = await readBy('shopify-products.json', 'EUR')
    expect(reading.products.size).toBe(30)
    expectAll(reading, byId(expected))
    for (const product of jsonRows<ShopifyProduct>('shopify-products.json'))
      expect(reading.products.get(String(product.id))?.skus).toHaveLength(product.variants.length)
  })

  it('shopify-flat-variants.json: rows of one product', async () => {
    const groups = Map.groupBy(jsonRows<ShopifyVariant>('shopify-flat-variants.json'), ({ product_id }) =>
      String(product_id),
    )
    const expected = [...groups].flatMap(([id, rows]) => {
      const image = rows.find(({ image_url }) => image_url)?.image_url
      if (!image) return []
      const document = {
        url: `https://shop.example/products/${rows[0]?.handle}`,
        price: Math.min(...rows.map(({ price }) => price)),
        inventory_level: rows.reduce((sum, { stock }) => sum + stock, 0),
        availability: rows.some(({ available }) => available) ? 'InStock' : 'OutOfStock',
        brand: rows[0]?.vendor,
      }
      return [[id, document] as const]
    })
    const reading = await readBy('shopify-flat-variants.json', 'CLP')
    expect(reading.products.size).toBe(534)
    expectAll(reading, byId(expected))
    for (const [id, { skus }] of reading.products) {
      const ids = (skus as Document[]).map((sku) => sku.id)
      expect(ids, id).toEqual(groups.get(id)?.map(({ variant_id }) => String(variant_id)))
    }
  })

  it('woo-like.json: all images', async () => {
    const expected = jsonRows<WooProduct>('woo-like.json').map((product) => {
      const document = {
        name: product.name,
        url: product.permalink,
        image_url: product.main_image,
        alternate_image_urls: product.all_images.split(';').map((text) => text.trim()),
        price: Number(product.price),
        price_currency_code: 'RSD',
      }
      return [String(product.id), document] as const
    })
    const reading = await readBy('woo-like.json', 'RSD')
    expect(reading.products.size).toBe(96)
    expectAll(reading, byId(expected))
  })

  it('google-plain-dollar.xml: prices in the currency that the user names', async () => {
    const groups = Map.groupBy(xmlItems('google-plain-dollar.xml', 'item'), (item) => {
      return first(item, 'item_group_id') ?? first(item, 'id') ?? ''
    })
    const known = [...groups].filter(([, items]) =>
      items.every((item) => first(item, 'availability') !== 'Промо'),
    )
    const expected = known.map(([id, items]) => {
      const amounts = items.map((item) => Number(first(item, 'price')?.replace(/[$,]/g, '')))
      return [id, { price: Math.min(...amounts), price_currency_code: 'CAD' }] as const
    })
    const reading = await readBy('google-plain-dollar.xml', 'CAD')
    expect(groups.size).toBe(35)
    expect(reading.products.size).toBe(30)
    expectAll(reading, byId(expected))
    expect(reading.open).toContainEqual(expect.stringMatching(/availability: .*"Промо"/))
  })

  it('marketplace-json-cells.csv: the description is a text, each amount from its cell', async () => {
    const name = 'marketplace-json-cells.csv'
    const groups = Map.groupBy(csvRows(name), ({ product_id = '' }) => product_id)
    const expected = [...groups].map(([id, rows]) => {
      const document = {
        image_url: JSON.parse(rows[0]?.images ?? '[]')[0],
        price: Math.min(...rows.map((row) => Number(row.final_price))),
        price_currency_code: rows[0]?.currency,
        rating_value: rows[0]?.rating,
        review_count: rows[0]?.reviews_count_item,
      }
      return [id, document] as const
    })
    const reading = await readBy(name)
    expect(reading.products.size).toBe(11)
    expectAll(reading, byId(expected))
    for (const [id, rows] of groups) {
      const text = JSON.parse(rows[0]?.item_details ?? '[]').join('\n')
      expect(bare(reading.products.get(id)?.description), id).toBe(bare(text))
    }
    expect(reading.open).toContainEqual(expect.stringMatching(/"photos_from_reviews" holds images/))
  })

  it('woocommerce-ru.csv: the preset knows the headers, and drafts are invisible', async () => {
    const { products, check } = await readBy('woocommerce-ru.csv', 'RUB')
    expect(check.refused ?? check.missingColumns).toBeUndefined()
    const states = [...products].map(([id, { availability }]) => [id, availability])
    expect(Object.fromEntries(states)).toMatchObject({
      40: 'InStock',
      139: 'InStock',
      140: 'Invisible',
      141: 'Invisible',
    })
    expect(products.get('40')).toMatchObject({
      price: 240,
      price_currency_code: 'RUB',
      categories: ['Женская одежда'],
    })
  })
})
