import type { NetworkConfig } from '../config/model.ts'
import { baseAddressProblem } from '../lib/base-address.ts'
import { type Clock, systemClock } from '../lib/clock.ts'
import { ConfigError } from '../lib/errors.ts'
import { readVersion } from '../lib/version.ts'
import type { CallOutcome } from './call-outcome.ts'
import type { ApiGroup } from './contract/endpoints.ts'
import { type AnsweredCall, missingTokenHint } from './read-answer.ts'
import { checkTimeout } from './timeout.ts'
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

/** A client for library users: its calls go through one caller. */
export class ApiClient implements AsyncDisposable {
  protected readonly caller: ApiCaller

  constructor(options: ApiCallerOptions) {
    this.caller = new ApiCaller(options)
  }

  /** Closes all connections; running calls fail. */
  async close(): Promise<void> {
    await this.caller[Symbol.asyncDispose]()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }
}

const timeoutMsDefault = 30_000
const connectionsDefault = 4

/** A token, or where to ask for it: a function is asked at every call, so that a token that changes is used at once. */
export type TokenSource = string | (() => string)

export interface ClientOptions {
  /**
   * Base address: https, or http on this machine. A path in it is kept as a prefix. Any other address is refused with a
   * `ConfigError` when the client is made.
   */
  url: string | URL
  /** Of a whole call, from asking for a connection to the last byte of the response. Default: 30,000. */
  timeoutMs?: number | undefined
  /** At one time; further calls wait for one. Default: 4. */
  connections?: number | undefined
  /** The way there; default: directly. */
  network?: NetworkConfig | undefined
  clock?: Clock | undefined
}

export interface RequestOptions {
  /** Gives the call up. It may have taken effect nevertheless, once it was sent. */
  signal?: AbortSignal | undefined
  /** Instead of that of the client. */
  timeoutMs?: number | undefined
}

export interface ClientSettings extends TransportOptions {
  clock: Clock
}

/** Throws `ConfigError` for an address that would give tokens away, or that is none, and for numbers that mean nothing. */
function readClientOptions(options: ClientOptions): ClientSettings {
  const { url, timeoutMs = timeoutMsDefault, connections = connectionsDefault } = options
  const address = String(url)
  const problem = baseAddressProblem(address)
  if (problem !== undefined) {
    throw new ConfigError('base-address', `url of the client: found ${showAddress(address)}, ${problem}`)
  }
  checkTimeout(timeoutMs)
  if (!Number.isSafeInteger(connections) || connections < 1) {
    const message = `connections of the client: found ${String(connections)}, expected a whole number of at least 1`
    throw new ConfigError('client-connections', message)
  }
  const base = new URL(address)
  return {
    url: () => base,
    network: options.network,
    timeoutMs,
    connections,
    version: readVersion(),
    clock: options.clock ?? systemClock,
  }
}

/**
 * Throws `ConfigError` when there is no token, at every call and not before. What stands around it, such as the end of
 * the line in a file, is not part of it.
 */
function tokenReader(source: TokenSource | undefined, group: ApiGroup): () => string {
  return () => {
    const given: unknown = typeof source === 'function' ? source() : source
    const token = typeof given === 'string' ? given.trim() : ''
    if (token === '') {
      throw new ConfigError('no-token', 'the client has no token', { hint: missingTokenHint(group) })
    }
    if (!/\p{Cc}/u.test(token)) return token
    throw new ConfigError(
      'bad-token',
      'the token of the client holds the end of a line or another control character',
      {
        hint: 'Give the token alone, as it is shown where tokens are listed',
      },
    )
  }
}

/** Host and protocol only: a user, a password or a query in it are nobody's to see. */
function showAddress(address: string): string {
  if (!URL.canParse(address)) return 'no address'
  const { protocol, host } = new URL(address)
  return `${protocol}//${host}`
}
