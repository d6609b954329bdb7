import type { Lane } from '../../src/catalog/model.ts'
import type { ProductId } from '../../src/lib/brand.ts'
import type { ProductWrite } from '../../src/mirror/model.ts'

export function idOf(n: number): ProductId {
  return `p${n}` as ProductId
}

export function documentOf(n: number, price: string): Buffer {
  return Buffer.from(JSON.stringify({ product_id: idOf(n), price }))
}

/** As an import writes it when the price has changed. */
export function writeOf(n: number, price: string, lane: Lane = 'new'): ProductWrite {
  const document = documentOf(n, price)
  return {
    productId: idOf(n),
    document,
    partial: undefined,
    meta: 'products=1',
    incomplete: undefined,
    lane,
  }
}
