import { isIP } from 'node:net'
import { resolve } from 'node:path'
import type { CatalogName, FeedName } from '../lib/brand.ts'
import { withoutUndefined } from '../lib/without-undefined.ts'
import {
  Access,
  type AccessContext,
  buildApi,
  buildIntent,
  buildNetwork,
  buildStack,
} from './build-access.ts'
import { buildPull } from './build-pull.ts'
import { consentCommandName } from './consent-feed-checks.ts'
import type { ConfigDocument } from './document.ts'
import { longestMs, parseDuration } from './duration.ts'
import { normalizeRule } from './field-rules.ts'
import { buildFormat } from './format-schema.ts'
import { buildGroup } from './group-schema.ts'
import { checked, parseShare, parseSize, type Share } from './leaves.ts'
import type {
  AlertsConfig,
  AsOfRule,
  CatalogConfig,
  Config,
  ConsentsConfig,
  ConsoleConfig,
  FeedConfig,
  TracesConfig,
} from './model.ts'
import type { ConfigPath } from './problems.ts'
import { type CatalogInput, type ConfigInput, defaultSettle, type FeedInput } from './schema.ts'
import { buildTransform } from './transform-schema.ts'

/** Relative paths begin at the folder of the configuration file. */
export interface BuildContext {
  document: ConfigDocument
  file: string
  folder: string
}

/** What the stages are given, from a configuration that has passed every check. */
export function buildConfig(input: ConfigInput, context: BuildContext): Config {
  const catalogs = Object.entries(input.catalogs).map(([name, catalog]): [CatalogName, CatalogConfig] => [
    name as CatalogName,
    buildCatalog(name as CatalogName, catalog, context),
  ])
  return {
    file: context.file,
    stateDir: resolve(context.folder, input.state),
    ...buildRedis(input.redis),
    archive: { keepMs: checked(parseDuration(input.archive.keep, longestMs)) },
    history: {
      historyBytes: checked(parseSize(input.history.perProduct)),
      callsBytes: checked(parseSize(input.history.calls)),
    },
    stack: buildStack(input.stack, context),
    intent: buildIntent(input.intent, context),
    console: buildConsole(input.console, context),
    alerts: buildAlerts(input.alerts, context),
    traces: buildTraces(input.traces, context),
    catalogs: new Map(catalogs),
  }
}

function buildRedis(input: ConfigInput['redis']): Pick<Config, 'redisUrl' | 'redisPendingBytes'> {
  const { url, pendingBytes } =
    typeof input === 'object' && input !== null ? input : { url: input, pendingBytes: '256MB' }
  return { redisUrl: url ?? '', redisPendingBytes: checked(parseSize(pendingBytes)) }
}

function buildCatalog(name: CatalogName, input: CatalogInput, context: BuildContext): CatalogConfig {
  const { delivery, deferred, urgent } = input
  const feeds = Object.entries(input.feeds).map(([feed, feedInput]) =>
    buildFeed(feed as FeedName, feedInput, { path: ['catalogs', name, 'feeds', feed], context }),
  )
  return {
    name,
    api: buildApi(input.api, ['catalogs', name, 'api'], context),
    delivery: {
      callBytes: checked(parseSize(delivery.callBytes)),
      concurrency: Number(delivery.concurrency),
      timeoutMs: checked(parseDuration(delivery.timeout)),
      horizonMs: checked(parseDuration(delivery.horizon)),
      callsPerSecond: Number(delivery.callsPerSecond),
    },
    urgent,
    deferred: {
      afterMs: checked(parseDuration(deferred.after)),
      atMostMs: checked(parseDuration(deferred.atMost)),
    },
    feeds: new Map(feeds.map((feed) => [feed.name, feed])),
    consents: buildConsents(input, feeds),
  }
}

function buildConsents(input: CatalogInput, feeds: readonly FeedConfig[]): ConsentsConfig {
  const { api, consents } = input
  const ofConsents = feeds.filter(({ kind }) => kind === 'consents')
  const isUsed = ofConsents.length > 0 || Boolean(api.emailToken) || api.emailTokenFile !== undefined
  const all = isUsed ? [...ofConsents, commandFeed] : []
  return {
    concurrency: Number(consents.concurrency),
    timeoutMs: checked(parseDuration(consents.timeout)),
    horizonMs: checked(parseDuration(consents.horizon)),
    callsPerSecond: Number(consents.callsPerSecond),
    path: consents.path,
    feeds: new Map(all.map((feed) => [feed.name, feed])),
  }
}

function buildFeed(
  name: FeedName,
  input: FeedInput,
  { path, context }: { path: ConfigPath; context: BuildContext },
): FeedConfig {
  const { drop, pull, fields, owns, missing, rejects, asOf, changes } = input
  const rules = Object.entries(fields).map(
    ([field, rule]) => [field, normalizeRule(rule, context.folder)] as const,
  )
  return withoutUndefined({
    name,
    kind: input.kind,
    dropDir: drop === undefined ? '' : resolve(context.folder, drop),
    pull: pull && buildPull(pull, [...path, 'pull'], context),
    files: buildFiles(input),
    settle:
      input.done === undefined
        ? ({ kind: 'quiet', forMs: checked(parseDuration(input.settle ?? defaultSettle)) } as const)
        : ({ kind: 'marker', pattern: input.done } as const),
    format: {
      ...buildFormat(input.format),
      recordBytes: checked(parseSize(input.format.recordBytes)),
    },
    fields: Object.fromEntries(rules),
    group: buildGroup(input.group),
    transform: buildTransform(input.transform, context.folder),
    aliases: input.aliases,
    key: input.key,
    owns,
    missing: {
      action: missing.action,
      atMost: checked(parseShare(missing.atMost)),
      forgetMs: checked(parseDuration(missing.forget, longestMs)),
    },
    rejects: { atMost: checked(parseShare(rejects.atMost)) },
    verify: input.verify,
    asOf: asOf && buildAsOf(asOf),
    changes: changes && { atMost: buildLanes(changes.atMost) },
    expectEveryMs: input.expectEvery === undefined ? undefined : checked(parseDuration(input.expectEvery)),
  })
}

/** Of consents only what is present counts. */
function buildFiles({ files, kind, mode = defaultMode[kind] }: FeedInput): FeedConfig['files'] {
  if (typeof files === 'string') return [{ pattern: files, mode }]
  const full = files.full === undefined ? [] : [{ pattern: files.full, mode: 'full' as const }]
  const delta = files.delta === undefined ? [] : [{ pattern: files.delta, mode: 'delta' as const }]
  return [...full, ...delta]
}

const defaultMode = { products: 'full', consents: 'delta' } as const

/** What the command `consent` hands in: one record, written by us. */
const commandFeed: FeedConfig = {
  name: consentCommandName as FeedName,
  kind: 'consents',
  dropDir: '',
  files: [{ pattern: '*', mode: 'delta' }],
  settle: { kind: 'quiet', forMs: 0 },
  format: {
    type: 'ndjson',
    delimiter: undefined,
    quote: undefined,
    encoding: 'utf-8',
    recordBytes: checked(parseSize('16MB')),
  },
  fields: {},
  owns: [],
  missing: { action: 'ignore', atMost: 0, forgetMs: longestMs },
  rejects: { atMost: 0 },
}

function buildAsOf({
  name,
  column,
  date,
  zone = 'UTC',
}: NonNullable<FeedInput['asOf']>): AsOfRule | undefined {
  if (name !== undefined) return { from: 'name', regex: name, zone }
  return column === undefined ? undefined : { from: 'column', column, date, zone }
}

const lanes = ['urgent', 'new', 'deferred'] as const

function buildLanes(atMost: NonNullable<FeedInput['changes']>['atMost']) {
  const shareOf = (lane: (typeof lanes)[number]) => (typeof atMost === 'object' ? atMost[lane] : atMost)
  const shares = lanes.flatMap((lane): [string, Share][] => {
    const parsed = parseShare(shareOf(lane))
    return parsed === undefined ? [] : [[lane, parsed]]
  })
  return Object.fromEntries(shares)
}

/** Undefined: the daemon listens nowhere. */
function buildConsole(input: ConfigInput['console'], context: AccessContext): ConsoleConfig | undefined {
  if (!input.listen) return undefined
  const { listen, token, tokenFile, readToken, readTokenFile, tls, hosts, maxBytes } = input
  const access = new Access(context, ['console'])
  const inFolder = (file: string) => resolve(context.folder, file)
  return {
    listen: checked(parseListenAddress(listen)),
    token: access.tokenIfGiven('token', token, tokenFile),
    readToken: access.tokenIfGiven('readToken', readToken, readTokenFile),
    tls: tls && { certFile: inFolder(tls.certFile), keyFile: inFolder(tls.keyFile) },
    hosts: hosts.map((name) => name.toLowerCase()),
    bytesMax: checked(parseSize(maxBytes)),
  }
}

/** Undefined: nobody is told. */
function buildAlerts(input: ConfigInput['alerts'], context: AccessContext): AlertsConfig | undefined {
  if (!input?.url && !input?.heartbeat?.url) return undefined
  const { url, headers, every, urgentLag, format, heartbeat } = input
  const access = new Access(context, ['alerts'])
  return {
    url: url ? access.url(url) : undefined,
    format,
    network: buildNetwork(input, ['alerts'], context),
    heartbeat: heartbeat?.url
      ? {
          url: new Access(context, ['alerts', 'heartbeat']).url(heartbeat.url),
          everyMs: checked(parseDuration(heartbeat.every)),
        }
      : undefined,
    headers: access.headers(headers),
    everyMs: checked(parseDuration(every)),
    urgentLagMs: checked(parseDuration(urgentLag)),
  }
}

/** Undefined: none are sent. */
function buildTraces(input: ConfigInput['traces'], context: AccessContext): TracesConfig | undefined {
  if (!input?.url) return undefined
  const access = new Access(context, ['traces'])
  return { url: access.url(input.url), headers: access.headers(input.headers) }
}

interface ListenAddress {
  /** Without the brackets of an IPv6 address. */
  host: string
  /** 0: any free port. */
  port: number
}

const form = /^(?:\[(?<v6>[0-9a-f:.]+)\]|(?<host>[a-z0-9.-]+)):(?<port>\d{1,5})$/i

/** `127.0.0.1:8480`, `[::1]:8480`, `localhost:8480`; undefined when it is none. */
export function parseListenAddress(text: string): ListenAddress | undefined {
  const { v6, host, port = '' } = form.exec(text.trim())?.groups ?? {}
  const name = v6 ?? host
  if (name === undefined || Number(port) > 65_535 || (v6 !== undefined && isIP(v6) !== 6)) return undefined
  return { host: name, port: Number(port) }
}
