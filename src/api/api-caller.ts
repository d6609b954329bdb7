import type { Clock } from '../lib/clock.ts'
import type { CallOutcome } from './call-outcome.ts'
import { type ClientOptions, readClientOptions, type TokenSource, tokenReader } from './client-options.ts'
import type { ApiGroup } from './contract/endpoints.ts'
import type { AnsweredCall } from './read-answer.ts'
import { closedError, Transport, type TransportOptions, type TransportRequest } from './transport.ts'

export interface ApiCallerOptions extends ClientOptions, Pick<TransportOptions, 'responseBytesMax'> {
  group: ApiGroup
  token: TokenSource | undefined
}

/** What the clients for library users share: a transport, a token, and what errors about its calls are made of. */
export class ApiCaller implements AsyncDisposable {
  readonly clock: Clock
  /** Asked for before anything else. Throws `ConfigError` when there is none, and when the client is closed. */
  readonly token: () => string
  readonly #group: ApiGroup
  readonly #transport: Transport
  readonly #closing = new AbortController()

  /** Throws `ConfigError` for a base address that would give the token away. */
  constructor(options: ApiCallerOptions) {
    const { clock, ...settings } = readClientOptions(options)
    const { group, token, responseBytesMax } = options
    this.clock = clock
    const readToken = tokenReader(token, group)
    this.token = () => {
      if (this.closed.aborted) throw closedError()
      return readToken()
    }
    this.#group = group
    this.#transport = new Transport({ ...settings, ...(responseBytesMax ? { responseBytesMax } : {}) })
  }

  /** Aborted when the client is closed. */
  get closed(): AbortSignal {
    return this.#closing.signal
  }

  /** Never throws. */
  send(request: TransportRequest): Promise<CallOutcome> {
    return this.#transport.send(request)
  }

  /** The call as errors speak of it. `secrets`: what it carried that nobody may see. */
  describe(request: TransportRequest, secrets: readonly string[]): AnsweredCall {
    const { method, signal } = request
    return {
      ...this.#transport.show(request),
      method,
      group: this.#group,
      secrets,
      signal,
      now: this.clock.now(),
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort(closedError())
    await this.#transport[Symbol.asyncDispose]()
  }
}
