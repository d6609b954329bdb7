import { hash } from 'node:crypto'
import type { CallOutcome } from '../api/call-outcome.ts'
import { classify } from '../api/classify.ts'
import { readTaken, type TakingGroup } from '../api/taken-answer.ts'
import { OperatingError } from '../lib/errors.ts'
import type { PauseReason } from '../outbox/model.ts'
import { probeEveryMsMax } from '../outbox/model.ts'
import type { DeliveryContext } from './context.ts'

const probeEveryMsMin = 5_000
const turnOfOthersMs = 1_000

/** How long after a probe the next one comes. */
export function probeTurnMs(failures: number): number {
  return Math.min(probeEveryMsMax, probeEveryMsMin * 2 ** failures)
}

/**
 * Finds out whether credentials that were refused work again (G8).
 *
 * Asked at every sweep; one process at a time gets the turn, less and less often, up to every 30 s. The client reads the
 * token again for each probe. A token that this process does not know as a refused one is tried at once: another one stands
 * in its file, or delivery has just been opened, as a reload does for other credentials. While the operator has paused the
 * catalog too, nothing is sent.
 */
export class CredentialsProbe {
  readonly #context: DeliveryContext
  #failures = 0
  /** Nothing is known yet of what was refused. */
  #isNew = true
  /** Digest of the token that was refused, or found when somebody else's was. */
  #refused: string | undefined
  /** After a probe that was not answered, or that concerns this process alone: others keep their turns. */
  #notBeforeMs = Number.NEGATIVE_INFINITY

  constructor(context: DeliveryContext) {
    this.#context = context
  }

  /** Answers true when delivery was resumed. Throws only when the outbox does. */
  async probe(reasons: readonly PauseReason[]): Promise<boolean> {
    if (!reasons.includes('credentials')) this.#forget()
    if (!reasons.includes('credentials') || reasons.includes('operator')) return false
    const { outbox, client, calls, readToken, standing, processName, clock, log, giveUp } = this.#context
    const token = tokenDigest(readToken)
    const isUntried = this.#isNew || (this.#refused !== undefined && token !== this.#refused)
    if (isUntried) this.#failures = 0
    else if (clock.monotonic() < this.#notBeforeMs) return false
    const hasTurn = await outbox.takeProbeTurn(probeTurnMs(this.#failures), isUntried ? 'at-once' : 'in-turn')
    this.#isNew = false
    this.#refused = token
    if (!hasTurn) return false
    const secrets = secretsOf(readToken)
    const outcome = await client.probe({ signal: giveUp }, this.#context)
    if (!outcome) return false
    if (!isGoodAnswer(outcome, calls.group)) {
      this.#failures += 1
      const verdict = classify({ outcome, calls, productIds: [], secrets, now: clock.now() })
      // This shows nothing about the credentials: it is the turn of others.
      if (outcome.kind !== 'response') {
        this.#notBeforeMs = clock.monotonic() + probeTurnMs(this.#failures)
        await outbox.takeProbeTurn(turnOfOthersMs, 'at-once')
      }
      await outbox.noteProbe(verdict.kind === 'pause' ? `${verdict.description}. ${verdict.hint}` : undefined)
      log.warn({ ...describe(outcome) }, 'the endpoint still refuses the credentials or cannot be reached')
      return false
    }
    this.#failures = 0
    standing.refused = 'no'
    const isTaken = showsCredentialsTaken(outcome)
    await outbox.resume('credentials', isTaken ? 'probed' : 'tried', processName)
    const message = isTaken
      ? 'the endpoint takes the credentials'
      : 'the credentials are not refused any more'
    log.info({ ...describe(outcome) }, `${message}: delivery resumes`)
    return true
  }

  /**
   * For a process whose credentials were refused, while the catalog is not paused. If the probe of another process has
   * resumed it, this one probes for itself before it makes a call. If the operator has resumed it, the next call shows.
   */
  async probeAlone(): Promise<void> {
    const { outbox, client, calls, readToken, standing, processName, clock, log, giveUp } = this.#context
    if (standing.refused === 'paused') {
      const by = (await outbox.recentlyProbedBy()) ?? processName
      standing.refused = by === processName ? 'no' : 'alone'
    }
    if (standing.refused === 'no') return
    const token = tokenDigest(readToken)
    if (token === this.#refused && clock.monotonic() < this.#notBeforeMs) return
    this.#refused = token
    const outcome = await client.probe({ signal: giveUp }, this.#context)
    if (!outcome) return
    if (isGoodAnswer(outcome, calls.group)) {
      standing.refused = 'no'
      log.info({ ...describe(outcome) }, 'the endpoint takes the credentials of this process, too')
      return
    }
    this.#failures += 1
    this.#notBeforeMs = clock.monotonic() + probeTurnMs(this.#failures)
    log.warn({ ...describe(outcome) }, 'the endpoint refuses this process, and takes the calls of others')
  }

  /** What is refused from now on is the token that is there then. */
  #forget(): void {
    this.#failures = 0
    this.#isNew = false
    this.#refused = undefined
  }
}

/** By which another token is known from the one that was refused. Empty where it cannot be read: the call tells of that. */
export function tokenDigest(readToken: (() => string) | undefined): string {
  const [token] = secretsOf(readToken)
  return token === undefined ? '' : hash('sha256', token)
}

/** The token, which no text about the call may show. None where it cannot be read. */
export function secretsOf(readToken: (() => string) | undefined): string[] {
  try {
    return readToken ? [readToken()] : []
  } catch (error) {
    if (error instanceof OperatingError) return []
    throw error
  }
}

/** Any answer of a server that works and does not refuse the credentials; a web page that greets all shows nothing. */
export function isGoodAnswer(outcome: CallOutcome, group: TakingGroup): boolean {
  if (outcome.kind !== 'response') return false
  const { status } = outcome
  if (status >= 200 && status < 300) return readTaken(outcome, group, []).kind !== 'foreign'
  return status !== 401 && status !== 403 && status < 500
}

/**
 * Only a server that has looked at the credentials takes or refuses what is sent. A redirect to a login page, a wrong path
 * or a rate limit may come before that: a 403 of the next call is still about credentials then, and buries no product.
 */
export function showsCredentialsTaken(outcome: CallOutcome): boolean {
  if (outcome.kind !== 'response') return false
  const { status } = outcome
  return (status >= 200 && status < 300) || status === 400 || status === 422
}

function describe(outcome: CallOutcome): Record<string, unknown> {
  return outcome.kind === 'response' ? { status: outcome.status } : { err: outcome.error }
}
