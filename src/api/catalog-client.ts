import { strict as assert } from 'node:assert'
import type { ProductId } from '../lib/brand.ts'
import { callBytesMax } from '../lib/call-bytes.ts'
import { ApiClient, type ClientOptions, type RequestOptions, type TokenSource } from './api-caller.ts'
import type { CallOutcome } from './call-outcome.ts'
import { buildBody, upsertRequest } from './catalog-calls.ts'
import { classify, isAboutProducts, type ProductVerdict, productCalls } from './classify.ts'
import { isObject } from './contract/json-value.ts'
import { contractProblems } from './contract/problems.ts'
import { type Product, productSchema } from './contract/product.ts'
import { describeRefusal } from './named-refusals.ts'
import { type AnsweredCall, requireTaken } from './read-answer.ts'
import { checkTimeout } from './timeout.ts'
import { type PreparedProduct, partBytes, settlePart, UpsertBatch, UpsertProgress } from './upsert-batch.ts'
import { UpsertError, type UpsertResult } from './upsert-error.ts'

/** One byte less: the API does not say whether it takes a body of exactly the limit. */
const bodyBytesMax = callBytesMax - 1

export interface CatalogClientOptions extends ClientOptions {
  /** Of kind API_PRODUCTS; any other kind is refused. */
  token: TokenSource
  /** Sent as `?merchant-id=`, where a service asks for it. */
  merchantId?: string | undefined
  /** `tolerate`: fields that the contract does not have are sent too. Default: `refuse`. */
  unknownFields?: 'refuse' | 'tolerate' | undefined
  /** Upper bound of a body, at most 1,999,999, which is the default. */
  callBytes?: number | undefined
}

/**
 * Creates and replaces products: `POST /v1/products/upsert`, Basic credentials with an empty user name, a JSON array of
 * less than 2,000,000 bytes. Calls are made one after the other; none is repeated after a failure.
 * Source: `endpoints.upsertProducts`.
 */
export class CatalogClient extends ApiClient {
  readonly #options: CatalogClientOptions
  readonly #callBytes: number

  /** Throws `ConfigError` for a base address that is neither https nor on this machine. */
  constructor(options: CatalogClientOptions) {
    super({ ...options, group: 'products' })
    this.#options = options
    this.#callBytes = Math.min(options.callBytes ?? bodyBytesMax, bodyBytesMax)
  }

  /**
   * Sends products in as few calls as their bytes allow, and answers which were taken and which refused, and why. What
   * breaks the contract is not sent. Products that an answer refuses by name are taken out and the rest is sent again; an
   * answer that names none is halved until the refused one stands alone; 413 is halved too. Of several products with one
   * id the last one counts.
   *
   * Throws `UpsertError`, which says what was settled before, when a call fails for another reason than its products.
   */
  async upsert(
    products: Iterable<Product> | AsyncIterable<Product>,
    options: RequestOptions = {},
  ): Promise<UpsertResult> {
    // Without a token, or with a time that means nothing, nothing is begun.
    this.caller.token()
    if (options.timeoutMs !== undefined) checkTimeout(options.timeoutMs)
    const progress = new UpsertProgress()
    const send = (part: readonly PreparedProduct[]) =>
      sendUpserts(part, progress, (one) => this.#call(one, options))
    let batch = new UpsertBatch(this.#callBytes)
    let index = -1
    try {
      for await (const product of products) {
        index += 1
        const prepared = this.#prepare(product, index, { progress, batch })
        if (prepared === undefined) continue
        progress.reopen(prepared.productId)
        if (batch.add(prepared)) continue
        batch.remove(prepared.productId)
        await send(batch.products)
        batch = new UpsertBatch(this.#callBytes)
        batch.add(prepared)
      }
    } catch (cause) {
      // What gives the products may fail, too; without a call before it there is nothing to tell.
      if (cause instanceof UpsertError || progress.calls === 0) throw cause
      throw new UpsertError(cause, { result: progress.toResult(), unsettled: [] })
    }
    await send(batch.products)
    return progress.toResult()
  }

  /** A call without products: shows whether the token is taken. Throws `ApiResponseError` or `ApiCallError` when not. */
  async probe(options: RequestOptions = {}): Promise<void> {
    const { outcome, call } = await this.#call([], options)
    requireTaken(outcome, call, 'products')
  }

  #prepare(
    product: unknown,
    index: number,
    { progress, batch }: { progress: UpsertProgress; batch: UpsertBatch },
  ): PreparedProduct | undefined {
    const id = isObject(product) && typeof product.product_id === 'string' ? product.product_id : undefined
    const refuse = (reasons: readonly string[]) => {
      if (id !== undefined) batch.remove(id)
      progress.refuse({ productId: id, index, by: 'contract', reasons })
      return undefined
    }
    const { unknownFields = 'refuse' } = this.#options
    const problems = contractProblems(productSchema, product, { whole: 'product', unknownFields })
    if (problems.length > 0 || id === undefined) {
      return refuse(problems.map(({ message }) => message))
    }
    const document = Buffer.from(JSON.stringify(product))
    if (partBytes([{ document }]) <= this.#callBytes) return { productId: id as ProductId, index, document }
    return refuse([
      `product: found ${document.length} bytes, expected at most ${this.#callBytes - 2}; shorten it`,
    ])
  }

  async #call(products: readonly PreparedProduct[], { signal, timeoutMs }: RequestOptions) {
    const token = this.caller.token()
    const { merchantId } = this.#options
    const body = buildBody(products.map(({ document }) => document))
    const request = { ...upsertRequest(body, { token: () => token, merchantId }), signal, timeoutMs }
    const outcome = await this.caller.send(request)
    return { outcome, call: this.caller.describe(request, [token]) }
  }
}

/** When so many in a row are refused one by one and none is taken, the endpoint refuses everything. */
const refusedInRowMax = 20

interface AnsweredUpsert {
  outcome: CallOutcome
  call: AnsweredCall
}

type CallUpsert = (products: readonly PreparedProduct[]) => Promise<AnsweredUpsert>

/**
 * Sends products in one call, and where the answer asks for it in smaller ones, until each is settled in `progress`.
 * Throws `UpsertError` when a call fails for another reason than its products.
 */
async function sendUpserts(
  products: readonly PreparedProduct[],
  progress: UpsertProgress,
  callUpsert: CallUpsert,
): Promise<void> {
  const parts = products.length === 0 ? [] : [products]
  let refusedInRow = 0
  for (let part = parts.pop(); part !== undefined; part = parts.pop()) {
    try {
      progress.calls += 1
      const answered = await callUpsert(part)
      const verdict = judge(answered, part)
      const { taken, refused, refusedAlone, again } = settlePart(part, verdict, Math.random)
      if (refusedAlone) refusedInRow += 1
      else if (verdict.kind === 'acknowledge') refusedInRow = 0
      // Nothing is wrong with so many products.
      if (refusedInRow >= refusedInRowMax) fail(answered)
      progress.take(taken)
      for (const { product, reason } of refused) progress.refuse(toRefused(product, reason))
      if (refusedAlone) progress.refuse(toRefused(refusedAlone, describeAlone(answered)))
      parts.push(...again)
    } catch (cause) {
      const unsettled = [part, ...parts.toReversed()].flat().map(({ productId }) => productId)
      throw new UpsertError(cause, { result: progress.toResult(), unsettled })
    }
  }
}

function judge({ outcome, call }: AnsweredUpsert, part: readonly PreparedProduct[]): ProductVerdict {
  const productIds = part.map(({ productId }) => productId)
  const verdict = classify({ outcome, calls: productCalls, productIds, secrets: call.secrets, now: call.now })
  const isRefusal = outcome.kind === 'response' && [400, 422].includes(outcome.status)
  // Other answers may be about a product, too (a 2xx with errors that name none, a filter's 4xx). The caller hears of them.
  if (!isAboutProducts(verdict) || (verdict.kind === 'bisect' && !isRefusal)) fail({ outcome, call })
  return verdict
}

function fail({ outcome, call }: AnsweredUpsert): never {
  requireTaken(outcome, call, 'products')
  assert.fail('a call that was taken counts as failed')
}

function describeAlone({ outcome, call }: AnsweredUpsert): string {
  assert(outcome.kind === 'response', 'a call without an answer refuses nothing')
  if (outcome.status === 413) return 'the server takes no body of this size'
  return describeRefusal(outcome.body, call.secrets)
}

function toRefused({ productId, index }: PreparedProduct, reason: string) {
  return { productId, index, by: 'server', reasons: [reason] } as const
}
