import { amount, list, type Row, type Spoken, text } from './reference.ts'

export interface FeedBytes {
  name: string
  /** As it is dropped. */
  bytes: Uint8Array
  /** What the bytes say, for the reference. */
  text: string
  delimiter: string
  encoding: 'utf-8' | 'utf-16le' | 'windows-1252'
}

/** A feed twice: as configuration for the program, and as code for the reference. */
export interface AcceptanceFeed {
  name: string
  mode: 'full' | 'delta'
  /** The `fields` of the feed. */
  yaml: string
  files: () => FeedBytes[]
  read: (row: Row) => Spoken
}

interface Folder {
  list: (folder: string) => string[]
  read: (file: string) => string
}

export function sharedFeeds(folder: Folder): AcceptanceFeed[] {
  const plain = (file: string, delimiter = ','): FeedBytes => {
    const content = folder.read(file)
    const name = file.slice(file.lastIndexOf('/') + 1)
    return { name, bytes: Buffer.from(content), text: content, delimiter, encoding: 'utf-8' }
  }
  // Backwards, so that the order of the names is not the order of the files.
  const amazonFiles = folder
    .list('amazon')
    .reverse()
    .map((name) => `amazon/${name}`)
  return [
    { ...shopify, name: 'shopify', files: () => [plain('shopify/jewelery.csv')] },
    { ...amazon(''), name: 'amazon', files: () => amazonFiles.map((file) => plain(file)) },
    { ...amazon('wide-'), name: 'transcoded', files: () => [transcoded(plain('amazon/Baby Fashion.csv'))] },
    { ...woocommerce, name: 'woocommerce', files: () => [plain('woocommerce/sample_products.csv')] },
    { ...prestashop, name: 'prestashop', files: () => [plain('prestashop/products_import.csv', ';')] },
  ]
}

/** UTF-16LE with a byte order mark, semicolons, CRLF: what a spreadsheet makes of a file that is "saved as text". */
function transcoded({ name, text: content, delimiter }: FeedBytes): FeedBytes {
  let quoted = false
  let wide = '\uFEFF'
  for (const char of content.replaceAll('\r', '')) {
    if (char === '"') quoted = !quoted
    if (char === delimiter && !quoted) wide += ';'
    else if (char === '\n' && !quoted) wide += '\r\n'
    // A semicolon inside a cell that nobody quoted would end the cell now.
    else if (char === ';' && !quoted) wide += ','
    else wide += char
  }
  return { name, bytes: Buffer.from(wide, 'utf16le'), text: wide, delimiter: ';', encoding: 'utf-16le' }
}

const shopify: Omit<AcceptanceFeed, 'name' | 'files'> = {
  mode: 'full',
  yaml: `
product_id: "{Handle}-{Option1 Value}"
name: { column: [Title, Handle] }
url: "https://shop.example/products/{Handle}"
image_url: { column: [Variant Image, Image Src] }
availability: { column: Variant Inventory Qty, when: { "<=0": OutOfStock, "": OutOfStock }, otherwise: InStock }
price: Variant Price
price_currency_code: { value: USD }
list_price: Variant Compare At Price
description: Body (HTML)
brand: Vendor
tag1: { column: Tags, split: "," }
inventory_level: Variant Inventory Qty
`,
  read: (row) => {
    const [handle, option] = [row.cell('Handle'), row.cell('Option1 Value')]
    const stock = amount(row.cell('Variant Inventory Qty'))
    return {
      id: handle === '' || option === '' ? undefined : `${handle}-${option}`,
      values: {
        name: text(row.cell('Title')) ?? text(handle),
        url: `https://shop.example/products/${handle}`,
        image_url: text(row.cell('Variant Image')) ?? text(row.cell('Image Src')),
        availability: stock === undefined || stock <= 0 ? 'OutOfStock' : 'InStock',
        price: amount(row.cell('Variant Price')),
        price_currency_code: 'USD',
        list_price: amount(row.cell('Variant Compare At Price')),
        description: text(row.cell('Body (HTML)')),
        brand: text(row.cell('Vendor')),
        tag1: list(row.cell('Tags'), ','),
        inventory_level: stock,
      },
    }
  },
}

const amazon = (prefix: string): Omit<AcceptanceFeed, 'name' | 'files'> => ({
  // Twelve files that each hold a part of the shop: what one does not name is in another.
  mode: 'delta',
  yaml: `
product_id: { column: link, pattern: "/dp/(?P<asin>[A-Z0-9]{10})", result: "${prefix}{asin}" }
name: name
url: { column: link, pattern: "^(?P<address>https://.*/dp/[A-Z0-9]{10})" }
image_url: image
availability: { value: InStock }
price: { column: [discount_price, actual_price], thousands: "," }
price_currency_code: { value: INR }
list_price: { column: actual_price, thousands: "," }
categories: { template: "{main_category} > {sub_category}", separator: ">", split: "|" }
rating_value: { column: ratings, pattern: "^([0-9.]*)" }
review_count: { column: no_of_ratings, pattern: "^([0-9,]*)", thousands: "," }
`,
  read: (row) => {
    const link = row.cell('link')
    const at = link.indexOf('/dp/')
    const leading = (cell: string, marks: string) => {
      let length = 0
      while (length < cell.length && marks.includes(cell.charAt(length))) length += 1
      return text(cell.slice(0, length))
    }
    return {
      id: at < 0 ? undefined : prefix + link.slice(at + 4, at + 14),
      values: {
        name: text(row.cell('name')),
        url: link.slice(0, at + 14),
        image_url: text(row.cell('image')),
        availability: 'InStock',
        price: amount(row.cell('discount_price') || row.cell('actual_price'), ','),
        price_currency_code: 'INR',
        list_price: amount(row.cell('actual_price'), ','),
        categories: [`${row.cell('main_category')}/${row.cell('sub_category')}`],
        rating_value: leading(row.cell('ratings'), '0123456789.'),
        review_count: leading(row.cell('no_of_ratings'), '0123456789,')?.replaceAll(',', ''),
      },
    }
  },
})

const woocommerce: Omit<AcceptanceFeed, 'name' | 'files'> = {
  mode: 'full',
  yaml: `
product_id: SKU
name: Name
url: "https://woo.example/?p={ID}"
image_url: { column: Images, pattern: "^([^,]+)" }
alternate_image_urls: { column: Images, split: "," }
availability: { column: "In stock?", when: { "1": InStock }, otherwise: OutOfStock }
inventory_level: Stock
price: { column: [Sale price, Regular price] }
price_currency_code: { value: AUD }
list_price: Regular price
categories: { column: Categories, split: ",", separator: ">" }
description: Description
tag1: { column: Tags, split: "," }
custom_fields: { entries: { kind: Type, visibility: Visibility in catalog } }
`,
  read: (row) => {
    const images = list(row.cell('Images'), ',')
    const inStock = row.cell('In stock?')
    const paths = list(row.cell('Categories'), ',')?.map((path) => list(path, '>')?.join('/'))
    return {
      id: text(row.cell('SKU')),
      values: {
        name: text(row.cell('Name')),
        url: `https://woo.example/?p=${row.cell('ID')}`,
        image_url: images?.[0],
        alternate_image_urls: images,
        availability: inStock === '' ? undefined : inStock === '1' ? 'InStock' : 'OutOfStock',
        inventory_level: amount(row.cell('Stock')),
        price: amount(row.cell('Sale price') || row.cell('Regular price')),
        price_currency_code: 'AUD',
        list_price: amount(row.cell('Regular price')),
        categories: paths,
        description: text(row.cell('Description')),
        tag1: list(row.cell('Tags'), ','),
        custom_fields: { kind: row.cell('Type'), visibility: row.cell('Visibility in catalog') },
      },
    }
  },
}

const prestashop: Omit<AcceptanceFeed, 'name' | 'files'> = {
  mode: 'full',
  yaml: `
product_id: "presta-{id}"
name: "Name*"
url: "https://presta.example/{URL rewritten}"
image_url: { column: "Image URLs (x,y,z,...)", pattern: "^([^,]+)" }
alternate_image_urls: { column: "Image URLs (x,y,z,...)", split: "," }
availability: { column: Quantity, when: { ">0": InStock }, otherwise: OutOfStock }
inventory_level: Quantity
price: Price tax excl.
supplier_cost: Wholesale price
price_currency_code: { value: EUR }
categories: { column: "Categories (x,y,z,...)", split: "," }
brand: Manufacturer
description: { column: [Description, Short description] }
tag1: { column: "Tags (x,y,z,...)", split: "," }
date_published: Date add product
custom_fields: { entries: { height: "Feature:Height", battery: "Feature:Battery Life" } }
`,
  read: (row) => {
    const images = list(row.cell('Image URLs (x,y,z,...)'), ',')
    const stock = amount(row.cell('Quantity'))
    return {
      id: `presta-${row.cell('id')}`,
      values: {
        name: text(row.cell('Name*')),
        url: `https://presta.example/${row.cell('URL rewritten')}`,
        image_url: images?.[0],
        alternate_image_urls: images,
        availability: stock !== undefined && stock > 0 ? 'InStock' : 'OutOfStock',
        inventory_level: stock,
        price: amount(row.cell('Price tax excl.')),
        supplier_cost: amount(row.cell('Wholesale price')),
        price_currency_code: 'EUR',
        categories: list(row.cell('Categories (x,y,z,...)'), ','),
        brand: text(row.cell('Manufacturer')),
        description: text(row.cell('Description')) ?? text(row.cell('Short description')),
        tag1: list(row.cell('Tags (x,y,z,...)'), ','),
        date_published: text(row.cell('Date add product')),
        custom_fields: { height: row.cell('Feature:Height'), battery: row.cell('Feature:Battery Life') },
      },
    }
  },
}
