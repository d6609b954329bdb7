import { EndpointError, OperatingError } from '../lib/errors.ts'
import { parseRetryAfter } from '../lib/retry-after.ts'
import {
  type AnswerDetails,
  ApiCallError,
  ApiResponseError,
  type ServerError,
  type ShownCall,
} from './api-error.ts'
import type { CallOutcome, CallResponse } from './call-outcome.ts'
import type { ApiGroup } from './contract/endpoints.ts'
import { isObject } from './contract/json-value.ts'
import { hideSecrets, hideSecretsIn } from './hide-secrets.ts'
import { type ResponseBody, readBody, toLine } from './response-body.ts'
import { readTaken, type TakingGroup } from './taken-answer.ts'

export interface AnsweredCall extends ShownCall {
  group: ApiGroup
  /** Tokens and addresses that the call carried. */
  secrets: readonly string[]
  signal?: AbortSignal | undefined
  /** Wall-clock time, for `Retry-After` dates. */
  now: number
}

export interface Answer {
  status: number
  headers: CallResponse['headers']
  /** As it came, for what reads it in its own way. */
  text: string
  /** Undefined: an empty body, or a plain text. */
  value: unknown
}

/**
 * The answer to a call that succeeded: 2xx with JSON, a plain text or nothing. Throws `ApiResponseError` for every other
 * response, `ApiCallError` when there is none.
 */
function readAnswer(outcome: CallOutcome, call: AnsweredCall): Answer {
  if (outcome.kind !== 'response') throw describeFailure(outcome, call)
  const body = readBody(outcome)
  const { status, headers } = outcome
  if (status < 200 || status >= 300) throw describeRefusal(outcome, body, call)
  if (outcome.cut) {
    const code = outcome.cut === 'longer than is read' ? 'too-long' : 'no-json'
    throw answerError(outcome, call, { code, serverMessage: `a body ${outcome.cut}` })
  }
  if (body.kind === 'html') {
    throw answerError(outcome, call, {
      code: 'no-json',
      serverMessage: describeBody(body, call),
      hint: noApiHint,
    })
  }
  return { status, headers, text: outcome.body, value: body.kind === 'json' ? body.value : undefined }
}

/** The same, for APIs whose 2xx may hold errors all the same: throws `ApiResponseError` then. */
export function readCleanAnswer(outcome: CallOutcome, call: AnsweredCall): Answer {
  const answer = readAnswer(outcome, call)
  const errors = errorsIn(answer.value, call.secrets)
  if (errors.length === 0) return answer
  throw answerError(answer, call, { code: 'errors', serverMessage: describeErrors(errors), errors })
}

/**
 * The same for a call that is only answered with whether it was taken: throws `ApiResponseError` where the body shows
 * that another server answered.
 */
export function requireTaken(outcome: CallOutcome, call: AnsweredCall, group: TakingGroup): void {
  const answer = readCleanAnswer(outcome, call)
  const taken = outcome.kind === 'response' ? readTaken(outcome, group, call.secrets) : undefined
  if (taken?.kind !== 'foreign') return
  throw answerError(answer, call, { code: 'no-api', serverMessage: taken.found, hint: noApiHint })
}

/** An error about a response, with what its head says. */
export function answerError(
  { status, headers }: Pick<CallResponse, 'status' | 'headers'>,
  call: AnsweredCall,
  details: Omit<AnswerDetails, 'status'>,
): ApiResponseError {
  const requestId = headers['x-request-id']
  return new ApiResponseError(call, {
    status,
    requestId: requestId === undefined ? undefined : hideSecrets(requestId, call.secrets),
    retryAfterMs: parseRetryAfter(headers['retry-after'], call.now),
    ...details,
  })
}

/** The `errors` of a body, one entry each, whatever form they have; tokens and e-mail addresses are hidden. */
function errorsIn(value: unknown, secrets: readonly string[]): ServerError[] {
  if (!isObject(value)) return []
  const { errors } = value
  if (errors === undefined || errors === null || errors === '' || errors === false) return []
  const list = Array.isArray(errors) ? errors : isObject(errors) ? entriesOf(errors) : [errors]
  return list.map((entry) => toServerError(hideSecretsIn(entry, secrets)))
}

function describeRefusal(response: CallResponse, body: ResponseBody, call: AnsweredCall): ApiResponseError {
  const errors = body.kind === 'json' ? errorsIn(body.value, call.secrets) : []
  const { status, headers } = response
  const isWebPage = body.kind === 'html' && (status === 404 || status === 405 || status < 400)
  const target = status < 400 ? headers.location?.replace(/[?#].*$/s, '') : undefined
  const said = describeBody(body, call, errors)
  return answerError(response, call, {
    serverMessage: target === undefined ? said : `a redirect to ${hideSecrets(target, call.secrets)}`,
    errors,
    hint: isWebPage ? noApiHint : hintFor(call.group, status),
  })
}

const messageCharactersMax = 500
const errorsShownMax = 5

/** What a body says, in one line. */
function describeBody(body: ResponseBody, call: AnsweredCall, errors: readonly ServerError[] = []): string {
  switch (body.kind) {
    case 'empty':
      return 'an empty body'
    case 'html':
      return `an HTML page${body.title === '' ? '' : ` (${toLine(hideSecrets(body.title, call.secrets), 100)})`}`
    case 'text':
      return toMessage(hideSecrets(body.text, call.secrets))
    case 'json':
      return describeJson(body.value, call, errors)
    default:
      return body satisfies never
  }
}

function describeJson(value: unknown, { secrets }: AnsweredCall, errors: readonly ServerError[]): string {
  const words = isObject(value) ? [value.message, value.error, value.detail, value.title] : [value]
  const said = words.find((word) => typeof word === 'string' && word.trim() !== '')
  if (typeof said === 'string') return toMessage(hideSecrets(said, secrets))
  if (errors.length > 0) return describeErrors(errors)
  return toMessage(JSON.stringify(hideSecretsIn(value, secrets)) ?? 'a body without words')
}

function describeErrors(errors: readonly ServerError[]): string {
  const shown = errors.slice(0, errorsShownMax).map(({ message }) => message)
  const more = errors.length > errorsShownMax ? [`and ${errors.length - errorsShownMax} more`] : []
  return toMessage([...shown, ...more].join('; '))
}

/** An object of errors by field: `{"name": ["is missing"]}`. */
function entriesOf(errors: Record<string, unknown>): unknown[] {
  if ('message' in errors) return [errors]
  return Object.entries(errors).map(([field, words]) => ({ field, message: `${field}: ${wordsOf(words)}` }))
}

function toServerError(entry: unknown): ServerError {
  if (!isObject(entry)) return { message: toMessage(wordsOf(entry)) }
  const said = entry.message ?? entry.errors ?? entry.error ?? entry.detail ?? entry
  return { ...entry, message: toMessage(wordsOf(said)) }
}

function toMessage(text: string): string {
  return toLine(text, messageCharactersMax)
}

function wordsOf(words: unknown): string {
  if (typeof words === 'string') return words
  return Array.isArray(words) ? words.map(wordsOf).join(', ') : (JSON.stringify(words) ?? '')
}

function describeFailure(outcome: Exclude<CallOutcome, CallResponse>, call: AnsweredCall): Error {
  const { error, kind } = outcome
  // The address or the token could not be read: that error says all, in words of ours.
  if (error.code === 'no-endpoint' && error.cause instanceof OperatingError) return error.cause
  const isAbort = error instanceof EndpointError && error.code === 'call-aborted'
  return new ApiCallError(call, {
    code: error.code,
    message: hideSecrets(error.message, call.secrets),
    mayHaveTakenEffect: kind === 'unknown',
    cause: isAbort ? call.signal?.reason : undefined,
  })
}

const credentialHints: Readonly<Record<ApiGroup, string>> = {
  products:
    'Use a token of kind API_PRODUCTS of this account; tokens of other kinds are refused here. Support gives it on request, and the authentication tokens in the admin settings list it',
  consent:
    'Use the Email token of this account; tokens of other kinds, API_PRODUCTS among them, are refused here',
  intent:
    'Use the token of kind API_LIM from the account settings (authentication tokens). Tokens belong to one merchant; in a multi-market set-up it is the token of the master account, not of a storefront. An account without such a token has no shopper intent enabled',
  stack: 'Check the access token and the name of the Stack: the token must be of a user of that Stack',
}

/** What to do about a path that the server does not know. */
const addressHints: Readonly<Partial<Record<ApiGroup, string>>> = {
  products: 'Check the base address',
  consent: 'Check the base address, and the path: some services have it without /api',
  intent: 'Check the base address',
}

function hintFor(group: ApiGroup, status: number): string | undefined {
  if (status === 401 || status === 403) return credentialHints[group]
  if (status === 404 || status === 405) return addressHints[group]
  if (status === 413) return 'Send less in one call'
  if (status === 429) return 'Call less often'
  if (status >= 300 && status < 400) return 'Redirects are never followed: check the base address'
  return status >= 500 ? 'Try again later' : undefined
}

export const noApiHint = 'This is not the API: check the base address, and what stands between here and there'

export function missingTokenHint(group: ApiGroup): string {
  return credentialHints[group]
}
