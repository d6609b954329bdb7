import { parseJsonBody } from '../request-body.ts'
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

export function parseUpsertBody(sent: Buffer): ParsedBody {
  const parsed = parseJsonBody(sent, 'a JSON array of products, or [] to try a token')
  if (parsed.kind === 'unreadable') return parsed
  const { value: products, bytes } = parsed
  if (!Array.isArray(products)) {
    const message = `the body is ${nameOf(products)}; send a JSON array of products, even for one product`
    return { kind: 'unreadable', message }
  }
  return { kind: 'products', products, documents: arrayElements(bytes), ids: products.map(productIdOf) }
}

function nameOf(value: unknown): string {
  if (value === null) return 'null'
  return typeof value === 'object' ? 'a single JSON object' : `a JSON ${typeof value}`
}

const quoteByte = 0x22
const backslashByte = 0x5c
const commaByte = 0x2c

/**
 * The bytes of each element of a JSON array, as views into `json`. The text must already have been accepted by
 * JSON.parse as an array: nothing is checked here, so that a body is parsed once and its products are still kept
 * exactly as they were sent.
 */
function arrayElements(json: Buffer): Buffer[] {
  const elements: Buffer[] = []
  let depth = 0
  let start = 0
  for (let at = 0; at < json.length; at += 1) {
    const byte = json[at]
    if (byte === quoteByte) {
      at = closingQuote(json, at)
    } else if (byte === 0x5b || byte === 0x7b) {
      depth += 1
      if (depth === 1) start = at + 1
    } else if (byte === 0x5d || byte === 0x7d) {
      depth -= 1
      if (depth === 0) pushElement(elements, json.subarray(start, at))
    } else if (byte === commaByte && depth === 1) {
      pushElement(elements, json.subarray(start, at))
      start = at + 1
    }
  }
  return elements
}

/** Most bytes of a product stand inside strings: `indexOf` crosses them far faster than a loop. */
function closingQuote(json: Buffer, openedAt: number): number {
  let at = json.indexOf(quoteByte, openedAt + 1)
  while (at !== -1 && isEscaped(json, at)) at = json.indexOf(quoteByte, at + 1)
  return at === -1 ? json.length : at
}

function isEscaped(json: Buffer, at: number): boolean {
  let backslashes = 0
  while (json[at - 1 - backslashes] === backslashByte) backslashes += 1
  return backslashes % 2 === 1
}

function pushElement(elements: Buffer[], bytes: Buffer): void {
  let from = 0
  let to = bytes.length
  while (from < to && isBlank(bytes[from])) from += 1
  while (to > from && isBlank(bytes[to - 1])) to -= 1
  // Only the empty array has an empty element.
  if (to > from) elements.push(bytes.subarray(from, to))
}

function isBlank(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09
}
