import type { ScriptArgument } from '../redis/scripts.ts'
import type { Refusal } from './model.ts'

const refusedInARowMax = 20

interface RejectOptions {
  token: string
  last: '0' | '1'
  unnamed: '0' | '1'
  refusals: readonly Refusal[]
  /** ISO 8601. */
  at: string
  /** For people: what was refused. */
  noun: 'products' | 'consents'
}

/** Arguments of `reject`. */
export function rejectArguments({
  token,
  last,
  unnamed,
  refusals,
  at,
  noun,
}: RejectOptions): ScriptArgument[] {
  const hint = `the endpoint refused ${refusedInARowMax} ${noun} in a row without naming any and took none; see its last answer, then resume`
  const letters = refusals.flatMap(({ productId, digest, reason, status, requestId }) => [
    productId,
    digest,
    JSON.stringify({ reason, status, requestId, at }),
  ])
  return [token, last, unnamed, refusedInARowMax, JSON.stringify({ since: at, hint }), ...letters]
}
