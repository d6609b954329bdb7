import type { IncomingHttpHeaders } from 'node:http'
import type { FormatConfig } from '../config/format-model.ts'
import type { CatalogConfig, FeedConfig, FeedMode } from '../config/model.ts'

/** What a push asks for, as far as path, query and headers tell. */
export interface PushRequest {
  catalog: CatalogConfig
  feed: FeedConfig
  name: string
  mode: FeedMode | undefined
  key: string | undefined
  /** Of the body; undefined: it comes in chunks. */
  bytes: number | undefined
}

export interface Refusal {
  status: 400 | 404 | 411 | 413 | 415 | 422
  error: string
  message: string
  hint?: string
}

export interface ReceivedRequest {
  feed: string
  query: Readonly<Record<string, unknown>>
  headers: IncomingHttpHeaders
}

/** Extensions under which bodies are stored; the content decides how a file is read. */
const extensions: ReadonlyMap<string, string> = new Map([
  ['application/json', '.json'],
  ['application/x-ndjson', '.ndjson'],
  ['application/ndjson', '.ndjson'],
  ['application/jsonl', '.ndjson'],
  ['text/csv', '.csv'],
  ['application/csv', '.csv'],
  ['text/tab-separated-values', '.tsv'],
  ['text/xml', '.xml'],
  ['application/xml', '.xml'],
  ['application/rss+xml', '.xml'],
  ['application/atom+xml', '.xml'],
  ['application/vnd.openxmlformats-officedocument.spreadsheetml.sheet', '.xlsx'],
  ['application/zip', '.zip'],
  ['application/gzip', '.gz'],
  ['application/x-gzip', '.gz'],
  ['application/zstd', '.zst'],
])

/** What says nothing of the content: `curl --data-binary` calls everything a form. */
const silentTypes = new Set([
  '',
  'application/octet-stream',
  'application/x-www-form-urlencoded',
  'text/plain',
  'binary/octet-stream',
])
const codings: ReadonlyMap<string, string> = new Map([
  ['gzip', '.gz'],
  ['x-gzip', '.gz'],
  ['zstd', '.zst'],
])
/** Types of files that a JSON body can be read as. */
const jsonTypes: ReadonlySet<FormatConfig['type'] | string> = new Set([undefined, 'json', 'ndjson'])
const keyCharactersMax = 255

/** Reads everything but the body. `bytesMax` bounds the body. */
export function parsePush(
  { feed, query, headers }: ReceivedRequest,
  { catalogs, bytesMax }: { catalogs: readonly CatalogConfig[]; bytesMax: number },
): PushRequest | Refusal {
  const found = findFeed(feed, query.catalog, catalogs)
  if ('status' in found) return found
  const { mode } = query
  if (mode !== undefined && mode !== 'full' && mode !== 'delta') {
    return refuse(422, 'push-mode', 'mode is neither full nor delta', 'Leave it out to let the feed decide')
  }
  const bytes = parseLength(headers, bytesMax)
  if (typeof bytes === 'object') return bytes
  const named = nameOf(found.feed, query.name, headers)
  if (typeof named === 'object') return named
  const key = parseKey(headers['idempotency-key'])
  if (typeof key === 'object') return key
  return { ...found, name: named, mode, key, bytes }
}

function findFeed(name: string, asked: unknown, catalogs: readonly CatalogConfig[]) {
  const among = asked === undefined ? catalogs : catalogs.filter((catalog) => catalog.name === asked)
  if (among.length === 0) return refuse(404, 'catalog-unknown', 'there is no such catalog')
  const found = among.flatMap((catalog) => {
    const feed = [...catalog.feeds.values()].find((candidate) => candidate.name === name)
    return feed ? [{ catalog, feed }] : []
  })
  const [only] = found
  if (only && found.length === 1) return only
  if (!only) {
    const known = among.flatMap(({ feeds }) => [...feeds.keys()]).join(', ')
    return refuse(404, 'feed-unknown', 'there is no such feed', `Feeds: ${known}`)
  }
  const several = found.map(({ catalog }) => catalog.name).join(', ')
  return refuse(422, 'catalog-missing', `several catalogs have this feed: ${several}`, 'Add ?catalog=<name>')
}

function parseLength(headers: IncomingHttpHeaders, bytesMax: number): number | undefined | Refusal {
  const length = headers['content-length']
  if (length === undefined) {
    if (headers['transfer-encoding'] !== undefined) return undefined
    return refuse(411, 'length-missing', 'the request says neither how long its body is nor sends chunks')
  }
  const bytes = Number(length)
  if (bytes <= bytesMax) return bytes
  return refuse(
    413,
    'push-too-large',
    `the body has ${bytes} bytes, at most ${bytesMax} are taken`,
    'Raise console.maxBytes, compress the body, or use a drop folder',
  )
}

function nameOf(feed: FeedConfig, asked: unknown, headers: IncomingHttpHeaders): string | Refusal {
  const type = (headers['content-type'] ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? ''
  const extension = extensions.get(type) ?? (silentTypes.has(type) || /\+?xml$/.test(type) ? '' : undefined)
  if (extension === undefined) {
    const hint = 'Send the file itself, with its own content type or application/octet-stream'
    return refuse(415, 'content-type', `a body of type ${type} cannot be taken`, hint)
  }
  if (extension === '.json' && !jsonTypes.has(feed.format.type)) {
    const message = `feed ${feed.name} is configured for ${feed.format.type} (format.type), and the body is JSON`
    return refuse(415, 'content-type', message, 'Leave format.type out: then each file is read as what it is')
  }
  const coding = (headers['content-encoding'] ?? '').trim().toLowerCase()
  const suffix = coding === '' || coding === 'identity' ? '' : codings.get(coding)
  if (suffix === undefined) {
    return refuse(415, 'content-encoding', `a body in ${coding} cannot be taken`, 'Use gzip, zstd, or none')
  }
  const name = typeof asked === 'string' && asked !== '' ? asked : `pushed${extension}`
  return name.toLowerCase().endsWith(suffix) ? name : name + suffix
}

function parseKey(header: string | string[] | undefined): string | undefined | Refusal {
  if (header === undefined) return undefined
  const key = typeof header === 'string' ? header : header.join()
  if (key !== '' && key.length <= keyCharactersMax) return key
  return refuse(400, 'idempotency-key', `an Idempotency-Key has 1 to ${keyCharactersMax} characters`)
}

function refuse(status: Refusal['status'], error: string, message: string, hint?: string): Refusal {
  return { status, error, message, ...(hint === undefined ? {} : { hint }) }
}
