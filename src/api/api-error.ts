import { ExitCode, OperatingError } from '../lib/errors.ts'
import type { ContractProblem } from './contract/problems.ts'

/** A call as it may be shown: tokens and e-mail addresses are left out of the address. */
export interface ShownCall {
  method: string
  /** Below the base address, without query; the e-mail address of a consent call stands there as `…`. */
  path: string
  /** The whole address, without query. */
  url: string
}

/** One error in a server's own words. Further fields (`code`, `error_code`, `message_id`, `product_id` …) as they came. */
export interface ServerError {
  readonly message: string
  readonly [field: string]: unknown
}

/** Statuses that speak of what was sent, not of the endpoint or the credentials. */
const dataStatuses: readonly number[] = [400, 404, 409, 413, 415, 422]

/**
 * The server answered, and the call failed: an error status, a 2xx whose `errors` are not empty, or a body that is not
 * what was asked for. Whatever the server echoes, tokens and e-mail addresses are hidden in all texts.
 */
export class ApiResponseError extends OperatingError {
  readonly exitCode: ExitCode
  readonly method: string
  readonly path: string
  readonly status: number
  /** Of the response (`x-request-id`), for the support of the service. */
  readonly requestId: string | undefined
  /** What the server says, in one line; what came instead where it says nothing. */
  readonly serverMessage: string
  /** The list of errors in the body; empty when there is none. */
  readonly errors: readonly ServerError[]
  /** How long the server wants to be left alone; undefined when it does not say. */
  readonly retryAfterMs: number | undefined

  constructor(call: ShownCall, answer: AnswerDetails) {
    const { status, requestId, serverMessage, errors = [], hint, retryAfterMs, code = 'response' } = answer
    const request = requestId === undefined ? '' : ` (request ${requestId})`
    const message = `${call.method} ${call.url}: answered ${status}: ${serverMessage}${request}`
    super(code, message, hint === undefined ? {} : { hint })
    this.exitCode = dataStatuses.includes(status) ? ExitCode.data : ExitCode.endpoint
    this.method = call.method
    this.path = call.path
    this.status = status
    this.requestId = requestId
    this.serverMessage = serverMessage
    this.errors = errors
    this.retryAfterMs = retryAfterMs
  }
}

export interface AnswerDetails {
  status: number
  serverMessage: string
  requestId?: string | undefined
  errors?: readonly ServerError[]
  hint?: string | undefined
  retryAfterMs?: number | undefined
  /** `response` for an error of the server; `no-json`, `no-record`, `too-long` … where the body is of no use. */
  code?: string
}

/**
 * No whole answer came. `code` says why: `cannot-connect`, `connection-lost`, `call-timeout`, `call-aborted` (its `cause`
 * is the reason of the signal), `rate-limited` (the wait would be longer than allowed).
 */
export class ApiCallError extends OperatingError {
  readonly exitCode = ExitCode.endpoint
  readonly method: string
  readonly path: string
  /** False only when provably nothing was sent. */
  readonly mayHaveTakenEffect: boolean

  constructor(call: ShownCall, failure: FailureDetails) {
    const { code, message, mayHaveTakenEffect, hint, cause } = failure
    super(code, message, { ...(hint === undefined ? {} : { hint }), cause })
    this.method = call.method
    this.path = call.path
    this.mayHaveTakenEffect = mayHaveTakenEffect
  }
}

export interface FailureDetails {
  code: string
  message: string
  mayHaveTakenEffect: boolean
  hint?: string
  cause?: unknown
}

/** What was to be sent breaks the contract: nothing was sent. One line for each problem; e-mail addresses are hidden. */
export class ContractError extends OperatingError {
  readonly exitCode = ExitCode.data
  readonly problems: readonly ContractProblem[]

  constructor(what: string, problems: readonly ContractProblem[]) {
    super('contract', `${what}: ${problems.map(({ message }) => message).join('; ')}`)
    this.problems = problems
  }
}
