import type { z } from 'zod'
import { ConfigError } from '../lib/errors.ts'
import { ApiCaller, type ClientOptions, type RequestOptions, type TokenSource } from './api-caller.ts'
import { ApiCallError, ApiResponseError, ContractError } from './api-error.ts'
import type { CallOutcome } from './call-outcome.ts'
import type { Endpoint } from './contract/endpoints.ts'
import { isObject } from './contract/json-value.ts'
import { contractProblems, type ProblemOptions } from './contract/problems.ts'
import { type Envelope, readEnvelope } from './envelope.ts'
import { RatePace } from './rate-pace.ts'
import { type AnsweredCall, answerError, readCleanAnswer } from './read-answer.ts'
import type { TransportRequest } from './transport.ts'

/** A Stack may have so many rules and views, which come in one body. */
const listBytesMax = 64 * 1024 * 1024
const errorBytesMax = 256 * 1024
/** Longer than the 15 minutes in which the service counts requests. */
const waitAtMostMsDefault = 1_000_000

/** Ids come as numbers or as texts; both are taken. */
export type StackId = number | string

export interface StackWait {
  waitMs: number
  method: string
  /** Without query. */
  path: string
  /** `spent`: nothing remains, so the next call waits; `refused`: the server has just refused this call for its rate. */
  because: 'spent' | 'refused'
}

export interface StackClientOptions extends ClientOptions {
  accessToken: TokenSource
  stack: string
  /** How long one call may wait for the rate limit in all. Default: 1,000,000, more than 15 minutes; 0: never waits. */
  waitAtMostMs?: number | undefined
  onWait?: ((wait: StackWait) => void) | undefined
  /** `tolerate`: fields that the contract does not have are sent too. Default: `refuse`. */
  unknownFields?: 'refuse' | 'tolerate' | undefined
}

export interface StackRequest extends RequestOptions {
  id?: StackId
  query?: Readonly<Record<string, unknown>>
  body?: unknown
}

export interface StackAnswer extends Envelope {
  error(code: string, serverMessage: string): ApiResponseError
}

/**
 * Calls of one Stack: credentials in the query, checked by the contract before they are sent, at the pace that the server
 * asks for. A call that is refused for its rate took no effect and is repeated after the wait. A GET whose connection is
 * lost is repeated once; a write never.
 */
export class StackCalls implements AsyncDisposable {
  readonly #options: StackClientOptions
  readonly #caller: ApiCaller
  readonly #pace: RatePace

  constructor(options: StackClientOptions) {
    this.#options = options
    this.#caller = new ApiCaller({
      ...options,
      group: 'stack',
      token: options.accessToken,
      responseBytesMax: (status) => (status < 300 ? listBytesMax : errorBytesMax),
    })
    this.#pace = new RatePace(this.#caller.clock)
  }

  async call(endpoint: Endpoint, request: StackRequest = {}): Promise<StackAnswer> {
    const { query = {}, body, signal, timeoutMs } = request
    const { unknownFields = 'refuse' } = this.#options
    if (endpoint.query) check(endpoint, endpoint.query, query, { whole: 'query' })
    if (endpoint.body) check(endpoint, endpoint.body.schema, body, { unknownFields })
    const path = pathOf(endpoint, request.id)
    const token = this.#caller.token()
    const sent = {
      method: endpoint.method,
      path: `${path}?${this.#query(token, query)}`,
      shownPath: path,
      headers: () => ({
        accept: 'application/json',
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      }),
      ...(body === undefined ? {} : { body: Buffer.from(JSON.stringify(body)) }),
      signal,
      timeoutMs,
    }
    const call = this.#caller.describe(sent, [token, ...emailIn(body)])
    const outcome = await this.#send(sent, call)
    const answer = readCleanAnswer(outcome, { ...call, now: this.#caller.clock.now() })
    return {
      ...readEnvelope(answer.value),
      error: (code, serverMessage) => answerError(answer, call, { code, serverMessage }),
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#caller[Symbol.asyncDispose]()
  }

  async #send(request: TransportRequest, call: AnsweredCall): Promise<CallOutcome> {
    let waitedMs = 0
    let mayRepeat = request.method === 'GET'
    let refusal: CallOutcome | undefined
    for (;;) {
      waitedMs += await this.#wait(call, waitedMs, refusal)
      const outcome = await this.#caller.send(request)
      if (this.#pace.note(outcome)) {
        refusal = outcome
        continue
      }
      const isLost = outcome.kind === 'unknown' && outcome.error.code === 'connection-lost'
      if (!isLost || !mayRepeat || this.#caller.closed.aborted) return outcome
      mayRepeat = false
    }
  }

  /** Answers how long it waited. Throws instead when that would be longer than allowed. */
  async #wait(call: AnsweredCall, waitedMs: number, refusal: CallOutcome | undefined): Promise<number> {
    const { waitMs } = this.#pace
    if (waitMs === 0) return 0
    const { waitAtMostMs = waitAtMostMsDefault, onWait } = this.#options
    if (waitedMs + waitMs > waitAtMostMs) throw tooLong(call, refusal, waitMs)
    const { method, path, signal } = call
    onWait?.({ waitMs, method, path, because: refusal === undefined ? 'spent' : 'refused' })
    try {
      const { closed, clock } = this.#caller
      await clock.sleep(waitMs, AbortSignal.any(signal ? [signal, closed] : [closed]))
    } catch (cause) {
      const given = [signal, this.#caller.closed].find((one) => one?.aborted)
      if (given === undefined) throw cause
      throw new ApiCallError(call, {
        code: 'call-aborted',
        message: `${method} ${call.url}: the call was given up while it waited for the rate limit`,
        mayHaveTakenEffect: false,
        cause: given.reason,
      })
    }
    return waitMs
  }

  #query(token: string, query: Readonly<Record<string, unknown>>): string {
    // Callers in JavaScript may leave it out.
    const { stack }: { stack: unknown } = this.#options
    if (typeof stack !== 'string' || stack.trim() === '')
      throw new ConfigError('no-stack', 'the client has no name of a Stack')
    const parameters = new URLSearchParams()
    for (const [name, value] of Object.entries({ access_token: token, stack, ...query })) {
      if (value !== undefined) parameters.set(name, String(value))
    }
    return parameters.toString()
  }
}

function tooLong(call: AnsweredCall, refusal: CallOutcome | undefined, waitMs: number): Error {
  if (refusal?.kind === 'response') {
    try {
      readCleanAnswer(refusal, call)
    } catch (error) {
      if (!(error instanceof ApiResponseError)) throw error
      const { status, serverMessage, requestId, errors, hint } = error
      return new ApiResponseError(call, {
        status,
        serverMessage,
        requestId,
        errors,
        hint,
        retryAfterMs: waitMs,
        code: 'rate-limited',
      })
    }
  }
  return new ApiCallError(call, {
    code: 'rate-limited',
    message: `${call.method} ${call.url}: not sent, since no request remains for ${Math.ceil(waitMs / 1000)} s`,
    mayHaveTakenEffect: false,
  })
}

function check(endpoint: Endpoint, schema: z.ZodType, value: unknown, options: ProblemOptions): void {
  const given = value === undefined ? {} : value
  const problems = contractProblems(schema, given, options)
  if (problems.length > 0) throw new ContractError(`${endpoint.name} was not sent`, problems)
}

/** Servers say back what they refuse. */
function emailIn(body: unknown): string[] {
  return isObject(body) && typeof body.email === 'string' ? [body.email] : []
}

/** An id stands for itself and nothing else in a path. */
function pathOf(endpoint: Endpoint, id: StackId | undefined): string {
  const { path, name, params } = endpoint
  const [, parameter] = /\{(\w+)\}/.exec(path) ?? []
  if (parameter === undefined) return path
  const text = id === undefined ? '' : String(id)
  if (text.trim() === '' || text === '.' || text === '..') {
    const message = 'id: found nothing that names a record, expected its id; give it a value'
    throw new ContractError(`${name} was not sent`, [{ field: 'id', message }])
  }
  if (params) check(endpoint, params, { [parameter]: id }, { whole: 'path' })
  return path.replace(/\{\w+\}/, encodeURIComponent(text.toWellFormed()))
}
