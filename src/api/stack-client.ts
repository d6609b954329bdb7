import { StackCalls, type StackClientOptions } from './stack-calls.ts'
import { StackRules } from './stack-rules.ts'
import { StackTerms } from './stack-terms.ts'
import { StackUsers } from './stack-users.ts'
import { StackViews } from './stack-views.ts'

/**
 * One Stack of the content-aggregation API. `access_token` and `stack` go into the query of every request.
 *
 * Waits where the server's rate limit asks for it: before a call when nothing remains, and after a 429 (or a 403 with
 * nothing remaining), which is then repeated, since it took no effect. Waits end with the `signal` of the call, and are
 * never longer than `waitAtMostMs`. A GET whose connection is lost is repeated once; a write never.
 *
 * Bodies may come in the envelope `{data, errors, count}` or bare. Fields that the contract does not have are kept, and a
 * field of another form than the contract shows is kept as it came. A 200 whose `errors` are not empty is an error.
 *
 * All methods throw `ContractError` for what breaks the contract (nothing is sent), `ConfigError` without a token,
 * `ApiResponseError` when the server refuses, `ApiCallError` when no answer came. Source: `endpoints`, group `stack`.
 */
export class StackClient implements AsyncDisposable {
  readonly rules: StackRules
  readonly views: StackViews
  readonly users: StackUsers
  readonly terms: StackTerms
  readonly #calls: StackCalls

  /** Throws `ConfigError` for a base address that is neither https nor on this machine. */
  constructor(options: StackClientOptions) {
    this.#calls = new StackCalls(options)
    this.rules = new StackRules(this.#calls)
    this.views = new StackViews(this.#calls)
    this.users = new StackUsers(this.#calls)
    this.terms = new StackTerms(this.#calls)
  }

  /** Closes all connections; running calls fail. */
  async close(): Promise<void> {
    await this.#calls[Symbol.asyncDispose]()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }
}
