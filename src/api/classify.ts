import type { ProductId } from '../lib/brand.ts'
import { parseRetryAfter } from '../lib/retry-after.ts'
import type { CallOutcome, CallResponse } from './call-outcome.ts'
import { hideSecrets } from './hide-secrets.ts'
import { describeRefusal, findNamedRefusals, type NamedRefusal } from './named-refusals.ts'
import { readTaken, type TakingGroup } from './taken-answer.ts'

/**
 * What is done after a call. All of it is decided here, from this table:
 *
 * | outcome                                        | verdict                                                        |
 * |------------------------------------------------|----------------------------------------------------------------|
 * | 2xx with the body of this API                  | acknowledge, except products that the body refuses by name     |
 * | 2xx with errors that name none of the call     | bisect                                                         |
 * | 2xx with any other body                        | retry with a hint: another server answers, nothing is taken    |
 * | 400, 422 naming products of the call           | reject: those, the rest is sent again                          |
 * | 400, 422 naming none of them                   | bisect                                                         |
 * | 401                                            | pause                                                          |
 * | 403                                            | pause; right after a good probe it refuses content: bisect     |
 * | 406, 409, 418, 451 and any 4xx not listed      | bisect: filters in front of an endpoint answer so to a product |
 * | 413                                            | split                                                          |
 * | 429                                            | throttle                                                       |
 * | 408, 423, 424, 425                             | retry: nothing was taken, later it may be                      |
 * | 3xx, 402, 404, 405, 407, 410, 411, 415, 417,   | retry with a hint: the address, the account or something in    |
 * | 421, 426, 428, 431                             | between is wrong; no product is to blame, nothing is buried    |
 * | 404, 405, 410, 415, a 2xx with another body,   | bisect: others are taken (only where ids stand in the path)    |
 * | for a path that is to blame                    |                                                                |
 * | 500, 501, 503, 505 and any 5xx not listed      | retry                                                          |
 * | 502, 504, 520–527 (from something in between)  | unknown: the endpoint itself may have taken the call           |
 * | no connection                                  | retry                                                          |
 * | time-out, reset, half a response, 1xx, ≥ 600   | unknown                                                        |
 *
 * `Retry-After` is honoured on 429 and on every 5xx.
 */
export type Verdict = ProductVerdict | FailureVerdict

/** The endpoint judged the products of the call. */
export type ProductVerdict =
  | { kind: 'acknowledge'; refused: readonly NamedRefusal[] }
  | { kind: 'reject'; refused: readonly NamedRefusal[]; description: string }
  /** At least one product is refused, and it is not said which. */
  | { kind: 'bisect'; description: string }
  /** The body was too large. */
  | { kind: 'split'; description: string }

/** The call failed, and its products are not to blame. */
export type FailureVerdict =
  /** Nothing took effect that could take effect later. `afterMs`: the endpoint's wish, else the usual back-off. */
  | { kind: 'retry'; afterMs: number | undefined; description: string }
  | { kind: 'throttle'; afterMs: number | undefined; description: string }
  | { kind: 'pause'; description: string; hint: string }
  | { kind: 'unknown'; afterMs: number | undefined; description: string }

/** Whose calls these are, and which settings the operator should check when they fail. */
export interface CallKind {
  group: TakingGroup
  tokenAdvice: string
  addressAdvice: string
}

export const productCalls: CallKind = {
  group: 'products',
  tokenAdvice: 'Check the API_PRODUCTS token of this catalog',
  addressAdvice: 'Check `api.url` of this catalog',
}

/** Says with the advice where the token is corrected, where that is known. */
export function withTokenOf(calls: CallKind, { renewal }: { renewal?: string }): CallKind {
  return renewal ? { ...calls, tokenAdvice: `${calls.tokenAdvice} ${renewal}` } : calls
}

export interface ClassifyInput {
  outcome: CallOutcome
  calls: CallKind
  productIds: readonly ProductId[]
  /** What the call carried that no text of the verdict may show: the token, an address. */
  secrets: readonly string[]
  /** A probe was answered well within the last minute. Default: false. */
  recentlyProbed?: boolean
  /** What is sent stands in the path, and others are taken: see `PathRefusals`. Default: false. */
  pathToBlame?: boolean
  /** Wall-clock time, for `Retry-After` dates. */
  now: number
}

export function classify({ outcome, ...input }: ClassifyInput): Verdict {
  switch (outcome.kind) {
    case 'not-sent':
      return { kind: 'retry', afterMs: undefined, description: describeFailure(outcome, input) }
    case 'unknown':
      return { kind: 'unknown', afterMs: undefined, description: describeFailure(outcome, input) }
    case 'response':
      return classifyResponse(outcome, input)
    default:
      return outcome satisfies never
  }
}

export function isAboutProducts(verdict: Verdict): verdict is ProductVerdict {
  return ['acknowledge', 'reject', 'bisect', 'split'].includes(verdict.kind)
}

type Judging = Omit<ClassifyInput, 'outcome'>

function classifyResponse(response: CallResponse, input: Judging): Verdict {
  const { status } = response
  if (status >= 200 && status < 300) return classifySuccess(response, input)
  if (status >= 300 && status < 400) return retryRedirect(response, input)
  if (status >= 400 && status < 500) return classifyClientError(response, input)
  const afterMs = parseRetryAfter(response.headers['retry-after'], input.now)
  const description = describeAnswer(response, input)
  if (status >= 500 && status < 600 && !isFromBetween(status)) return { kind: 'retry', afterMs, description }
  return { kind: 'unknown', afterMs, description }
}

function classifySuccess(response: CallResponse, input: Judging): Verdict {
  const refused = findNamedRefusals(response.body, input.productIds, input.secrets)
  if (refused.length > 0) return { kind: 'acknowledge', refused }
  const answer = readTaken(response, input.calls.group, input.secrets)
  if (answer.kind === 'taken') return { kind: 'acknowledge', refused }
  if (answer.kind === 'errors') return { kind: 'bisect', description: describeAnswer(response, input) }
  const description = `the endpoint answered ${response.status}, but not as this API does, so that nothing counts as taken: ${answer.found}`
  if (input.pathToBlame) return { kind: 'bisect', description: `${description}; ${tookOthers}` }
  return { kind: 'retry', afterMs: undefined, description: `${description}. ${input.calls.addressAdvice}` }
}

function classifyClientError(response: CallResponse, input: Judging): Verdict {
  const { status } = response
  const description = describeAnswer(response, input)
  if (input.pathToBlame) return { kind: 'bisect', description: `${description}; ${tookOthers}` }
  const remedy = remedies.get(status)
  if (remedy !== undefined) {
    const check = remedy === checkUrl ? input.calls.addressAdvice : remedy
    return {
      kind: 'retry',
      afterMs: undefined,
      description: check ? `${description}. ${check}` : description,
    }
  }
  const hint = `${input.calls.tokenAdvice}; ${triedAgain}`
  switch (status) {
    case 401:
      return { kind: 'pause', description, hint }
    case 403:
      return input.recentlyProbed ? { kind: 'bisect', description } : { kind: 'pause', description, hint }
    case 413:
      return { kind: 'split', description }
    case 429: {
      const afterMs = parseRetryAfter(response.headers['retry-after'], input.now)
      return { kind: 'throttle', afterMs, description }
    }
    default:
      return refuseContent(response, input, description)
  }
}

function refuseContent(
  response: CallResponse,
  { productIds, secrets }: Judging,
  description: string,
): Verdict {
  const mayName = response.status === 400 || response.status === 422
  const refused = mayName ? findNamedRefusals(response.body, productIds, secrets) : []
  return refused.length > 0 ? { kind: 'reject', refused, description } : { kind: 'bisect', description }
}

function retryRedirect(response: CallResponse, { calls, secrets }: Judging): Verdict {
  const { location } = response.headers
  const target = location === undefined ? '' : ` to ${hideSecrets(location.replace(/\?.*$/s, ''), secrets)}`
  const description = `the endpoint answered ${response.status}, a redirect${target}, which is never followed. ${calls.addressAdvice}`
  return { kind: 'retry', afterMs: undefined, description }
}

const descriptionCharactersMax = 300
const tookOthers = 'it took others within the last minute'
const triedAgain = 'it is tried again every 5 to 30 s, and delivery resumes by itself once it is right'
/** The address that the calls use. */
const checkUrl = 'address'
const checkProxy = 'Check the proxies between here and the endpoint'

/** Statuses that no product causes, with what to check. */
const remedies: ReadonlyMap<number, string> = new Map([
  [402, 'Check the account at the API'],
  [404, checkUrl],
  [405, checkUrl],
  [407, checkProxy],
  [408, ''],
  [410, checkUrl],
  [411, checkProxy],
  [415, checkUrl],
  [417, checkProxy],
  [421, checkUrl],
  [423, ''],
  [424, ''],
  [425, ''],
  [426, checkUrl],
  [428, checkUrl],
  [431, checkProxy],
])

function isFromBetween(status: number): boolean {
  return status === 502 || status === 504 || (status >= 520 && status <= 527)
}

function describeFailure({ error }: Exclude<CallOutcome, CallResponse>, { secrets }: Judging): string {
  return hideSecrets(error.message, secrets)
}

function describeAnswer({ status, body }: CallResponse, { secrets }: Judging): string {
  return `the endpoint answered ${status}: ${describeRefusal(body, secrets).slice(0, descriptionCharactersMax)}`
}
