import fc from 'fast-check'
import type { Consent } from '../../../src/api/contract/consent.ts'
import type { IntentRequest } from '../../../src/api/contract/intent.ts'
import type { JsonValue } from '../../../src/api/contract/json-value.ts'
import { type ModerationViewWrite, viewColumns } from '../../../src/api/contract/moderation-view.ts'
import { orderDirections, type UserListQuery, userOrders } from '../../../src/api/contract/paging.ts'
import type { RuleCreate, RuleUpdate } from '../../../src/api/contract/rule.ts'
import {
  moderations,
  networksByType,
  type TermCreate,
  type TermUpdate,
  termNetworks,
  termTypes,
  typesWithSourceUser,
} from '../../../src/api/contract/term.ts'
import { distanceUnits, type UserUpdate } from '../../../src/api/contract/user.ts'

// Half of a surrogate pair does not survive UTF-8, so it cannot be sent at all.
const text = fc.string({ unit: 'binary', maxLength: 20 })
const filled = fc.string({ unit: 'binary', minLength: 1, maxLength: 20 })
const wholeNumber = fc.maxSafeInteger()
const truth = fc.constantFrom(true, false, 1, 0) as fc.Arbitrary<boolean | 0 | 1>
const words = fc.array(fc.stringMatching(/^[\w #@-]{1,12}$/), { maxLength: 4 }).map((some) => some.join(','))
const ids = fc.array(fc.nat(99_999), { maxLength: 4 }).map((some) => some.join(','))
const dateTime = fc
  .date({ min: new Date('1990-01-01'), max: new Date('2100-01-01'), noInvalidDate: true })
  .map((date) => date.toISOString())
export const arbitraryEmail = fc
  .tuple(fc.stringMatching(/^[a-z\d]([a-z\d.+_-]{0,18}[a-z\d])?$/), fc.domain())
  .map(([mailbox, host]) => `${mailbox}@${host}`)
  .filter((email) => email.length <= 254)

/** Each field that may be left out, or not. */
const some = <T>(fields: { [K in keyof T]: fc.Arbitrary<T[K]> }) =>
  fc.record(fields, { requiredKeys: [] }) as unknown as fc.Arbitrary<Partial<T>>

/** JSON as it survives a journey: no own key `__proto__`, no minus zero. */
const json = fc
  .jsonValue({ maxDepth: 3, stringUnit: 'binary' })
  .map((value) => JSON.parse(JSON.stringify(value)) as JsonValue)
  .filter((value) => !JSON.stringify(value).includes('__proto__'))
const jsonObject = fc.dictionary(
  filled.filter((key) => key !== '__proto__' && key !== '$where'),
  json,
  {
    maxKeys: 3,
    noNullPrototype: true,
  },
)

const tileFields = ['tags', 'location', 'stackla_sentiment_score', 'status', 'hotspot'] as const
const operand = fc.oneof(fc.constantFrom('published', 'queued', 'cat'), fc.integer({ min: 0, max: 100 }))
const comparison = fc.oneof(
  fc
    .tuple(fc.constantFrom('$eq', '$ne', '$gt', '$gte', '$lt', '$lte'), operand)
    .map(([op, value]) => ({ [op]: value })),
  fc.boolean().map((exists) => ({ $exists: exists })),
  fc.array(operand, { minLength: 1, maxLength: 3 }).map((all) => ({ $all: all })),
)
/** In the form that is seen in use: a field, an operator, a value. */
export const arbitraryCondition = fc
  .tuple(fc.constantFrom(...tileFields), comparison)
  .map(([field, test]): Record<string, JsonValue> => ({ [field]: test }))
export const arbitraryAction = fc.oneof(
  fc
    .constantFrom('cat', 'dog')
    .map((value): Record<string, JsonValue> => ({ type: '$addToSet', field: 'tags', value })),
  fc
    .constantFrom('published', 'disabled')
    .map((value): Record<string, JsonValue> => ({ type: '$set', field: 'status', value })),
)

export const arbitraryRule: fc.Arbitrary<RuleCreate> = fc.record({
  name: filled,
  trigger: fc.array(arbitraryCondition, { maxLength: 3 }).map(($or) => ({ $or })),
  action: fc.array(arbitraryAction, { maxLength: 3 }),
  enabled: fc.constantFrom(0 as const, 1 as const),
  type: fc.constantFrom('tile', 'asset'),
})

/** Whatever the contract lets pass, since it does not show what a condition or an action is. */
export const arbitraryOpenRule: fc.Arbitrary<RuleCreate> = fc
  .tuple(
    arbitraryRule,
    fc.array(jsonObject, { maxLength: 3 }),
    fc.array(jsonObject, { maxLength: 3 }),
    filled,
  )
  .map(([rule, $or, action, type]) => ({ ...rule, trigger: { $or }, action, type }))

export const arbitraryRuleUpdate = arbitraryRule.chain((rule) => partOf(rule)) as fc.Arbitrary<RuleUpdate>

export const arbitraryView = some<ModerationViewWrite>({
  view_name: filled,
  type: fc.oneof(fc.boolean(), fc.constant('user'), filled),
  access_type: fc.oneof(fc.constant('public'), filled),
  sort_by: fc.constantFrom('newest', 'oldest'),
  ...(Object.fromEntries(viewColumns.map((name) => [`columns_${name}`, truth])) as Record<
    `columns_${(typeof viewColumns)[number]}`,
    typeof truth
  >),
  filter_value_content_search: text,
  filter_value_origin: words,
  filter_value_media: words,
  filter_value_abuse: truth,
  filter_value_filter_by_claimed: fc.oneof(fc.constant('claimed_only'), text),
  filter_value_filter_by_geolocation: truth,
  filter_value_tags: ids,
  filter_value_terms: ids,
  other_all_content_length: fc.integer({ min: 1, max: 500 }),
  other_live_updates: truth,
  other_display: fc.oneof(fc.constant('table'), text),
  date_range_from: dateTime,
  date_range_to: dateTime,
} as {
  [K in keyof ModerationViewWrite]: fc.Arbitrary<ModerationViewWrite[K]>
}) as fc.Arbitrary<ModerationViewWrite>

const termFields = {
  name: text,
  display_name: text,
  active: truth,
  term: filled,
  filter: words,
  exclude_filter: words,
  fan_filter: words,
  fan_exclude_filter: words,
  moderate_text: fc.constantFrom(...moderations),
  moderate_image: fc.constantFrom(...moderations),
  moderate_video: fc.constantFrom(...moderations),
  retweet_enable: truth,
  reply_enable: truth,
  reply_to_enable: truth,
  partial_match: truth,
  include_fan_content: truth,
  include_hashtag_in_comments: truth,
  include_official_content: truth,
  search_exact_phrase: text,
  verified_accounts: fc.constantFrom('0', '1', 'true'),
  whitelist_handles: words,
  blacklist_handles: words,
  source_user_id: filled,
  tags: fc.array(fc.oneof(filled, fc.nat()), { maxLength: 4 }),
}

/** Without `minimum_followers`, which depends on the term that is changed. */
export const arbitraryTermUpdate = some(termFields) as fc.Arbitrary<TermUpdate>

export const arbitraryTerm: fc.Arbitrary<TermCreate> = fc
  .constantFrom(...termTypes)
  .chain((type) => {
    const networks = networksByType[type]
    return fc.tuple(fc.constant(type), fc.constantFrom(...(networks === 'any' ? termNetworks : networks)))
  })
  .chain(([type, network]) => {
    const hasFollowers = network === 'twitter' && (type === 'search' || type === 'hashtag')
    const needed = ['term', ...(typesWithSourceUser.includes(type) ? ['source_user_id'] : [])]
    const optional = {
      num_of_backfill: fc.nat(1000),
      ...(hasFollowers ? { minimum_followers: wholeNumber } : {}),
    }
    const rest = fc.record({ ...termFields, ...optional }, { requiredKeys: needed as ['term'] })
    return rest.map((fields) => ({ type, network, ...fields }) as TermCreate)
  })

export const arbitraryUserUpdate = some<UserUpdate>({
  name: text,
  surname: text,
  email: arbitraryEmail,
  description: text,
  display_timezone: fc.constantFrom('Europe/Berlin', 'America/New_York', 'Asia/Kolkata', 'UTC'),
  distances: fc.constantFrom(...distanceUnits),
  acl_groups: fc.subarray([1, 2, 3] as const).chain((groups) =>
    fc.constantFrom(
      groups.join(','),
      [...groups],
      groups.map((group) => `${group}` as const),
    ),
  ),
} as { [K in keyof UserUpdate]: fc.Arbitrary<UserUpdate[K]> }) as fc.Arbitrary<UserUpdate>

export const arbitraryIntentRequest = fc.record(
  {
    prompt: filled,
    customerId: filled,
    partnerId: filled,
    chatId: filled,
    country: fc.constantFrom('DE', 'US', 'gb'),
    locale: fc.constantFrom('en', 'de-AT', 'pt_BR'),
    rankingOnly: fc.boolean(),
    maxAgentRecommendations: fc.option(fc.integer({ min: 1, max: 20 })),
    giveAgentContext: fc.boolean(),
    responseFormat: fc.constantFrom('markdown', 'text'),
  },
  { requiredKeys: ['prompt', 'customerId', 'partnerId', 'chatId'] },
) as fc.Arbitrary<IntentRequest>

export const arbitraryConsent: fc.Arbitrary<Consent> = fc.record({
  email: arbitraryEmail,
  consent: fc.boolean(),
})

export const arbitraryUserListQuery = some<UserListQuery>({
  page: fc.integer({ min: 1, max: 1_000_000 }),
  limit: fc.integer({ min: 1, max: 100 }),
  order_by: fc.constantFrom(...userOrders),
  order_by_direction: fc.constantFrom(...orderDirections),
} as { [K in keyof UserListQuery]: fc.Arbitrary<UserListQuery[K]> }) as fc.Arbitrary<UserListQuery>

function partOf<T extends object>(whole: T): fc.Arbitrary<Partial<T>> {
  return fc
    .subarray(Object.entries(whole))
    .map((entries) => Object.fromEntries(entries) as unknown as Partial<T>)
}
