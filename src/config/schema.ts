import { z } from 'zod'
import { callBytesMax } from '../lib/call-bytes.ts'
import { intentSchema, stackSchema } from './access-schema.ts'
import { longestMs } from './duration.ts'
import { fieldRuleSchema } from './field-schema.ts'
import { formatShape } from './format-schema.ts'
import { groupSchema } from './group-schema.ts'
import {
  duration,
  mapping,
  mappingOf,
  oneOf,
  optionalText,
  secretFile,
  share,
  size,
  text,
  textOf,
  wholeNumber,
} from './leaves.ts'
import { networkShape } from './network-schema.ts'
import { alertsSchema, consoleSchema, tracesSchema } from './operator-schema.ts'
import type { ConfigPath } from './problems.ts'
import { pullSchema } from './pull-schema.ts'
import { safetyShape } from './safety-schema.ts'
import { transformSchema } from './transform-schema.ts'

const dayMs = 86_400_000

/** Names become parts of Redis keys and of folders. One of digits only would lose its place in the order of feeds. */
const namePattern = /^(?!\d+$)[a-z0-9][a-z0-9_-]{0,63}$/
const nameExpected =
  'at most 64 lower-case letters, digits, - and _, with a letter, beginning with a letter or digit'
const nameSchema = z.string(nameExpected).regex(namePattern, nameExpected)
const filePattern = textOf(
  (value) => value !== '' && !/[/\\]/.test(value),
  'a file name pattern without a folder such as *.csv',
  { pattern: '^[^/\\\\]+$' },
)

export const apiSchema = mapping({
  url: optionalText('the base address of the catalog API').describe(
    'Base address of the catalog API; https, or http on this machine only',
  ),
  account: optionalText('the name of an account')
    .optional()
    .describe('Which account it is, where one address serves several: changed, all products are sent anew'),
  productsToken: optionalText('an API_PRODUCTS token').optional().describe('Token of kind API_PRODUCTS'),
  productsTokenFile: secretFile('token'),
  emailToken: optionalText('an Email token').optional().describe('Token of kind Email, for consents'),
  emailTokenFile: secretFile('token'),
  ...networkShape,
})

const deliverySchema = mapping({
  callBytes: size({ min: 1000, max: callBytesMax, because: 'the endpoint takes at most 2 MB' })
    .default(callBytesMax)
    .describe('Upper bound of a body, exact; at most 2,000,000'),
  concurrency: wholeNumber({ min: 1, max: 64 })
    .default(4)
    .describe('Calls at one time of one process; from 2 on, one is kept for urgent changes'),
  timeout: duration({ minMs: 100 }).default('30s').describe('How long a call may take'),
  horizon: duration({ minMs: 0 })
    .default('2m')
    .describe(
      'How long a call without an answer may still take effect; then its products are sent once more',
    ),
  callsPerSecond: wholeNumber({ min: 1, max: 10_000 })
    .default(20)
    .describe('Over all processes of the catalog'),
})

export const deferredSchema = mapping({
  after: duration({ minMs: 0 })
    .default('15m')
    .describe('How long such an edit waits for others of the product, counted from the first'),
  atMost: duration({ minMs: 0 }).default('1h').describe('The longest that it ever waits'),
})

const consentsSchema = mapping({
  concurrency: wholeNumber({ min: 1, max: 64 }).default(4).describe('Calls at one time'),
  timeout: duration({ minMs: 100 }).default('30s').describe('How long a call may take'),
  horizon: duration({ minMs: 0 })
    .default('2m')
    .describe('How long after its first attempt a grant that was not confirmed is tried again'),
  callsPerSecond: wholeNumber({ min: 1, max: 10_000 }).default(100).describe('One call carries one consent'),
  path: textOf(
    (value) => /^(\/[A-Za-z0-9._~-]+)+$/.test(value),
    'a path such as /api/v1/customers/consent, without a slash at the end',
    { pattern: '^(/[A-Za-z0-9._~-]+)+$' },
  )
    .default('/api/v1/customers/consent')
    .describe('What stands before the e-mail address; some services lack the /api'),
})

const fieldNamesSchema = z.array(text('the name of a product field'), {
  error: 'a list of product fields',
})

const formatSchema = mapping({
  ...formatShape,
  recordBytes: size({ min: 1000, max: 1_000_000_000, because: 'a longer record refuses the file' })
    .default('16MB')
    .describe('A longer record refuses the file: usually a quote that is never closed'),
})

export const defaultSettle = '2s'

export const feedShape = {
  kind: oneOf(['products', 'consents'])
    .default('products')
    .describe('What the records are about; those of consents have the fields email and consent'),
  preset: text('the name of a preset')
    .optional()
    .describe('What a kind of export looks like: its keys count where this feed says nothing'),
  shopUrl: text('the address of the shop')
    .refine(
      (value) => /^https?:\/\/[^/\s]+/.test(value),
      'the address of the shop, such as https://shop.example',
    )
    .optional()
    .describe('For presets of exports that lack the address of a product'),
  currency: text('the code of a currency')
    .refine((value) => /^[A-Za-z]{3}$/.test(value), 'the code of a currency, such as EUR')
    .optional()
    .describe('For presets of exports that lack the currency'),
  decimal: oneOf(['.', ','])
    .optional()
    .describe('For presets of exports that write numbers as their shop does: the decimal mark; default "."'),
  thousands: oneOf(['.', ',', ' ', "'"]).optional().describe('Likewise: the thousands mark; default: none'),
  drop: text('the folder to watch')
    .optional()
    .describe('Watched folder; required unless files are fetched (pull)'),
  pull: pullSchema.optional().describe('Fetches files by itself, from a URL or an SFTP server'),
  files: z
    .union(
      [
        filePattern,
        mapping({
          full: filePattern.optional().describe('Instead of one pattern: that of full files'),
          delta: filePattern.optional().describe('And that of delta files of the same feed'),
        }),
      ],
      {
        error: 'a file name pattern such as *.csv or "{a_,b_}*.csv", or { full: …, delta: … }',
      },
    )
    .default('*')
    .describe('Names of its files: * any text, ? one letter, {a,b} either; .gz, .zst, .zip of them, too'),
  mode: oneOf(['full', 'delta'])
    .optional()
    .describe('full (default): a product that is absent is missing; delta: only what is present counts'),
  settle: duration({ minMs: 0 })
    .optional()
    .describe('Size and time unchanged for so long (default 2s); 0s when files are renamed into place'),
  done: filePattern.optional().describe('Instead of settle: the file is complete when this marker exists'),
  format: formatSchema.prefault({}).describe('Each part is detected when left out'),
  fields: mappingOf(z.string(), fieldRuleSchema, 'a mapping of product fields to columns')
    .default({})
    .describe(
      'How each field is computed; left out: columns named as in the contract map themselves. none takes a field out of the preset',
    ),
  aliases: mappingOf(
    z.string(),
    z.array(text('the name of a column'), { error: 'a list of column names' }).min(1),
    'a mapping of columns to their other names',
  )
    .optional()
    .describe(
      'What columns are called in other files: one that is not there is looked for under these names',
    ),
  key: text('the name of a product field')
    .optional()
    .describe(
      'The records name known products by this field (variation_id, custom_fields.<name>, skus.id …) instead of by product_id; fields says where it stands',
    ),
  group: groupSchema.optional().describe('Which rows of a file are one product; left out: each is one'),
  transform: transformSchema
    .optional()
    .describe('A file of your own that changes each record before it is mapped'),
  owns: fieldNamesSchema.default([]).describe('Fields that only this feed decides'),
  expectEvery: duration({ minMs: 1000 })
    .optional()
    .describe('A file is expected at least so often; when none comes that is an alert'),
  missing: mapping({
    action: oneOf(['out_of_stock', 'ignore']).default('out_of_stock').describe('What becomes of them'),
    atMost: share()
      .default('10%')
      .describe('Above this share of missing products the removals wait for approval'),
    forget: duration({ minMs: dayMs, maxMs: longestMs })
      .default('90d')
      .describe('How long a product is kept that no feed names any more; for ever with ignore'),
  })
    .prefault({})
    .describe('Products that a full file no longer names'),
  rejects: mapping({
    atMost: share()
      .default('5%')
      .describe('Above this share of rejected records the removals wait for approval'),
  })
    .prefault({})
    .describe('When bad records make removals doubtful'),
  ...safetyShape,
}

const feedSchema = mapping(feedShape)

const defaultUrgent = [
  'price',
  'list_price',
  'price_currency_code',
  'availability',
  'inventory_level',
] as const

const catalogSchema = mapping({
  api: apiSchema.describe('Where changes go'),
  delivery: deliverySchema.prefault({}).describe('How calls are made'),
  urgent: fieldNamesSchema
    .default([...defaultUrgent])
    .describe('Fields whose change is sent at once; inside variations and skus too'),
  deferred: deferredSchema.prefault({}).describe('How long edits that are not urgent wait'),
  consents: consentsSchema.prefault({}).describe('How consents are delivered'),
  feeds: mappingOf(nameSchema, feedSchema, 'a mapping of feeds by name').describe(
    'Sources of files, by name',
  ),
})

const archiveSchema = mapping({
  keep: duration({ minMs: 3_600_000, maxMs: longestMs })
    .default('30d')
    .describe('How long an imported file is kept; a held one and those after it stay'),
})

const historySchema = mapping({
  perProduct: size({ min: 0, max: 100_000, because: 'every product that changes has one' })
    .default('1KB')
    .describe('How much of its last changes is kept of each product; the oldest go first, 0: none'),
  calls: size({ min: 0, max: 10_000_000_000, because: 'they stand in the mirror' })
    .default('32MB')
    .describe('How much is kept of the last calls with their answers and products; 0: none'),
})

/** Commands that do not need them run although their variables are not set. */
const redisAddressSchema = optionalText('the address of a Redis, or nothing')
  .default('')
  .describe('redis:// or rediss:// address; empty: catalogd runs its own redis-server under state')

const redisSchema = z
  .union(
    [
      redisAddressSchema,
      mapping({
        url: redisAddressSchema,
        pendingBytes: size({ min: 1_000_000, max: 100_000_000_000, because: 'documents wait there' })
          .default('256MB')
          .describe('How much of each lane may wait in Redis; the rest waits on disk'),
      }),
    ],
    { error: 'the address of a Redis, or a mapping with url and pendingBytes' },
  )
  .default('')

/** What a configuration file holds, checked and with defaults, in the words of the file. */
export const configSchema = mapping({
  state: text('the folder for what catalogd stores')
    .default('./state')
    .describe('Folder for everything that catalogd stores; on a local disk'),
  redis: redisSchema.describe('Where Redis is, and how much may wait there'),
  archive: archiveSchema.prefault({}).describe('How long accepted files are kept'),
  history: historySchema.prefault({}).describe('How much catalogd why can tell'),
  console: consoleSchema.prefault({}).describe('The HTTP server of the daemon: pages, pushed files, health'),
  alerts: alertsSchema.optional().describe('Who is told when something needs an operator'),
  traces: tracesSchema.optional().describe('Sends the way of each file as an OpenTelemetry trace'),
  stack: stackSchema.optional().describe('Access to the content-aggregation API'),
  intent: intentSchema.optional().describe('Access to the shopper-intent API'),
  catalogs: mappingOf(nameSchema, catalogSchema, 'a mapping of catalogs by name').describe(
    'Merchant accounts, by name',
  ),
}).meta({ title: 'catalogd configuration' })

export type ConfigInput = z.output<typeof configSchema>
export type CatalogInput = ConfigInput['catalogs'][string]
export type FeedInput = CatalogInput['feeds'][string]

const accessOfPull = ['url', 'user', 'password', 'headers', 'sftp', 's3', 'proxy'] as const

/** Whether an unset variable at this place is an error only where the value is used. */
export function isDeferredPath(path: ConfigPath): boolean {
  const [section, , part, , feedKey, pullKey] = path
  if (section === 'catalogs') {
    return part === 'api' || (feedKey === 'pull' && accessOfPull.some((key) => key === pullKey))
  }
  if (section === 'console') return path[1] === 'token' || path[1] === 'readToken'
  if (section === 'alerts') return ['url', 'headers', 'proxy', 'heartbeat'].includes(String(path[1]))
  // These are no access data: what a request would lack without them must not go unnoticed.
  if (section === 'intent' && ['shopify', 'country', 'locale'].includes(String(path[1]))) return false
  return ['stack', 'intent', 'traces'].includes(String(section))
}
