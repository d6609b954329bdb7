/**
 * A full file that is exported again and again: in each version a third of the products have a new price, a third a new
 * description, and some are gone for one version.
 */

export type Document = Record<string, string | number>

const columns = [
  'product_id',
  'name',
  'url',
  'image_url',
  'availability',
  'price',
  'price_currency_code',
  'description',
] as const

const words = 'Made in small batches by people who know the material and care how it ages. '.repeat(5)

export function productId(product: number): string {
  return `P${String(product).padStart(6, '0')}`
}

/** The file's bytes. Versions count from 1. */
export function versionFile(version: number, products: number): string {
  const rows = [columns.join(',')]
  for (let product = 0; product < products; product += 1) {
    if (!isNamed(product, version)) continue
    const document = documentOf(product, version)
    rows.push(columns.map((column) => document[column]).join(','))
  }
  return `${rows.join('\n')}\n`
}

/** What the endpoint should hold when files 1 … version were dropped in this order. */
export function expectedDocuments(version: number, products: number): Map<string, Document> {
  const expected = new Map<string, Document>()
  for (let product = 0; product < products; product += 1) {
    expected.set(productId(product), expectedDocument(product, version))
  }
  return expected
}

function expectedDocument(product: number, version: number): Document {
  if (isNamed(product, version)) return documentOf(product, version)
  return { ...documentOf(product, version - 1), availability: 'OutOfStock' }
}

function documentOf(product: number, version: number): Document {
  const kind = product % 3
  return {
    product_id: productId(product),
    name: `Pan ${product}`,
    url: `https://shop.example/p/${product}`,
    image_url: `https://shop.example/i/${product}.jpg`,
    availability: 'InStock',
    price: 10 + (product % 50) + (kind === 0 ? version : 0),
    price_currency_code: 'EUR',
    description: `${words}Edition ${kind === 1 ? version : 0}`,
  }
}

/** The first version names all, and none is gone twice in a row. */
function isNamed(product: number, version: number): boolean {
  return version === 1 || product % 41 !== version % 41
}
