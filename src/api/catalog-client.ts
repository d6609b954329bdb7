import type { ProductId } from '../lib/brand.ts'
import { callBytesMax } from '../lib/call-bytes.ts'
import { ApiCaller } from './api-caller.ts'
import { buildBody } from './call-body.ts'
import { upsertRequest } from './catalog-calls.ts'
import type { ClientOptions, RequestOptions, TokenSource } from './client-options.ts'
import { isObject } from './contract/json-value.ts'
import { contractProblems } from './contract/problems.ts'
import { type Product, productSchema } from './contract/product.ts'
import { requireTaken } from './read-answer.ts'
import { sendUpserts } from './send-upserts.ts'
import { partBytes } from './settle-part.ts'
import { checkTimeout } from './timeout.ts'
import { type PreparedProduct, UpsertBatch, UpsertProgress } from './upsert-batch.ts'
import type { UpsertResult } from './upsert-error.ts'

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
export class CatalogClient implements AsyncDisposable {
  readonly #options: CatalogClientOptions
  readonly #caller: ApiCaller
  readonly #callBytes: number

  /** Throws `ConfigError` for a base address that is neither https nor on this machine. */
  constructor(options: CatalogClientOptions) {
    this.#options = options
    this.#callBytes = Math.min(options.callBytes ?? bodyBytesMax, bodyBytesMax)
    this.#caller = new ApiCaller({ ...options, group: 'products' })
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
    this.#caller.token()
    if (options.timeoutMs !== undefined) checkTimeout(options.timeoutMs)
    const progress = new UpsertProgress()
    const send = (part: readonly PreparedProduct[]) =>
      sendUpserts(part, progress, (one) => this.#call(one, options))
    let batch = new UpsertBatch(this.#callBytes)
    let index = -1
    for await (const product of products) {
      index += 1
      const prepared = this.#prepare(product, index, { progress, batch })
      if (prepared === undefined || batch.add(prepared)) continue
      await send(batch.products)
      batch = new UpsertBatch(this.#callBytes)
      batch.add(prepared)
    }
    await send(batch.products)
    return progress.toResult()
  }

  /** A call without products: shows whether the token is taken. Throws `ApiResponseError` or `ApiCallError` when not. */
  async probe(options: RequestOptions = {}): Promise<void> {
    const { outcome, call } = await this.#call([], options)
    requireTaken(outcome, call, 'products')
  }

  /** Closes all connections; running calls fail. */
  async close(): Promise<void> {
    await this.#caller[Symbol.asyncDispose]()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
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
    const token = this.#caller.token()
    const { merchantId } = this.#options
    const body = buildBody(products.map(({ document }) => document))
    const request = { ...upsertRequest(body, { token: () => token, merchantId }), signal, timeoutMs }
    const outcome = await this.#caller.send(request)
    return { outcome, call: this.#caller.describe(request, [token]) }
  }
}
