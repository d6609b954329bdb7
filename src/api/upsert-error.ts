import { ExitCode, OperatingError } from '../lib/errors.ts'

export interface RefusedProduct {
  /** Undefined when the product has none that can be read. */
  productId: string | undefined
  /** Its place among the products given, counted from 0. */
  index: number
  /** `contract`: not sent, since it breaks the contract; `server`: the server refused it. */
  by: 'contract' | 'server'
  /** One line each. */
  reasons: readonly string[]
}

/** Of several products with one id the last one given is meant. */
export interface UpsertResult {
  /** Ids of the products that the server took. */
  taken: string[]
  refused: RefusedProduct[]
  /** How many requests were made. */
  calls: number
}

/**
 * An upsert ended early: its `cause` is the `ApiResponseError` or `ApiCallError` of the last call, whose message, hint and
 * code it has, or what the iteration over the products has thrown.
 */
export class UpsertError extends OperatingError {
  readonly exitCode: ExitCode
  /** What was settled before. */
  readonly result: UpsertResult
  /** Ids whose state at the server is not known. Everything that is in neither list was not sent. */
  readonly unsettled: readonly string[]
  /** Of the last response; undefined when there was none. */
  readonly status: number | undefined

  constructor(cause: unknown, progress: { result: UpsertResult; unsettled: readonly string[] }) {
    const known = cause instanceof OperatingError ? cause : undefined
    const message = cause instanceof Error ? cause.message : String(cause)
    super(known?.code ?? 'upsert', message, {
      ...(known?.hint === undefined ? {} : { hint: known.hint }),
      cause,
    })
    this.exitCode = known?.exitCode ?? ExitCode.endpoint
    this.result = progress.result
    this.unsettled = progress.unsettled
    this.status =
      known !== undefined && 'status' in known && typeof known.status === 'number' ? known.status : undefined
  }
}
