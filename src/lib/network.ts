import { readFileSync, statSync } from 'node:fs'
// Whole: an older Node, which lacks a name of it, is to fail with a message of ours.
import tls from 'node:tls'
import { Agent, type Dispatcher, ProxyAgent } from 'undici'
import type { NetworkConfig, ProxyConfig } from '../config/model.ts'
import { isThisMachine } from './base-address.ts'
import { type Clock, systemClock } from './clock.ts'
import { ConfigError, systemErrorCode } from './errors.ts'

/** Certificates are renewed while the daemon runs: it is looked at them this often. */
const lookEveryMs = 60_000
const connectMs = 10_000

interface Opening {
  network: NetworkConfig | undefined
  /** Only its origin is connected to. */
  url: URL
  options: Agent.Options
  clock?: Pick<Clock, 'monotonic'>
}

/**
 * Connections to one server, through a proxy where there is one, with the configured certificates. When a file of these is
 * renewed, new requests have new connections; those that run end on the old ones.
 */
export class ServerConnections implements AsyncDisposable {
  readonly #opening: Opening
  #dispatcher: Dispatcher
  #version: string
  #lookAtMs: number

  /** Throws a ConfigError when a certificate cannot be read. */
  constructor(opening: Opening) {
    this.#opening = opening
    this.#version = versionOf(opening.network)
    this.#dispatcher = open(opening)
    this.#lookAtMs = this.#now() + lookEveryMs
  }

  /** For the next request: name the origin with it. */
  get current(): Dispatcher {
    const now = this.#now()
    if (now < this.#lookAtMs) return this.#dispatcher
    this.#lookAtMs = now + lookEveryMs
    const version = versionOf(this.#opening.network)
    if (version === this.#version) return this.#dispatcher
    const former = this.#dispatcher
    this.#dispatcher = open(this.#opening)
    this.#version = version
    // It ends with its last request.
    void former.close().catch(() => undefined)
    return this.#dispatcher
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#dispatcher.destroy()
  }

  #now(): number {
    return (this.#opening.clock ?? systemClock).monotonic()
  }
}

function open({ network, url, options }: Opening): Dispatcher {
  const certificates = readCertificates(network)
  const proxy = proxyFor(url, network?.proxy)
  if (!proxy)
    return new Agent({
      ...options,
      connect: { ...certificates, timeout: options.connectTimeout ?? connectMs },
    })
  return new ProxyAgent({
    ...options,
    uri: proxy.href,
    requestTls: certificates,
    proxyTls: caOf(certificates),
  })
}

/** A proxy may have a certificate of the same authority; it is not shown ours. */
function caOf({ ca }: Certificates): Certificates {
  return ca === undefined ? {} : { ca }
}

interface Certificates {
  ca?: string[]
  cert?: string
  key?: string
}

/** As PEM. The system's authorities are trusted besides the configured ones. */
export function readCertificates(network: NetworkConfig | undefined): Certificates {
  const { caFile, certFile, keyFile } = network ?? {}
  return {
    ...(caFile === undefined ? {} : { ca: [...tls.getCACertificates('default'), readPem(caFile, 'caFile')] }),
    ...(certFile === undefined ? {} : { cert: readPem(certFile, 'certFile') }),
    ...(keyFile === undefined ? {} : { key: readPem(keyFile, 'keyFile') }),
  }
}

function readPem(file: string, key: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (cause) {
    throw new ConfigError('certificate-file', `${file} cannot be read (${systemErrorCode(cause) ?? cause})`, {
      hint: `Correct ${key}, or let the user that runs catalogd read it`,
      cause,
    })
  }
}

/** Files that are not there are told of when they are read. */
function versionOf({ caFile, certFile, keyFile }: Partial<NetworkConfig> = {}): string {
  const files = [caFile, certFile, keyFile].filter((file) => file !== undefined)
  return files.map((file) => statSync(file, { throwIfNoEntry: false })?.mtimeMs).join()
}

/** Through which proxy a server is reached; undefined: directly. */
export function proxyFor(url: URL, proxy: ProxyConfig | undefined): URL | undefined {
  if (proxy === undefined) return undefined
  if (proxy.kind === 'configured') return proxy.url.value()
  const address = url.protocol === 'https:' ? proxy.https : proxy.http
  if (address === '' || isExempt(url, proxy.except)) return undefined
  if (URL.canParse(address) && /^https?:$/.test(new URL(address).protocol)) return new URL(address)
  const name = url.protocol === 'https:' ? 'HTTPS_PROXY' : 'HTTP_PROXY'
  throw new ConfigError('proxy-address', `the environment variable ${name} is no address of a proxy`, {
    hint: 'Expected http://host:port, or proxy beside the address of the server',
  })
}

/** NO_PROXY: `*`, names with everything below them, addresses, each with or without a port. */
function isExempt({ hostname, port, protocol }: URL, except: string): boolean {
  const host = hostname.replace(/^\[|\]$/g, '').toLowerCase()
  if (isThisMachine(host)) return true
  const ownPort = port || (protocol === 'https:' ? '443' : '80')
  return except.split(/[\s,]+/).some((entry) => {
    const [, name = '', only] = /^(.+?)(?::(\d+))?$/.exec(entry.toLowerCase()) ?? []
    if (name === '' || (only !== undefined && only !== ownPort)) return false
    const suffix = name.replace(/^\*?\./, '')
    return name === '*' || host === suffix || host.endsWith(`.${suffix}`)
  })
}
