import { relative, resolve } from 'node:path'
import { baseAddressProblem, isThisMachine, webhookAddressProblem } from '../lib/base-address.ts'
import { parseListenAddress } from './build.ts'
import { checkConsentFeed, consentCommandName } from './consent-feed-checks.ts'
import type { ConfigDocument } from './document.ts'
import { parseDuration } from './duration.ts'
import { checkFeed } from './feed-checks.ts'
import type { FeedKind } from './model.ts'
import { checkNetwork } from './network-schema.ts'
import {
  checkFieldNames,
  checkText,
  type FieldKnowledge,
  feedPaths,
  isMapping,
  kindOfFeed,
  namesAt,
  soundPart,
} from './parts.ts'
import { patternsOverlap } from './pattern-overlap.ts'
import { type ConfigPath, formatPath } from './problems.ts'
import { apiSchema, deferredSchema, feedShape } from './schema.ts'
import { checkTransforms } from './transform-schema.ts'

/** Names that stand beside the catalogs' folders in the state folder. */
const reservedNames: ReadonlySet<string> = new Set(['redis', 'lock'])

/**
 * What the schema cannot see: how parts fit together. Each check looks at parts that are sound by themselves, so that
 * a mistake in one place hides no mistake elsewhere. `folder` is where relative paths begin.
 */
export function checkWhole(document: ConfigDocument, folder: string, knowledge: FieldKnowledge): void {
  checkText(document, ['redis'], redisAddressProblem)
  checkText(document, ['redis', 'url'], redisAddressProblem)
  for (const [section, token] of [
    ['stack', 'accessToken'],
    ['intent', 'token'],
  ] as const) {
    checkAddress(document, [section, 'url'])
    checkNetwork(document, [section])
    checkToken(document, [section], token)
  }
  checkToken(document, ['console'], 'token')
  checkToken(document, ['console'], 'readToken')
  checkOperatorParts(document)
  checkNotEmpty(document, ['catalogs'], 'catalog')
  for (const catalog of namesAt(document, ['catalogs'])) checkCatalog(document, catalog, knowledge)
  checkDropFolders(document, folder)
  checkTransforms(document, folder)
}

/** An empty address counts as none: it is an error where it is used. */
function checkAddress(document: ConfigDocument, path: ConfigPath): void {
  checkText(document, path, (address) => (address === '' ? undefined : baseAddressProblem(address)))
}

function checkNotEmpty(document: ConfigDocument, path: ConfigPath, what: string): void {
  if (isMapping(document.at(path)) && namesAt(document, path).length === 0) {
    document.addProblem(path, `found no ${what}, expected at least one`)
  }
}

function checkCatalog(document: ConfigDocument, name: string, knowledge: FieldKnowledge): void {
  const path = ['catalogs', name]
  if (reservedNames.has(name)) {
    document.addProblem(path, 'found a name that catalogd uses itself, expected another name', 'key')
  }
  checkApi(document, [...path, 'api'])
  checkDeferred(document, [...path, 'deferred'])
  checkFieldNames(document, [...path, 'urgent'], knowledge)
  const feedsPath = [...path, 'feeds']
  checkNotEmpty(document, feedsPath, 'feed')
  for (const feed of namesAt(document, feedsPath)) {
    const feedPath = [...feedsPath, feed]
    if (feed === consentCommandName) {
      document.addProblem(
        feedPath,
        'found the name under which the command "consent" hands files in, expected another name',
        'key',
      )
    }
    if (kindOfFeed(document, feedPath) === 'consents') checkConsentFeed(document, feedPath, knowledge)
    else checkFeed(document, feedPath, knowledge)
  }
  checkOwners(document, feedsPath)
}

function checkApi(document: ConfigDocument, path: ConfigPath): void {
  checkNetwork(document, path)
  checkAddress(document, [...path, 'url'])
  const api = soundPart(document, path, apiSchema)
  if (api === undefined) return
  checkToken(document, path, 'emailToken')
  checkToken(document, path, 'productsToken')
  const hasNone = api.productsToken === undefined && api.productsTokenFile === undefined
  if (hasNone && hasFeedOf(document, path.with(-1, 'feeds'), 'products')) {
    document.addProblem([...path, 'productsToken'], 'is missing, expected productsToken or productsTokenFile')
  }
  const noEmail = api.emailToken === undefined && api.emailTokenFile === undefined
  if (noEmail && hasFeedOf(document, path.with(-1, 'feeds'), 'consents')) {
    document.addProblem(
      [...path, 'emailToken'],
      'is missing, and a feed of kind consents needs it, expected emailToken or emailTokenFile',
    )
  }
}

/** A token stands in the configuration or in a file of its own. */
function checkToken(document: ConfigDocument, path: ConfigPath, token: string): void {
  const isGiven = (key: string) => document.at([...path, key]) !== undefined
  if (!isGiven(token) || !isGiven(`${token}File`)) return
  document.addProblem([...path, `${token}File`], `found beside ${token}, expected one of them`, 'key')
}

function hasFeedOf(document: ConfigDocument, feedsPath: ConfigPath, kind: FeedKind): boolean {
  return namesAt(document, feedsPath).some((feed) => kindOfFeed(document, [...feedsPath, feed]) === kind)
}

function checkDeferred(document: ConfigDocument, path: ConfigPath): void {
  const deferred = soundPart(document, path, deferredSchema.prefault({}))
  if (deferred === undefined) return
  const { after, atMost } = deferred
  if ((parseDuration(after) ?? 0) <= (parseDuration(atMost) ?? 0)) return
  document.addProblem(
    [...path, 'after'],
    `found ${after}, expected at most deferred.atMost, which is ${atMost}`,
  )
}

/** A field has one writer: two owners would contradict each other. */
function checkOwners(document: ConfigDocument, feedsPath: ConfigPath): void {
  const owners = new Map<string, string>()
  for (const feed of namesAt(document, feedsPath)) {
    const path = [...feedsPath, feed, 'owns']
    for (const [index, field] of (soundPart(document, path, feedShape.owns) ?? []).entries()) {
      const owner = owners.get(field)
      if (owner === undefined) owners.set(field, feed)
      else
        document.addProblem(
          [...path, index],
          `found "${field}", which ${describeOwner(owner, feed)}, expected one owner`,
        )
    }
  }
}

function describeOwner(owner: string, feed: string): string {
  return owner === feed ? 'stands here twice' : `feed "${owner}" owns already`
}

/** Why a text is not the address of a Redis, or undefined when it is (or is empty). */
function redisAddressProblem(address: string): string | undefined {
  if (address === '' || address.startsWith('/')) return undefined
  const isRedis = URL.canParse(address) && /^rediss?:$/.test(new URL(address).protocol)
  return isRedis
    ? undefined
    : 'expected redis://host:port, rediss://host:port, or nothing for an own redis-server'
}

function checkOperatorParts(document: ConfigDocument): void {
  checkText(document, ['console', 'listen'], (listen) => {
    if (listen === '' || parseListenAddress(listen)) return undefined
    return 'expected host:port such as 127.0.0.1:8480, or nothing'
  })
  checkNetwork(document, ['alerts'])
  checkOpenConsole(document)
  for (const path of [
    ['alerts', 'url'],
    ['alerts', 'heartbeat', 'url'],
    ['traces', 'url'],
  ]) {
    checkText(document, path, (url) => (url === '' ? undefined : webhookAddressProblem(url)))
  }
}

/** Whoever can reach it may push, unless there is a token. */
function checkOpenConsole(document: ConfigDocument): void {
  const listen = document.at(['console', 'listen'])
  const address = typeof listen === 'string' ? parseListenAddress(listen) : undefined
  if (address === undefined || isThisMachine(address.host)) return
  const hasToken = Boolean(document.at(['console', 'token'])) || document.at(['console', 'tokenFile'])
  if (hasToken) return
  document.addProblem(
    ['console', 'listen'],
    `found ${listen}, which others can reach, and no token, expected console.token, or 127.0.0.1`,
  )
}

interface Drop {
  path: ConfigPath
  /** Absolute. */
  folder: string
  patterns: readonly string[]
}

/** Which file belongs to which feed must be beyond doubt, over all catalogs. */
function checkDropFolders(document: ConfigDocument, folder: string): void {
  const state = document.at(['state'])
  const stateFolder = resolve(folder, typeof state === 'string' ? state : './state')
  const drops: Drop[] = []
  for (const drop of readDrops(document, folder)) {
    const path = [...drop.path, 'drop']
    if (isInside(drop.folder, stateFolder)) {
      document.addProblem(path, 'found a folder inside the state folder, expected one outside of it')
    }
    const other = drops.find((earlier) => earlier.folder === drop.folder && overlap(earlier, drop))
    if (other !== undefined) {
      const found = `found the folder of ${formatPath(other.path)}, where one file could belong to both feeds`
      document.addProblem(
        path,
        `${found}, expected another folder, or "files" patterns that no name can both match`,
      )
    }
    drops.push(drop)
  }
}

function isInside(folder: string, parent: string): boolean {
  const way = relative(parent, folder)
  return way === '' || !(way === '..' || way.startsWith('../'))
}

function overlap(a: Drop, b: Drop): boolean {
  return a.patterns.some((first) => b.patterns.some((second) => patternsOverlap(first, second)))
}

function readDrops(document: ConfigDocument, folder: string): Drop[] {
  return feedPaths(document).flatMap((path): Drop[] => {
    const drop = soundPart(document, [...path, 'drop'], feedShape.drop)
    const files = soundPart(document, [...path, 'files'], feedShape.files)
    if (drop === undefined || files === undefined) return []
    const patterns = typeof files === 'string' ? [files] : [files.full, files.delta]
    return [{ path, folder: resolve(folder, drop), patterns: patterns.filter((one) => one !== undefined) }]
  })
}
