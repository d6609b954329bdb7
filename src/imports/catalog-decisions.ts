import type { ConsentStore } from '../consents/store.ts'
import type { MirrorChunk } from '../mirror/model.ts'
import type { Mirror } from '../mirror/reader.ts'
import type { DecisionLine } from '../sources/model.ts'
import { productPages } from './known-products.ts'

/**
 * Carries out a decision about the products of the catalog as a whole: the mirror remembers it, and makes Redis follow.
 * Safe to repeat.
 */
export async function applyCatalogDecision(
  mirror: Mirror,
  line: DecisionLine,
  signal: AbortSignal,
): Promise<void> {
  if ('of' in line && line.of === 'consents') return
  const change = (chunk: Omit<MirrorChunk, 'writes'>) => mirror.update([], () => ({ writes: [], ...chunk }))
  switch (line.decision) {
    case 'pause':
    case 'resume':
      return change({ calls: { decision: line.decision, at: line.at } })
    case 'drop-dead': {
      const { ids, digests = [] } = line
      return change({
        dropDead: ids.map((productId, index) => ({
          productId,
          digest: Buffer.from(digests[index] ?? '', 'hex'),
        })),
      })
    }
    case 'retry-dead':
      return change({ retryDead: line.ids })
    case 'resync':
      if (line.ids.length > 0) return change({ resend: line.ids })
      for await (const page of productPages(mirror, signal)) {
        await change({ resend: page.map(({ productId }) => productId) })
      }
      return
    case 'approve':
    case 'discard':
      throw new Error(`${line.decision} is a decision about a feed`)
    default:
      line satisfies never
  }
}

/** The same for the consents of the catalog. */
export function applyConsentDecision(consents: ConsentStore, line: DecisionLine): void {
  if ('of' in line && line.of === 'products') return
  switch (line.decision) {
    case 'pause':
    case 'resume':
      consents.pause(line.decision)
      return
    case 'retry-dead':
    case 'drop-dead':
      if (line.of === 'consents')
        consents.settle(line.decision === 'retry-dead' ? 'retry' : 'drop', line.ids, line.sequence)
      return
    case 'resync':
      // Of products: a consent is never sent again.
      return
    case 'approve':
    case 'discard':
      throw new Error(`${line.decision} is a decision about a feed`)
    default:
      line satisfies never
  }
}
