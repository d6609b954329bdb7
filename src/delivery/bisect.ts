import { bodyBytesOf } from '../api/call-body.ts'
import type { ClaimedProduct } from '../outbox/model.ts'

/** Products of one call. Never empty. */
export type Part = readonly ClaimedProduct[]

export function partBytes(part: Part): number {
  const documentBytes = part.reduce((sum, { document }) => sum + document.length, 0)
  return bodyBytesOf({ count: part.length, documentBytes })
}

/** Length of the body that holds only the largest of these documents. */
export function largestSingleBytes(part: Part): number {
  return part.reduce((largest, product) => Math.max(largest, partBytes([product])), 0)
}

/**
 * Two halves by count, so that one refused product among n is found in ⌈log₂ n⌉ steps: a call that fails has such a
 * product in it, and each costs at most two calls per step.
 */
export function halveByCount(part: Part): Part[] {
  return cut(part, Math.ceil(part.length / 2))
}

/**
 * The same products in any order. Neighbours in a feed often share a fault, and twenty of them refused one after another
 * would look like an endpoint that refuses everything.
 */
export function shuffle(part: Part, random: () => number): Part {
  const shuffled = [...part]
  for (let last = shuffled.length - 1; last > 0; last--) {
    const other = Math.floor(random() * (last + 1))
    const product = shuffled[last] as ClaimedProduct
    shuffled[last] = shuffled[other] as ClaimedProduct
    shuffled[other] = product
  }
  return shuffled
}

/** Two parts of about equal bytes, neither of them empty. */
export function halveByBytes(part: Part): Part[] {
  const half = partBytes(part) / 2
  let bytes = 0
  const middle = part.findIndex(({ document }) => {
    bytes += document.length + 1
    return bytes > half
  })
  return cut(part, Math.min(part.length - 1, Math.max(1, middle)))
}

/** Parts of at most so many bytes each; a product that alone exceeds them stands alone. */
export function packParts(products: Part, bodyBytesMax: number): Part[] {
  const parts: ClaimedProduct[][] = []
  let current: ClaimedProduct[] = []
  let bytes = 2
  for (const product of products) {
    const added = product.document.length + (current.length > 0 ? 1 : 0)
    if (current.length > 0 && bytes + added > bodyBytesMax) {
      parts.push(current)
      current = []
      bytes = 2
    }
    bytes += product.document.length + (current.length > 0 ? 1 : 0)
    current.push(product)
  }
  if (current.length > 0) parts.push(current)
  return parts
}

function cut(part: Part, at: number): Part[] {
  return [part.slice(0, at), part.slice(at)].filter((half) => half.length > 0)
}
