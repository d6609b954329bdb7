import { rename } from 'node:fs/promises'
import type { UrlSource } from '../../config/model.ts'
import { removeIfPresent } from '../../lib/durable.ts'
import { readVersion } from '../../lib/version.ts'
import { cleanName } from '../entry-name.ts'
import { describeUrl } from './describe-source.ts'
import { download } from './download.ts'
import type { FetchOptions } from './feed-pull.ts'
import { httpGet } from './http-get.ts'
import { PullError } from './pull-error.ts'
import type { Network } from './resolve-host.ts'

interface FetchUrlOptions extends FetchOptions {
  source: UrlSource
  network: Network
}

/** Fetches the file at a URL unless it is the one that was accepted last. Returns how many files were accepted. */
export async function fetchUrl(options: FetchUrlOptions): Promise<number> {
  const { source, feedName, feedPull, silenceMs, clock, log, signal, network } = options
  const url = source.url.value()
  const ownHeaders = ownHeadersOf(source)
  const { version: known } = feedPull.state
  await using part = await feedPull.openPart()
  try {
    const found = await download({
      get: (conditions) =>
        httpGet({
          url,
          ownHeaders,
          headers: { accept: '*/*', 'accept-encoding': 'identity', 'user-agent': userAgent(), ...conditions },
          allowPrivate: source.allowPrivate,
          way: source.network,
          silenceMs,
          signal,
          network,
        }),
      part,
      known: known && !feedPull.isDoubtful(known) ? known : undefined,
      clock,
      signal,
    })
    if (found.kind === 'unchanged') return 0
    checkNoWebPage(found, part.head)
    const { bytes, sha256 } = await part.finish()
    const disposition = found.headers['content-disposition']
    const name = source.name ?? nameOfAnswer({ disposition, asked: url, from: found.url, feed: feedName })
    const isLengthUnknown = found.headers['content-length'] === undefined
    const version = { ...found.validators, sha256, name, isLengthUnknown, claim: known?.claim }
    if (known?.sha256 === sha256) {
      await feedPull.save({ ...feedPull.state, version })
      log.info({ feed: feedName, bytes, file: name }, 'fetched the same bytes again: nothing new')
      return 0
    }
    const fetched = feedPull.claimFor(name, feedPull.modeOf(name))
    await rename(part.path, fetched.path)
    const accepted = await feedPull.accept([
      { ...fetched, version: { ...version, claim: fetched.parts.claim } },
    ])
    log.info({ feed: feedName, bytes, file: name, claim: fetched.parts.claim }, 'fetched a file')
    return accepted.length
  } finally {
    await removeIfPresent(part.path)
  }
}

function ownHeadersOf({ headers, credentials }: UrlSource): Record<string, string> {
  const own = Object.fromEntries(headers.map(({ name, value }) => [name.toLowerCase(), value.value()]))
  if (credentials) {
    const pair = `${credentials.user.value()}:${credentials.password.value()}`
    own.authorization = `Basic ${Buffer.from(pair).toString('base64')}`
  }
  return own
}

function userAgent(): string {
  return `catalogd/${readVersion()}`
}

/** After a byte order mark, if there is one. */
const beginning = /^(?:ï»¿)?\s*<(?:!doctype\s+html|html|head|body)\b/i

/** A login or error page that is sent in place of the file, with a status that says all is well. */
function checkNoWebPage(answer: { headers: Readonly<Record<string, string>>; url: URL }, head: Buffer): void {
  if (!beginning.test(head.toString('latin1'))) return
  throw new PullError('web-page', `${describeUrl(answer.url)} answers with a web page in place of a file`, {
    hint: 'Correct url, or the user and password: it may be the page that asks for them',
  })
}

interface Naming {
  /** `Content-Disposition` of the answer. */
  disposition: string | undefined
  /** Where the file was asked for, and where it came from. */
  asked: URL
  from: URL
  feed: string
}

/** What a fetched file is called: as the server says, else as in its address, else as its feed. Safe as a name. */
function nameOfAnswer({ disposition, asked, from, feed }: Naming): string {
  const named = disposition === undefined ? undefined : nameOfDisposition(disposition)
  const inPath = [asked, from].map(lastSegment)
  const withSuffix = inPath.find((segment) => /[^.]\.[A-Za-z0-9]{1,8}$/.test(segment))
  return cleanName(lastPart(named) || withSuffix || inPath.find((segment) => segment !== '') || feed)
}

/** RFC 6266: the extended form counts before the plain one. */
function nameOfDisposition(disposition: string): string | undefined {
  const extended = /;\s*filename\*\s*=\s*(utf-8|iso-8859-1)'[^']*'([^;\s]+)/i.exec(disposition)
  if (extended) {
    const [, charset = '', text = ''] = extended
    const decoded = charset.toLowerCase() === 'utf-8' ? decode(text) : undefined
    return (
      decoded ??
      text.replace(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
    )
  }
  const [, quoted, plain] = /;\s*filename\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^;\s]+))/i.exec(disposition) ?? []
  return quoted?.replace(/\\(.)/g, '$1') ?? plain
}

function lastSegment({ pathname }: URL): string {
  const segment = pathname.split('/').at(-1) ?? ''
  return decode(segment) ?? segment
}

/** Some servers send whole paths. */
function lastPart(name: string | undefined): string | undefined {
  return name?.split(/[/\\]/).at(-1)
}

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}
