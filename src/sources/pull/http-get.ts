import { isIP } from 'node:net'
import type { Readable } from 'node:stream'
import { Client, type Dispatcher, ProxyAgent } from 'undici'
import type { NetworkConfig } from '../../config/model.ts'
import { systemErrorCode } from '../../lib/errors.ts'
import { proxyFor, readCertificates } from '../../lib/network.ts'
import { describeUrl } from './describe-source.ts'
import { PullError } from './pull-error.ts'
import { type Network, pinnedLookup, resolveHost } from './resolve-host.ts'

export interface HttpGetOptions {
  url: URL
  /** For the origin of `url` alone: credentials and what else the operator wants to be sent. */
  ownHeaders: Readonly<Record<string, string>>
  /** For wherever redirects lead. */
  headers: Readonly<Record<string, string>>
  allowPrivate: boolean
  /** The way there; its certificates are shown to the origin of `url` only. */
  way: NetworkConfig | undefined
  /** How long the server may be silent, before its answer and inside it. */
  silenceMs: number
  signal: AbortSignal
  network: Network
}

/** An answer that is no redirect. Dispose it: that ends its connection, whether the body was read or not. */
export interface HttpAnswer extends AsyncDisposable {
  status: number
  /** Lower-case names; of several values the first. */
  headers: Readonly<Record<string, string>>
  body: Readable
  url: URL
}

const connectMsMax = 10_000
const redirectsMax = 10
const redirects: ReadonlySet<number> = new Set([301, 302, 303, 307, 308])

/**
 * One GET. Each hop is checked before it is connected to: scheme, host, every address; the connection goes to an address
 * that was checked. Over a redirect to another origin no own header is sent, from https none leads to http, and from a
 * public address none leads to a private one.
 */
export async function httpGet(options: HttpGetOptions): Promise<HttpAnswer> {
  let hop: Hop = { url: options.url, isPrivateAllowed: options.allowPrivate }
  for (let count = 0; count <= redirectsMax; count++) {
    const { answer, isPrivate } = await getOnce(options, hop)
    if (!redirects.has(answer.status)) return answer
    await answer[Symbol.asyncDispose]()
    const url = nextUrl(hop.url, answer.headers.location, answer.status)
    hop = { url, isPrivateAllowed: options.allowPrivate && isPrivate }
  }
  throw new PullError(
    'redirects',
    `${describeUrl(options.url)} leads through more than ${redirectsMax} redirects`,
    {
      hint: 'Name the address that the file is at',
    },
  )
}

interface Hop {
  url: URL
  isPrivateAllowed: boolean
}

async function getOnce(options: HttpGetOptions, { url, isPrivateAllowed }: Hop) {
  const { signal } = options
  const isOwn = url.origin === options.url.origin
  const { client, isPrivate } = await openClient(options, { url, isPrivateAllowed })
  try {
    const { statusCode, headers, body } = await client.request({
      origin: url.origin,
      method: 'GET',
      path: url.pathname + url.search,
      headers: { ...options.headers, ...(isOwn ? options.ownHeaders : {}) },
      signal,
    })
    // A body that nobody reads may fail when its connection ends.
    body.on('error', () => {})
    const dispose = () => client.destroy()
    const answer = {
      status: statusCode,
      headers: firstValues(headers),
      body,
      url,
      [Symbol.asyncDispose]: dispose,
    }
    return { answer, isPrivate }
  } catch (error) {
    await client.destroy()
    throw signal.aborted ? signal.reason : connectError(url, error)
  }
}

/** Through a proxy it is the proxy that knows what names mean: only addresses are checked then. */
async function openClient(
  { url: asked, way, silenceMs, network }: HttpGetOptions,
  { url, isPrivateAllowed }: Hop,
): Promise<{ client: Dispatcher; isPrivate: boolean }> {
  const { ca, ...own } = readCertificates(way)
  const tls = { ...(ca === undefined ? {} : { ca }), ...(url.origin === asked.origin ? own : {}) }
  const timeout = Math.min(connectMsMax, silenceMs)
  const options = { allowH2: false, pipelining: 1, headersTimeout: silenceMs, bodyTimeout: silenceMs }
  const proxy = proxyFor(url, way?.proxy)
  const isName = isIP(url.hostname.replace(/^\[|\]$/g, '')) === 0
  const isCheckedThere = proxy !== undefined && isName
  const host = isCheckedThere
    ? { addresses: [], isPrivate: false }
    : await resolveHost({ hostname: url.hostname, allowPrivate: isPrivateAllowed, network })
  const client = proxy
    ? new ProxyAgent({ ...options, uri: proxy.href, requestTls: tls, connectTimeout: timeout })
    : new Client(url.origin, {
        ...options,
        connect: { ...tls, lookup: pinnedLookup(host.addresses), timeout },
      })
  return { client, isPrivate: host.isPrivate }
}

function nextUrl(from: URL, location: string | undefined, status: number): URL {
  const to = location === undefined ? null : URL.parse(location, from.href)
  const where = `${describeUrl(from)} answers ${status}`
  if (to === null) {
    throw new PullError('redirect', `${where} without an address to go to`, {
      hint: 'Name the address that the file is at',
    })
  }
  to.hash = ''
  const isDowngrade = from.protocol === 'https:' && to.protocol !== 'https:'
  if (isDowngrade || (to.protocol !== 'https:' && to.protocol !== 'http:')) {
    throw new PullError(
      'redirect',
      `${where} and leads to ${to.protocol}//${to.host}, which is not followed`,
      {
        hint: 'Name an https address that the file is at',
      },
    )
  }
  to.username = ''
  to.password = ''
  return to
}

function firstValues(
  headers: Readonly<Record<string, string | string[] | undefined>>,
): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) => {
      const first = Array.isArray(value) ? value[0] : value
      return first === undefined ? [] : [[name.toLowerCase(), first]]
    }),
  )
}

function connectError(url: URL, cause: unknown): PullError {
  const { message } = cause instanceof Error ? cause : { message: String(cause) }
  const code = systemErrorCode(cause)
  const detail = code && !message.includes(code) ? `${message} (${code})` : message
  const isCertificate = /certificate|self-signed|altname/i.test(detail)
  return new PullError('no-answer', `${describeUrl(url)} gives no answer: ${detail}`, {
    hint: isCertificate
      ? 'Its certificate is not trusted: correct the name in url, or name its authority with caFile'
      : 'Look whether the server runs and can be reached from this machine',
    cause,
  })
}
