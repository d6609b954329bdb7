import type { ClaimMode, PauseReason } from '../outbox/model.ts'
import type { DeliveryContext } from './context.ts'
import { deliverClaim } from './deliver-claim.ts'
import { noteWait } from './watched-progress.ts'

/** A ticket ends after so many calls or so long, so that slots are handed out anew by priority. */
const callsMax = 100
const ticketMsMax = 20_000
/** Waits for the call rate are spent inside the ticket; for longer ones it ends and a delayed one takes its place. */
const waitMsMax = 1_000

export type TicketEnd = { calls: number } & TicketStop

type TicketStop =
  | { kind: 'idle'; nextDueMs: number | undefined }
  | { kind: 'paused'; reasons: readonly PauseReason[] }
  /** `shut`: this process can do nothing for now; another one may need the ticket. */
  | { kind: 'wait' | 'shut'; forMs: number }
  /** There is more to do. */
  | { kind: 'bounded' }
  | { kind: 'stopped' }

/** A run of calls: claims, sends and settles until nothing is due. Throws only when the outbox does. */
export async function runTicket(
  mode: ClaimMode,
  context: DeliveryContext,
  stop: AbortSignal,
): Promise<TicketEnd> {
  const { outbox, clock, progress, gate, standing, config } = context
  const endsAt = clock.monotonic() + ticketMsMax
  let calls = 0
  while (calls < callsMax && clock.monotonic() < endsAt) {
    if (stop.aborted) return { kind: 'stopped', calls }
    const restMs = standing.restMs
    if (restMs > 0) {
      progress.made()
      return { kind: 'shut', forMs: restMs, calls }
    }
    const pass = gate.pass()
    const askedAt = clock.monotonic()
    const answer = await outbox.claim({ mode, bodyBytesMax: config.callBytes })
    if (answer.kind === 'wait') noteWait(progress, answer)
    else progress.made()
    if (answer.kind === 'claimed') {
      calls += 1
      await deliverClaim({ claim: answer.claim, pass, askedAt, stop }, context)
    } else if (answer.kind === 'wait' && answer.forMs <= waitMsMax) {
      await clock.sleep(answer.forMs, stop).catch(() => {})
    } else {
      return { ...answer, calls }
    }
  }
  return { kind: stop.aborted ? 'stopped' : 'bounded', calls }
}
