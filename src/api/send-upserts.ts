import { strict as assert } from 'node:assert'
import type { CallOutcome } from './call-outcome.ts'
import { classify, isAboutProducts, type ProductVerdict, productCalls } from './classify.ts'
import { hideSecrets } from './hide-secrets.ts'
import { describeRefusal } from './named-refusals.ts'
import { type AnsweredCall, requireTaken } from './read-answer.ts'
import { settlePart } from './settle-part.ts'
import type { PreparedProduct, UpsertProgress } from './upsert-batch.ts'
import { UpsertError } from './upsert-error.ts'

/** When so many in a row are refused one by one and none is taken, the endpoint refuses everything. */
const refusedInRowMax = 20

interface AnsweredUpsert {
  outcome: CallOutcome
  call: AnsweredCall
}

export type CallUpsert = (products: readonly PreparedProduct[]) => Promise<AnsweredUpsert>

/**
 * Sends products in one call, and where the answer asks for it in smaller ones, until each is settled in `progress`.
 * Throws `UpsertError` when a call fails for another reason than its products.
 */
export async function sendUpserts(
  products: readonly PreparedProduct[],
  progress: UpsertProgress,
  callUpsert: CallUpsert,
): Promise<void> {
  const parts = products.length === 0 ? [] : [products]
  let refusedInRow = 0
  for (let part = parts.pop(); part !== undefined; part = parts.pop()) {
    try {
      progress.calls += 1
      const answered = await callUpsert(part)
      const verdict = judge(answered, part)
      const { taken, refused, refusedAlone, again } = settlePart(part, verdict, Math.random)
      if (refusedAlone) refusedInRow += 1
      else if (verdict.kind === 'acknowledge') refusedInRow = 0
      // Nothing is wrong with so many products.
      if (refusedInRow >= refusedInRowMax) fail(answered)
      progress.take(taken)
      for (const { product, reason } of refused) progress.refuse(toRefused(product, reason, answered))
      if (refusedAlone) progress.refuse(toRefused(refusedAlone, describeAlone(answered), answered))
      parts.push(...again)
    } catch (cause) {
      const unsettled = [part, ...parts.toReversed()].flat().map(({ productId }) => productId)
      throw new UpsertError(cause, { result: progress.toResult(), unsettled })
    }
  }
}

function judge({ outcome, call }: AnsweredUpsert, part: readonly PreparedProduct[]): ProductVerdict {
  const productIds = part.map(({ productId }) => productId)
  const verdict = classify({ outcome, calls: productCalls, productIds, now: call.now })
  const isRefusal = outcome.kind === 'response' && [400, 422].includes(outcome.status)
  // Other answers may be about a product, too (a 2xx with errors that name none, a filter's 4xx). The caller hears of them.
  if (!isAboutProducts(verdict) || (verdict.kind === 'bisect' && !isRefusal)) fail({ outcome, call })
  return verdict
}

/** Throws what the endpoint says. */
function fail({ outcome, call }: AnsweredUpsert): never {
  requireTaken(outcome, call, 'products')
  assert.fail('a call that was taken counts as failed')
}

function describeAlone({ outcome }: AnsweredUpsert): string {
  assert(outcome.kind === 'response', 'a call without an answer refuses nothing')
  if (outcome.status === 413) return 'the server takes no body of this size'
  return describeRefusal(outcome.body)
}

function toRefused({ productId, index }: PreparedProduct, reason: string, { call }: AnsweredUpsert) {
  return { productId, index, by: 'server', reasons: [hideSecrets(reason, call.secrets)] } as const
}
