import { rename } from 'node:fs/promises'
import type { UrlSource } from '../../config/model.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Log } from '../../lib/log.ts'
import { readVersion } from '../../lib/version.ts'
import { removeIfPresent } from '../durable.ts'
import { download } from './download.ts'
import type { FeedPull } from './feed-pull.ts'
import { nameOfAnswer } from './file-name.ts'
import { httpGet } from './http-get.ts'
import type { Network } from './resolve-host.ts'
import { checkNoWebPage } from './web-page.ts'

export interface FetchUrlOptions {
  source: UrlSource
  feedName: string
  feedPull: FeedPull
  silenceMs: number
  clock: Clock
  log: Log
  signal: AbortSignal
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
          caFile: source.caFile,
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
