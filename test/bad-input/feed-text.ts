/** Text of feed files for the cases: a product has the contract's required fields, and any of them can be made wrong. */
export const columns = [
  'product_id',
  'name',
  'url',
  'image_url',
  'availability',
  'price',
  'price_currency_code',
] as const

export type Cells = Partial<Record<(typeof columns)[number], string>>

/** One line of CSV without its end. `more`: cells behind the required ones, as they are. */
export function row(id: string, cells: Cells = {}, more = ''): string {
  const values: Record<string, string> = {
    product_id: id,
    name: 'Pan',
    url: 'https://shop.example/p',
    image_url: 'https://shop.example/p.jpg',
    availability: 'InStock',
    price: '12.5',
    price_currency_code: 'EUR',
    ...cells,
  }
  return columns.map((column) => values[column]).join(',') + more
}

/** A whole file; `more`: further columns of its header. */
export function csv(rows: readonly string[], more = ''): string {
  return [columns.join(',') + more, ...rows].map((line) => `${line}\n`).join('')
}

/** The product of `row` as it goes over the wire. */
export function wire(id: string, fields: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    product_id: id,
    name: 'Pan',
    url: 'https://shop.example/p',
    image_url: 'https://shop.example/p.jpg',
    availability: 'InStock',
    price: 12.5,
    price_currency_code: 'EUR',
    ...fields,
  }
}

/** A line of NDJSON without its end. */
export function json(id: unknown, fields: Record<string, unknown> = {}): string {
  return JSON.stringify({ ...wire('any'), product_id: id, ...fields })
}
