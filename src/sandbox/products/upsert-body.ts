import { isUtf8 } from 'node:buffer'
import { arrayElements } from './array-elements.ts'
import { productIdOf } from './lenient-product.ts'

/** The products of one body, three views of the same list. */
export interface UpsertBody {
  kind: 'products'
  products: readonly unknown[]
  /** Exactly the bytes that were sent of each product; views into the body. */
  documents: readonly Buffer[]
  /** Empty where a product has no usable id. */
  ids: readonly string[]
}

export type ParsedBody = UpsertBody | { kind: 'unreadable'; message: string }

const byteOrderMark = Buffer.from('\ufeff')

export function parseUpsertBody(sent: Buffer): ParsedBody {
  const hasMark = sent.subarray(0, byteOrderMark.length).equals(byteOrderMark)
  const bytes = hasMark ? sent.subarray(byteOrderMark.length) : sent
  if (bytes.length === 0)
    return unreadable('the body is empty; send a JSON array of products, or [] to try a token')
  if (!isUtf8(bytes)) return unreadable('the body is not valid UTF-8; encode the JSON as UTF-8')
  let products: unknown
  try {
    products = JSON.parse(bytes.toString('utf8'))
  } catch (error) {
    return unreadable(`the body is not JSON (${error instanceof Error ? error.message : 'unknown error'})`)
  }
  if (!Array.isArray(products)) {
    return unreadable(`the body is ${nameOf(products)}; send a JSON array of products, even for one product`)
  }
  return { kind: 'products', products, documents: arrayElements(bytes), ids: products.map(productIdOf) }
}

function unreadable(message: string): ParsedBody {
  return { kind: 'unreadable', message }
}

function nameOf(value: unknown): string {
  if (value === null) return 'null'
  return typeof value === 'object' ? 'a single JSON object' : `a JSON ${typeof value}`
}
