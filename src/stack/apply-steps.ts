import { ApiCallError, ApiResponseError } from '../api/api-error.ts'
import { OperatingError } from '../lib/errors.ts'
import type { StackService } from './client-service.ts'
import type { Step } from './model.ts'

export interface StepFailure {
  step: Step
  error: OperatingError
  /** Of a replacement that was left half done: which half. */
  halfDone?: 'both-exist' | 'neither-exists'
}

export interface Applied {
  done: Step[]
  failed: StepFailure[]
  /** After a failure that all others would share. */
  notTried: Step[]
}

export interface ApplyOptions {
  service: StackService
  /** After each step, done or failed. */
  onStep?: (applied: Readonly<Applied>) => void
  signal: AbortSignal
}

/** So many calls in a row without an answer: the service is not there. */
const unansweredMax = 3

/**
 * Does the steps in their order, and goes on after one that fails. Ends early when the token is refused, when the
 * service does not answer several times in a row, and when the signal is aborted (then it throws the signal's reason).
 */
export async function applySteps(steps: readonly Step[], options: ApplyOptions): Promise<Applied> {
  const { service, onStep, signal } = options
  const applied: Applied = { done: [], failed: [], notTried: [] }
  let unanswered = 0
  for (const [at, step] of steps.entries()) {
    signal.throwIfAborted()
    const failure = await doStep(service, step)
    signal.throwIfAborted()
    if (failure === undefined) applied.done.push(step)
    else applied.failed.push(failure)
    unanswered = failure?.error instanceof ApiCallError ? unanswered + 1 : 0
    onStep?.(applied)
    if (failure && (isRefusedAccess(failure.error) || unanswered >= unansweredMax)) {
      applied.notTried = steps.slice(at + 1)
      return applied
    }
  }
  return applied
}

async function doStep(service: StackService, step: Step): Promise<StepFailure | undefined> {
  const { kind } = step
  try {
    if (step.action === 'create') await service.create(kind, step.fields)
    else if (step.action === 'update') await service.update(kind, step.id, step.fields)
    else if (step.action === 'delete') await service.remove(kind, step.id)
    else return await replace(service, step)
    return undefined
  } catch (error) {
    return failureOf(step, error)
  }
}

/**
 * The new one first, so that a refusal costs nothing. Where the service wants names to be unique, the old one goes first
 * after all.
 */
async function replace(
  service: StackService,
  step: Extract<Step, { action: 'replace' }>,
): Promise<StepFailure | undefined> {
  const { kind, id, fields } = step
  let isOldGone = false
  try {
    await service.create(kind, fields)
  } catch (error) {
    if (!(error instanceof ApiResponseError && error.status === 409)) throw error
    await service.remove(kind, id)
    isOldGone = true
  }
  try {
    if (isOldGone) await service.create(kind, fields)
    else await service.remove(kind, id)
    return undefined
  } catch (error) {
    return { ...failureOf(step, error), halfDone: isOldGone ? 'neither-exists' : 'both-exist' }
  }
}

/** Anything else is a bug, and ends the whole. */
function failureOf(step: Step, error: unknown): StepFailure {
  if (error instanceof OperatingError) return { step, error }
  throw error
}

function isRefusedAccess(error: OperatingError): boolean {
  return error instanceof ApiResponseError && error.status === 401
}
