import { randomUUID } from 'node:crypto'
import { recommendationsMax } from '../api/contract/intent.ts'
import type { IntentClient } from '../api/intent-client.ts'
import type { ProductId } from '../lib/brand.ts'
import type { MirrorReader } from '../mirror/model.ts'
import { compareProduct, type FieldDifference } from './verify-compare.ts'

/** What the service answers for a product, held against what we would send. */
export type Verified =
  | { productId: string; outcome: 'unknown' | 'incomplete' }
  | ({ productId: string; prompt: string; pending: boolean } & (
      | { outcome: 'matches' }
      | { outcome: 'differs'; differences: FieldDifference[] }
      | { outcome: 'not-returned'; returned: number; availability: unknown }
    ))

export interface VerifyOptions {
  client: IntentClient
  mirror: MirrorReader
  partnerId: string
  signal: AbortSignal
}

/**
 * Asks for each product by name and brand, one after the other, each as a shopper of its own in a conversation of its
 * own, so that no answer depends on another.
 */
export async function* verifyProducts(
  ids: readonly string[],
  options: VerifyOptions,
): AsyncGenerator<Verified, void, undefined> {
  for (const productId of new Set(ids)) {
    options.signal.throwIfAborted()
    yield await verifyProduct(productId, options)
  }
}

async function verifyProduct(productId: string, options: VerifyOptions): Promise<Verified> {
  const { client, partnerId, signal } = options
  const known = readKnown(productId as ProductId, options)
  if (typeof known === 'string') return { productId, outcome: known }
  const { document, pending } = known
  const prompt = promptFor(document)
  const response = await client.ask(
    {
      prompt,
      partnerId,
      customerId: `verify-${randomUUID()}`,
      chatId: randomUUID(),
      rankingOnly: true,
      maxAgentRecommendations: recommendationsMax,
    },
    { signal },
  )
  const returned = response.agentProductRecommendations ?? []
  const theirs = returned.find((product) => String(product.productId) === productId)
  const asked = { productId, prompt, pending }
  if (theirs === undefined) {
    return {
      ...asked,
      outcome: 'not-returned',
      returned: returned.length,
      availability: document.availability,
    }
  }
  const differences = compareProduct(document, theirs)
  return differences.length === 0
    ? { ...asked, outcome: 'matches' }
    : { ...asked, outcome: 'differs', differences }
}

interface Known {
  document: Readonly<Record<string, unknown>>
  /** The newest document is not acknowledged yet: a difference is to be expected. */
  pending: boolean
}

function readKnown(id: ProductId, { mirror }: VerifyOptions): Known | 'unknown' | 'incomplete' {
  const { meta, document } = mirror.read([id]).get(id) ?? {}
  if (document === undefined) return meta === undefined ? 'unknown' : 'incomplete'
  return { document: JSON.parse(document.toString('utf8')), pending: mirror.isUnsent(id) }
}

/** The brand only where the name does not say it. */
function promptFor({ name, brand }: Known['document']): string {
  const [title, maker] = [textOf(name), textOf(brand)]
  return title.toLowerCase().includes(maker.toLowerCase()) ? title : `${title} ${maker}`
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value.trim() : ''
}
