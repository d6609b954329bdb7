import type { CatalogName, FeedName } from '../lib/brand.ts'
import type { FormatConfig } from './format-model.ts'
import type { Share } from './leaves.ts'
import type { CellCondition, FieldRule } from './rule-model.ts'

/** The configuration after parsing, environment and defaults: what the stages are given. Durations in ms, sizes in bytes. */
export interface Config {
  file: string
  stateDir: string
  /** Empty: catalogd runs its own redis-server under the state folder. */
  redisUrl: string
  /** Bytes of documents that wait in Redis, in each lane of a catalog; what exceeds them waits on disk. */
  redisPendingBytes: number
  archive: { keepMs: number }
  /** Of the changes of one product, and of all calls of a catalog. */
  history: { historyBytes: number; callsBytes: number }
  stack: StackConfig
  intent: IntentConfig
  /** Undefined: the daemon listens nowhere. */
  console: ConsoleConfig | undefined
  /** Undefined: nobody is told. */
  alerts: AlertsConfig | undefined
  /** Who is sent traces over OTLP/HTTP; undefined: nobody. */
  traces: TracesConfig | undefined
  catalogs: ReadonlyMap<CatalogName, CatalogConfig>
}

export type TracesConfig = Pick<AlertsConfig, 'headers'> & { url: Deferred<URL> }

export interface ConsoleConfig {
  /** Port 0: any free one. */
  listen: { host: string; port: number }
  /** Of operators and pushes. Undefined: nothing can be pushed, and whoever reaches the pages is an operator. */
  token: Deferred<string> | undefined
  /** Of those who may look at the pages, and change nothing. */
  readToken: Deferred<string> | undefined
  /** Absolute paths. */
  tls: { certFile: string; keyFile: string } | undefined
  /** Names under which it may be asked besides its own, in lower case. */
  hosts: readonly string[]
  /** Of a pushed file, as it is sent. */
  bytesMax: number
}

/** Who is told when something needs an operator. */
export interface AlertsConfig {
  /** Undefined: only a heartbeat is sent. */
  url: Deferred<URL> | undefined
  /** `slack`: nothing but the text, as incoming webhooks of Slack want it. */
  format?: 'json' | 'slack'
  network?: NetworkConfig
  /** Asked for every so often while the daemon works, so that somebody else notices when it does not. */
  heartbeat?: { url: Deferred<URL>; everyMs: number } | undefined
  headers: readonly { name: string; value: Deferred<string> }[]
  /** At most one message in so long about one matter. */
  everyMs: number
  /** How long an urgent change may wait. */
  urgentLagMs: number
}

/** The way to a server, beside its address. Files are absolute paths. */
export interface NetworkConfig {
  /** Undefined: none, whatever the environment says. */
  proxy?: ProxyConfig | undefined
  /** Authorities that are trusted besides those of the system. */
  caFile?: string | undefined
  /** What is shown to the server. */
  certFile?: string | undefined
  keyFile?: string | undefined
}

/** `environment`: as HTTPS_PROXY, HTTP_PROXY and NO_PROXY say; empty where they are not set. */
export type ProxyConfig =
  | { kind: 'configured'; url: Deferred<URL> }
  | { kind: 'environment'; https: string; http: string; except: string }

/** Where the content-aggregation API is; without the section none of it is available. */
export interface StackConfig {
  url: Deferred<URL>
  network?: NetworkConfig
  /** Reads the token again at every use when it comes from `accessTokenFile`. */
  accessToken: Deferred<string>
  name: Deferred<string>
}

/** Where the shopper-intent API is; without the section none of it is available. */
export interface IntentConfig {
  url: Deferred<URL>
  network?: NetworkConfig
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

/** A value whose environment variable may be unset: commands that do not need it run without it. */
export interface Deferred<T> {
  /** True when `value()` would not throw. */
  readonly available: boolean
  /** Of tokens: where to correct it, and what makes that count. */
  readonly renewal?: string
  /** Throws a ConfigError that names the variable and the line of the configuration. */
  value(): T
}

export interface ApiConfig {
  url: Deferred<URL>
  network?: NetworkConfig
  /** Which account it is, where one address serves several: another one is another endpoint. */
  account: string | undefined
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

export type FeedKind = 'products' | 'consents'

export interface FeedConfig {
  name: FeedName
  kind: FeedKind
  /** Absolute path of the watched folder; empty where there is none: a feed that is only fetched, `consent-command`. */
  dropDir: string
  /** Which files belong to the feed, and which mode they have. Each pattern also matches its `.gz`, `.zst` and `.zip` forms. */
  files: readonly { pattern: string; mode: FeedMode }[]
  /** Files that are fetched, besides those of the watched folder. */
  pull?: PullConfig
  settle: { kind: 'quiet'; forMs: number } | { kind: 'marker'; pattern: string }
  format: FormatConfig
  /** Empty: columns named as in the contract map themselves. */
  fields: Readonly<Record<string, FieldRule>>
  /** By column: what it is called in other files. */
  aliases?: Readonly<Record<string, readonly string[]>>
  /** The field by whose value records name known products, instead of by product_id; `fields` has a rule for it. */
  key?: string
  /** Which rows of a file are one product; undefined: each is one. */
  group?: GroupConfig
  /** What changes each record before it is mapped. */
  transform?: TransformConfig
  owns: readonly string[]
  /** `forgetMs`: how long a product is kept that no feed names any more. */
  missing: { action: 'out_of_stock' | 'ignore'; atMost: Share; forgetMs: number }
  rejects: { atMost: Share }
  /** A file is expected at least so often. */
  expectEveryMs?: number
  /** Which side file a file has to have; it waits until it is there. */
  verify?: SideKind
  /** Where a file says as of when it holds; left out: as of its acceptance. */
  asOf?: AsOfRule
  /** By lane, the share of the feed's products that one file may change; above it the whole file is held. */
  changes?: { atMost: Readonly<Partial<Record<'urgent' | 'new' | 'deferred', Share>>> }
}

/** Where files of a feed are fetched, and when. */
export interface PullConfig {
  /** `pattern`: minute, hour, day, month, weekday. */
  schedule: { kind: 'every'; everyMs: number } | { kind: 'cron'; pattern: string; zone: string }
  source: UrlSource | SftpSource | S3Source
  bytesMax: number
  /** How long the server may be silent. */
  silenceMs: number
  totalMs: number
}

export interface UrlSource {
  kind: 'url'
  url: Deferred<URL>
  /** For the origin of `url` only. */
  headers: readonly { name: string; value: Deferred<string> }[]
  /** Basic authentication. */
  credentials: { user: Deferred<string>; password: Deferred<string> } | undefined
  /** Whether the address may be of a private network or of this machine. */
  allowPrivate: boolean
  network: NetworkConfig
  /** Of the file; undefined: what the server calls it. */
  name: string | undefined
}

export interface SftpSource {
  kind: 'sftp'
  host: Deferred<string>
  port: number
  user: Deferred<string>
  password: Deferred<string> | undefined
  privateKeyFile: string | undefined
  passphrase: Deferred<string> | undefined
  /** Fingerprints `SHA256:…`; empty where `knownHostsFile` says which keys the server may have. */
  hostKeys: readonly string[]
  knownHostsFile: string | undefined
  folder: string
  /** What becomes of a file on the server once it is accepted. */
  after: 'keep' | 'delete' | 'move'
  /** For `move`; relative to `folder`. */
  moveTo: string | undefined
}

/** Objects of a bucket whose keys begin with `prefix`, and hold no slash behind it. */
export interface S3Source {
  kind: 's3'
  bucket: Deferred<string>
  prefix: string
  /** Undefined: AWS. */
  endpoint: Deferred<URL> | undefined
  region: string
  /** The bucket stands in the path, not in the host. */
  pathStyle: boolean
  /** Undefined: as the AWS tools find them. */
  credentials:
    | {
        accessKeyId: Deferred<string>
        secretAccessKey: Deferred<string>
        sessionToken: Deferred<string> | undefined
      }
    | undefined
  network: NetworkConfig
  /** What becomes of an object once it is accepted. */
  after: 'keep' | 'delete' | 'move'
  /** For `move`: a prefix of keys. */
  moveTo: string | undefined
}

/** A small file beside a feed file: a hash of its bytes, or how many records it has. */
export type SideKind = 'md5' | 'sha256' | 'count'

/** `zone`: IANA name of the time zone of times that name none. */
export type AsOfRule =
  /** RE2 syntax with a named group `stamp`, or with `year`, `month`, `day`, `hour`, `minute`, `second`. */
  | { from: 'name'; regex: string; zone: string }
  /** The cell of the first record; `date` is a form such as `DD.MM.YYYY HH:mm` or `unix`, left out: ISO 8601. */
  | { from: 'column'; column: string; date: string | undefined; zone: string }

/**
 * Rows of one product have its id; or they stand below its row and are as `where` says; or they name their parent; or
 * they are listed by it. `parent` and `names` are columns or templates; a row without `names` is called by its product id.
 * `optional`: files may lack the columns.
 */
export type GroupConfig =
  | { by: 'id' }
  | { by: 'above'; where: Readonly<Record<string, CellCondition>>; optional?: boolean }
  | { by: 'parent'; parent: string; names: readonly string[]; optional?: boolean }
  | {
      by: 'members'
      column: string
      split: string
      pattern?: string | undefined
      names: readonly string[]
      optional?: boolean
    }

/** `file`: absolute path of a module whose default export is a function from record to record. */
export interface TransformConfig {
  file: string
  limitMs: number
}
