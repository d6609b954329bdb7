import type { CatalogName, FeedName } from '../lib/brand.ts'

/** The configuration after parsing, environment and defaults: what the stages are given. Durations in ms, sizes in bytes. */
export interface Config {
  /** Absolute path of the configuration file. */
  file: string
  /** Absolute path of the state folder. */
  stateDir: string
  /** Empty: catalogd runs its own redis-server under the state folder. */
  redisUrl: string
  stack: StackConfig
  intent: IntentConfig
  catalogs: ReadonlyMap<CatalogName, CatalogConfig>
}

/** Where the content-aggregation API is; without the section none of it is available. */
export interface StackConfig {
  url: Deferred<URL>
  /** Reads the token again at every use when it comes from `accessTokenFile`. */
  accessToken: Deferred<string>
  name: Deferred<string>
}

/** Where the shopper-intent API is; without the section none of it is available. */
export interface IntentConfig {
  url: Deferred<URL>
  /** Reads the token again at every use when it comes from `tokenFile`. */
  token: Deferred<string>
  partnerId: Deferred<string>
  /** The merchant runs on Shopify: every request must say country and locale. */
  shopify: boolean
  /** What a request says that names no country; undefined: nothing. */
  country: string | undefined
  locale: string | undefined
}

export interface CatalogConfig {
  name: CatalogName
  api: ApiConfig
  delivery: DeliveryConfig
  /** Names of fields whose change is urgent, inside variations and skus too. */
  urgent: readonly string[]
  deferred: { afterMs: number; atMostMs: number }
  /** Of both kinds, in configured order, which decides who writes a product field that nobody owns. */
  feeds: ReadonlyMap<FeedName, FeedConfig>
  consents: ConsentsConfig
}

/** How marketing consents are taken in and delivered: beside the products, at their own rate and with their own token. */
export interface ConsentsConfig {
  /** Calls at one time. */
  concurrency: number
  timeoutMs: number
  /** How long after the first attempt a grant that was not confirmed is tried again. */
  horizonMs: number
  callsPerSecond: number
  /** Between the base address and the e-mail address. */
  path: string
  /**
   * The feeds of kind consents, and `consent-command`, which has no drop folder: the command `consent` hands its files
   * in. Empty: the catalog has no consents.
   */
  feeds: ReadonlyMap<FeedName, FeedConfig>
}

/**
 * A value whose environment variable may be unset: asking for it throws a ConfigError that names the variable and the
 * line of the configuration, so that commands that do not need the value run without it.
 */
export interface Deferred<T> {
  /** True when `value()` would not throw. */
  readonly available: boolean
  value(): T
}

export interface ApiConfig {
  url: Deferred<URL>
  /** Reads the token again at every call when it comes from `productsTokenFile`. */
  productsToken: Deferred<string>
  /** Of kind Email, for consents; read again at every use when it comes from `emailTokenFile`. */
  emailToken: Deferred<string>
}

export interface DeliveryConfig {
  /** Exact upper bound of a request body, brackets and commas counted. */
  callBytes: number
  /** Calls at one time of one process; one of them serves urgent changes only (when there are at least two). */
  concurrency: number
  timeoutMs: number
  /** How long a request whose outcome is unknown may still take effect at the server. */
  horizonMs: number
  /** Over all processes of the catalog. */
  callsPerSecond: number
}

export type FeedMode = 'full' | 'delta'

/** What the records of a feed are about. */
export type FeedKind = 'products' | 'consents'

export interface FeedConfig {
  name: FeedName
  kind: FeedKind
  /** Absolute path of the watched folder; empty for `consent-command`, which has none. */
  dropDir: string
  /** Which files belong to the feed, and which mode they have. Each pattern also matches its `.gz` and `.zst` forms. */
  files: readonly { pattern: string; mode: FeedMode }[]
  settle: { kind: 'quiet'; forMs: number } | { kind: 'marker'; pattern: string }
  format: FormatConfig
  /** Empty: columns named as in the contract map themselves. */
  fields: Readonly<Record<string, FieldRule>>
  owns: readonly string[]
  missing: { action: 'out_of_stock' | 'ignore'; atMost: Share }
  rejects: { atMost: Share }
}

/** A share of a whole, 0..1. */
export type Share = number

/** Every part that is undefined is detected. */
export interface FormatConfig {
  type: 'csv' | 'tsv' | 'ndjson' | undefined
  delimiter: string | undefined
  /** `none`: a quote is an ordinary character. */
  quote: '"' | "'" | 'none' | undefined
  encoding: Encoding | undefined
  /** Records above it refuse the file (usually a quote that is never closed). */
  recordBytes: number
}

export type Encoding = 'utf-8' | 'utf-16le' | 'utf-16be' | 'windows-1252'

export type EmptyPolicy = 'keep' | 'clear'

/** How one contract field is computed from a record; normalised (shorthand strings are expanded by the configuration). */
export interface FieldRule {
  from:
    | { kind: 'columns'; columns: readonly string[] }
    | { kind: 'value'; value: unknown }
    /** Text with `{column}` placeholders; empty when one of the columns is empty. */
    | { kind: 'template'; template: string }
    /** One entry per key of a map field (`custom_fields`). */
    | { kind: 'entries'; entries: Readonly<Record<string, FieldRule>> }
  /** RE2 syntax with named groups; `result` is a template over the group names, default: the first group or the match. */
  pattern?: { regex: string; result: string | undefined }
  /** Splits a cell into the elements of an array field. */
  split?: string
  /** What separates the levels of a category path in the cells. */
  separator?: string
  /** What replaces a `/` inside one segment of a category path. */
  slash?: string
  decimal?: '.' | ','
  thousands?: '.' | ',' | ' ' | "'"
  when?: Readonly<Record<string, unknown>>
  otherwise?: unknown
  /** `YYYY`, `MM`, `DD`, `M`, `D` and literal characters, or `unix` (seconds). */
  date?: string
  trim?: boolean
  /** Default: `clear` in a full file, `keep` in a delta. */
  empty?: EmptyPolicy
}
