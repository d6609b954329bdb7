import type { Refusal } from './model.ts'
import type { OpenClaims } from './open-claims.ts'
import type { ScriptArgument } from './scripts/scripts.ts'

/**
 * So many refusals without a name, and no acceptance between, are taken for an endpoint that refuses everything. Products
 * are sent in shuffled parts, so that neighbours with one fault do not add up.
 */
const refusedInARowMax = 20

interface RejectOptions {
  open: OpenClaims
  token: string
  last: '0' | '1'
  unnamed: '0' | '1'
  refusals: readonly Refusal[]
  /** ISO 8601. */
  at: string
}

/** Arguments of `reject`. */
export function rejectArguments({
  open,
  token,
  last,
  unnamed,
  refusals,
  at,
}: RejectOptions): ScriptArgument[] {
  const hint = `the endpoint refused ${refusedInARowMax} products in a row without naming any and took none; see its last answer, then resume`
  const letters = refusals.flatMap(({ reason, status, requestId, ...each }) => [
    each.productId,
    open.digestsOf(token, each),
    JSON.stringify({ reason, status, requestId, at }),
  ])
  return [token, last, unnamed, refusedInARowMax, JSON.stringify({ since: at, hint }), ...letters]
}
