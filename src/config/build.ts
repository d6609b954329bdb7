import { resolve } from 'node:path'
import type { CatalogName, FeedName } from '../lib/brand.ts'
import { deferText, deferTokenFile } from './deferred-values.ts'
import type { ConfigDocument } from './document.ts'
import { parseDuration } from './duration.ts'
import { encodingOf } from './encoding.ts'
import { normalizeRule } from './field-rules.ts'
import type { ApiConfig, CatalogConfig, Config, FeedConfig, FormatConfig } from './model.ts'
import { type ConfigPath, formatPath } from './problems.ts'
import { type CatalogInput, type ConfigInput, defaultSettle, type FeedInput } from './schema.ts'
import { parseShare } from './share.ts'
import { parseSize } from './size.ts'

/** Relative paths begin at the folder of the configuration file. */
export interface BuildContext {
  document: ConfigDocument
  /** Absolute path of the configuration file. */
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
    redisUrl: input.redis ?? '',
    catalogs: new Map(catalogs),
  }
}

function buildCatalog(name: CatalogName, input: CatalogInput, context: BuildContext): CatalogConfig {
  const { delivery, deferred, urgent, feeds } = input
  const entries = Object.entries(feeds).map(([feed, feedInput]): [FeedName, FeedConfig] => [
    feed as FeedName,
    buildFeed(feed as FeedName, feedInput, context.folder),
  ])
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
    feeds: new Map(entries),
  }
}

function buildApi(
  input: CatalogInput['api'],
  path: ConfigPath,
  { document, folder }: BuildContext,
): ApiConfig {
  const originOf = (key: string) => {
    const valuePath = [...path, key]
    const { line, column } = document.positionOf(valuePath)
    const place = `${document.file}:${line}:${column} ${formatPath(valuePath)}`
    return { place, unset: document.unsetAt(valuePath) }
  }
  const { url, productsToken, productsTokenFile } = input
  return {
    url: deferText(url ?? '', originOf('url'), (text) => new URL(text)),
    productsToken:
      productsTokenFile === undefined
        ? deferText(productsToken ?? '', originOf('productsToken'), (text) => text)
        : deferTokenFile(resolve(folder, productsTokenFile), originOf('productsTokenFile')),
  }
}

function buildFeed(name: FeedName, input: FeedInput, folder: string): FeedConfig {
  const { drop, fields, owns, missing, rejects } = input
  const rules = Object.entries(fields).map(([field, rule]) => [field, normalizeRule(rule)] as const)
  return {
    name,
    dropDir: resolve(folder, drop),
    files: buildFiles(input),
    settle:
      input.done === undefined
        ? { kind: 'quiet', forMs: checked(parseDuration(input.settle ?? defaultSettle)) }
        : { kind: 'marker', pattern: input.done },
    format: buildFormat(input.format),
    fields: Object.fromEntries(rules),
    owns,
    missing: { action: missing.action, atMost: checked(parseShare(missing.atMost)) },
    rejects: { atMost: checked(parseShare(rejects.atMost)) },
  }
}

function buildFiles({ files, mode = 'full' }: FeedInput): FeedConfig['files'] {
  if (typeof files === 'string') return [{ pattern: files, mode }]
  const full = files.full === undefined ? [] : [{ pattern: files.full, mode: 'full' as const }]
  const delta = files.delta === undefined ? [] : [{ pattern: files.delta, mode: 'delta' as const }]
  return [...full, ...delta]
}

function buildFormat({ type, delimiter, quote, encoding, recordBytes }: FeedInput['format']): FormatConfig {
  return {
    type,
    delimiter: delimiter === 'tab' ? '\t' : delimiter,
    quote,
    encoding: encoding === undefined ? undefined : encodingOf(encoding),
    recordBytes: checked(parseSize(recordBytes)),
  }
}

/** The schema has accepted the value, so that its parser knows it. */
function checked<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('a checked value of the configuration cannot be converted')
  return value
}
