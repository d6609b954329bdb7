import type { ProductId } from '../lib/brand.ts'
import type { CallOutcome } from './call-outcome.ts'
import { hideSecrets } from './hide-secrets.ts'
import { describeRefusal, findNamedRefusals } from './named-refusals.ts'
import { type AnsweredCall, readAnswer, requireTaken } from './read-answer.ts'
import type { PreparedProduct, UpsertProgress } from './upsert-batch.ts'
import { UpsertError } from './upsert-error.ts'

/** When so many in a row are refused one by one and none is taken, the endpoint refuses everything. */
const refusedInRowMax = 20

export type CallUpsert = (
  products: readonly PreparedProduct[],
) => Promise<{ outcome: CallOutcome; call: AnsweredCall }>

/** What an answer says about the products of its call. */
type Verdict =
  /** All but those. */
  | { kind: 'taken'; refused: ReadonlyMap<string, string> }
  /** Those are to blame; whether the rest was taken is not said. */
  | { kind: 'refused'; refused: ReadonlyMap<string, string> }
  /** One of them at least is to blame, or they are too many. */
  | { kind: 'unnamed'; reason: string }

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
      const { outcome, call } = await callUpsert(part)
      const verdict = judge(outcome, part, call)
      if (verdict.kind === 'unnamed' && part.length === 1) refusedInRow += 1
      else if (verdict.kind === 'taken') refusedInRow = 0
      // Nothing is wrong with so many products: throws what the endpoint says.
      if (refusedInRow >= refusedInRowMax) readAnswer(outcome, call)
      parts.push(...settle(part, verdict, progress))
    } catch (cause) {
      const unsettled = [part, ...parts.toReversed()].flat().map(({ id }) => id)
      throw new UpsertError(cause, { result: progress.toResult(), unsettled })
    }
  }
}

/** Notes what the verdict settles, and answers what is to be sent again: the part to send first stands last. */
function settle(
  part: readonly PreparedProduct[],
  verdict: Verdict,
  progress: UpsertProgress,
): (readonly PreparedProduct[])[] {
  const refuse = ({ id, index }: PreparedProduct, reason: string) =>
    progress.refuse({ productId: id, index, by: 'server', reasons: [reason] })
  if (verdict.kind === 'unnamed') {
    const [only] = part
    if (only === undefined || part.length > 1) {
      const middle = Math.ceil(part.length / 2)
      return [part.slice(middle), part.slice(0, middle)]
    }
    refuse(only, verdict.reason)
    return []
  }
  const rest: PreparedProduct[] = []
  for (const product of part) {
    const reason = verdict.refused.get(product.id)
    if (reason === undefined) rest.push(product)
    else refuse(product, reason)
  }
  if (verdict.kind === 'taken') progress.take(rest)
  return verdict.kind === 'refused' && rest.length > 0 ? [rest] : []
}

function judge(outcome: CallOutcome, part: readonly PreparedProduct[], call: AnsweredCall): Verdict {
  if (outcome.kind === 'response' && (outcome.status === 400 || outcome.status === 422)) {
    const refused = refusalsIn(outcome.body, part, call)
    if (refused.size > 0) return { kind: 'refused', refused }
    return { kind: 'unnamed', reason: hideSecrets(describeRefusal(outcome.body), call.secrets) }
  }
  if (outcome.kind === 'response' && outcome.status === 413) {
    return { kind: 'unnamed', reason: 'the server takes no body of this size' }
  }
  const { text } = readAnswer(outcome, call)
  const refused = refusalsIn(text, part, call)
  // Errors that name no product of this call leave open what was taken.
  if (refused.size === 0) requireTaken(outcome, call, 'products')
  return { kind: 'taken', refused }
}

function refusalsIn(
  body: string,
  part: readonly PreparedProduct[],
  { secrets }: AnsweredCall,
): ReadonlyMap<string, string> {
  const ids = part.map(({ id }) => id as ProductId)
  return new Map(
    findNamedRefusals(body, ids).map(({ productId, reason }) => [productId, hideSecrets(reason, secrets)]),
  )
}
