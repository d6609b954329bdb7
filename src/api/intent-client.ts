import { withoutUndefined } from '../lib/without-undefined.ts'
import { ApiClient, type ClientOptions, type RequestOptions, type TokenSource } from './api-caller.ts'
import { ContractError } from './api-error.ts'
import { endpoints } from './contract/endpoints.ts'
import {
  type IntentRequest,
  type IntentResponse,
  intentRequestSchema,
  intentResponseSchema,
  shopifyIntentRequestSchema,
} from './contract/intent.ts'
import { isObject } from './contract/json-value.ts'
import { contractProblems } from './contract/problems.ts'
import { readEnvelope } from './envelope.ts'
import { answerError, noApiHint, readCleanAnswer } from './read-answer.ts'

export interface IntentClientOptions extends ClientOptions {
  /**
   * Of kind API_LIM, of this merchant; in a multi-market set-up that of the master account. Without one, shopper intent
   * is not enabled for the account, and `ask` says so.
   */
  token?: TokenSource | undefined
  /** Of requests that name none. */
  partnerId?: string | undefined
  /** The merchant runs on Shopify: country and locale must be given, here or in each request. */
  shopify?: boolean | undefined
  /** ISO 3166 alpha-2, of requests that name none. */
  country?: string | undefined
  /** Language code, of requests that name none. */
  locale?: string | undefined
}

/** As in the contract; what the client knows (`partnerId`, `country`, `locale`) may be left out. */
export type IntentQuestion = Omit<IntentRequest, 'partnerId'> & { partnerId?: string | undefined }

/**
 * Asks for the products that fit what a shopper is after: `POST /api`, Bearer token, JSON.
 *
 * Never waits and never repeats a call: the caller controls timing. A 429 comes as `ApiResponseError` with
 * `retryAfterMs`. Source: `endpoints.askIntent`.
 */
export class IntentClient extends ApiClient {
  readonly #options: IntentClientOptions

  /** Throws `ConfigError` for a base address that is neither https nor on this machine. */
  constructor(options: IntentClientOptions) {
    super({ ...options, token: options.token, group: 'intent' })
    this.#options = options
  }

  /**
   * The server's answer: the ranking, best first, and what it says in words. Fields that the contract does not have are
   * kept. Fields that are not given are not sent, so that the server's defaults hold.
   *
   * Throws `ContractError` when the request breaks the contract (nothing is sent), `ConfigError` without a token,
   * `ApiResponseError` when the server refuses, `ApiCallError` when no answer came in time.
   */
  async ask(question: IntentQuestion, { signal, timeoutMs }: RequestOptions = {}): Promise<IntentResponse> {
    const body = this.#complete(question)
    const schema = this.#options.shopify ? shopifyIntentRequestSchema : intentRequestSchema
    const problems = contractProblems(schema, body, { whole: 'request' })
    if (problems.length > 0) throw new ContractError('the request was not sent', problems)
    const token = this.caller.token()
    const { method, path } = endpoints.askIntent
    const request = {
      method,
      path,
      shownPath: path,
      headers: () => ({
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
        accept: 'application/json',
      }),
      body: Buffer.from(JSON.stringify(body)),
      signal,
      timeoutMs,
    }
    const outcome = await this.caller.send(request)
    const call = this.caller.describe(request, [token])
    const answer = readCleanAnswer(outcome, call)
    const { data } = readEnvelope(answer.value)
    const fail = (code: string, serverMessage: string) =>
      answerError(answer, call, { code, serverMessage, hint: noApiHint })
    if (!isObject(data)) throw fail('no-json', 'a body that is no JSON object')
    const response = acceptResponse(data)
    if (response === undefined) throw fail('no-api', 'a JSON object that does not answer the question')
    return response
  }

  #complete(question: IntentQuestion): Record<string, unknown> {
    const { partnerId, country, locale } = this.#options
    return withoutUndefined({ partnerId, country, locale, ...withoutUndefined(question ?? {}) })
  }
}

/**
 * A field of another form than the contract shows is kept as it came; ids become texts. Undefined: it has no field of an
 * answer, or what it recommends is no list.
 */
function acceptResponse(data: Record<string, unknown>): IntentResponse | undefined {
  if (!Object.keys(intentResponseSchema.shape).some((name) => Object.hasOwn(data, name))) return undefined
  const ranked = data.agentProductRecommendations ?? undefined
  if (ranked !== undefined && !Array.isArray(ranked)) return undefined
  const products = ranked?.filter(isObject).map((one) => withTextId(one, 'productId'))
  const recommended = products ? { agentProductRecommendations: products } : {}
  const response = { ...data, ...recommended }
  const parsed = intentResponseSchema.safeParse(response)
  return parsed.success ? parsed.data : (response as IntentResponse)
}

function withTextId(record: Record<string, unknown>, name: string): unknown {
  if (typeof record[name] !== 'number') return record
  return { ...record, [name]: String(record[name]) }
}
