import type { ProductId } from '../lib/brand.ts'
import { bodyBytesOf } from './call-body.ts'
import type { ProductVerdict } from './classify.ts'

/** A document that a call carries, and the product it is of. */
export interface Sendable {
  productId: ProductId
  document: Uint8Array
}

/** What an answer settles of the products of its call. */
export interface Settled<P extends Sendable> {
  taken: readonly P[]
  /** By name, each with the endpoint's words. */
  refused: readonly { product: P; reason: string }[]
  /** It was alone in a call that was refused, or was too large. */
  refusedAlone?: P
  /** Parts that are to be sent again, the first one last. None is empty. */
  again: (readonly P[])[]
}

const nothing = { taken: [], refused: [], again: [] }

/**
 * Settles the products of one call, for the daemon and the client library: products refused by name are taken out, a
 * refusal that names none is halved by count, a body that was too large by bytes.
 *
 * One refused product among n is found in ⌈log₂ n⌉ steps: a call that fails has such a product in it, and each costs at
 * most two calls per step (G7).
 */
export function settlePart<P extends Sendable>(
  part: readonly P[],
  verdict: ProductVerdict,
  random: () => number,
): Settled<P> {
  if (verdict.kind === 'acknowledge' || verdict.kind === 'reject') {
    const reasons = new Map(verdict.refused.map(({ productId, reason }) => [productId, reason]))
    const rest: P[] = []
    const refused: { product: P; reason: string }[] = []
    for (const product of part) {
      const reason = reasons.get(product.productId)
      if (reason === undefined) rest.push(product)
      else refused.push({ product, reason })
    }
    // The API does not say whether a call that refuses some products took the rest. An upsert may be repeated.
    if (verdict.kind === 'acknowledge') return { ...nothing, taken: rest, refused }
    return { ...nothing, refused, again: rest.length > 0 ? [rest] : [] }
  }
  const [only] = part
  if (only !== undefined && part.length === 1) return { ...nothing, refusedAlone: only }
  if (verdict.kind === 'split') return { ...nothing, again: halveByBytes(part) }
  return { ...nothing, again: cut(shuffle(part, random), Math.ceil(part.length / 2)) }
}

/** Length of the body that holds these products. */
export function partBytes(part: readonly Pick<Sendable, 'document'>[]): number {
  const documentBytes = part.reduce((sum, { document }) => sum + document.length, 0)
  return bodyBytesOf({ count: part.length, documentBytes })
}

/** Two parts of about equal bytes, neither of them empty; the first one last. */
export function halveByBytes<P extends Sendable>(part: readonly P[]): (readonly P[])[] {
  const half = partBytes(part) / 2
  let bytes = 0
  const middle = part.findIndex(({ document }) => {
    bytes += document.length + 1
    return bytes > half
  })
  return cut(part, Math.min(part.length - 1, Math.max(1, middle)))
}

/**
 * The same products in any order. Neighbours in a feed often share a fault, and twenty of them refused one after another
 * would look like an endpoint that refuses everything.
 */
function shuffle<P>(part: readonly P[], random: () => number): readonly P[] {
  const shuffled = [...part]
  for (let last = shuffled.length - 1; last > 0; last--) {
    const other = Math.floor(random() * (last + 1))
    const product = shuffled[last] as P
    shuffled[last] = shuffled[other] as P
    shuffled[other] = product
  }
  return shuffled
}

function cut<P>(part: readonly P[], at: number): (readonly P[])[] {
  return [part.slice(at), part.slice(0, at)]
}
