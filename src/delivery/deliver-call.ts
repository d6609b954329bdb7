import type { CallOutcome } from '../api/call-outcome.ts'
import { classify, type Verdict } from '../api/classify.ts'
import { hideSecrets } from '../api/hide-secrets.ts'
import { partBytes } from '../api/upsert-batch.ts'
import type { Claim, ClaimedProduct } from '../outbox/model.ts'
import type { DeliveryContext } from './context.ts'
import { secretsOf } from './probe.ts'

export interface CallResult {
  verdict: Verdict
  /** Undefined when no response came. */
  status: number | undefined
  requestId: string | undefined
  bodyBytes: number
}

export interface CallRequest {
  part: readonly ClaimedProduct[]
  /** The claim's. */
  token: string
  /** Of the claim, where the call carries all of it. */
  lanes?: Claim['lanes'] | undefined
  /** Asked at the last moment before the request is written. */
  mayStart: () => boolean
  /** The call is given up when aborted: others may send its products. */
  lost: AbortSignal
}

/** One request: written down, sent, counted, judged. `withheld` when it may not start any more. */
export async function deliverCall(
  { part, token, lanes = undefined, mayStart, lost }: CallRequest,
  context: DeliveryContext,
): Promise<CallResult | 'withheld'> {
  const { callLog, client, clock, progress } = context
  const ids = part.map(({ productId }) => productId)
  const bodyBytes = partBytes(part)
  const call = await callLog.begin({ token, ids, bytes: bodyBytes })
  if (!mayStart()) {
    void callLog.end({ call, outcome: 'withheld', durationMs: 0 })
    return 'withheld'
  }
  const secrets = secretsOf(context.readToken)
  const [beganAt, beganMs] = [clock.monotonic(), clock.now()]
  const waiting = progress.waiting()
  const outcome = await client
    .upsert(
      part.map(({ document }) => document),
      { signal: AbortSignal.any([context.giveUp, lost]) },
    )
    .finally(() => waiting[Symbol.dispose]())
  const durationMs = Math.round(clock.monotonic() - beganAt)
  progress.made()
  countCall(outcome, { bodyBytes, products: part.length }, context)

  const { status, requestId } = describeResponse(outcome, secrets)
  const verdict = classify({
    outcome,
    calls: context.calls,
    productIds: ids,
    secrets,
    recentlyProbed: status === 403 && (await context.outbox.recentlyProbedBy()) === context.processName,
    now: clock.now(),
  })
  void callLog.end({
    call,
    outcome: verdict.kind,
    durationMs,
    status,
    requestId,
  })
  context.noteCall?.({
    ...{
      beganMs,
      endedMs: beganMs + durationMs,
      products: part.length,
      lanes: lanes ?? null,
      bytes: bodyBytes,
    },
    ...{ status: status ?? null, requestId: requestId ?? null, outcome: verdict.kind },
    description: verdict.kind === 'acknowledge' ? null : verdict.description.slice(0, 300),
    refused: verdict.kind === 'acknowledge' ? verdict.refused.length : 0,
    ids,
  })
  const meant = outcome.kind === 'not-sent' ? outcome.kind : verdict.kind
  context.meter?.called({ outcome: meant, status, products: part, bodyBytes, durationMs })
  logCall(verdict, { status, requestId, durationMs, bodyBytes, products: part.length }, context)
  return { verdict, status, requestId, bodyBytes }
}

/** Counters are for people: delivery neither waits for them nor fails with them. */
function countCall(
  outcome: CallOutcome,
  call: { bodyBytes: number; products: number },
  { outbox, log }: DeliveryContext,
): void {
  if (outcome.kind === 'not-sent') return
  outbox.countCall({ ...call, answered: outcome.kind === 'response' }).catch((error: unknown) => {
    log.debug({ err: error }, 'a call could not be counted')
  })
}

/** What the head of an answer says, without the `secrets`; nothing where none came. */
export function describeResponse(outcome: CallOutcome, secrets: readonly string[]) {
  const response = outcome.kind === 'response' ? outcome : undefined
  const requestId = response?.headers['x-request-id']
  return { status: response?.status, requestId: requestId && hideSecrets(requestId, secrets) }
}

function logCall(verdict: Verdict, call: Record<string, unknown>, { log }: DeliveryContext): void {
  const fields = { ...call, verdict: verdict.kind }
  // Nothing is sent any more until somebody does something.
  if (verdict.kind === 'pause') log.error(fields, verdict.description)
  else if (verdict.kind !== 'acknowledge') log.warn(fields, verdict.description)
  else if (verdict.refused.length > 0)
    log.warn(fields, 'the endpoint refused some products of a call by name')
  else log.debug(fields, 'call acknowledged')
}
