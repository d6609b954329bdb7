import { z } from 'zod'
import {
  boolean,
  commaSeparated,
  filledText,
  integer,
  list,
  numericId,
  oneOf,
  text,
  timestamp,
} from './fields.ts'

export const termNetworks = [
  'twitter',
  'facebook',
  'instagram',
  'youtube',
  'gplus',
  'flickr',
  'pinterest',
  'tumblr',
  'rss',
  'ecal',
  'sta_feed',
  'weibo',
] as const
export type TermNetwork = (typeof termNetworks)[number]

/** Which networks each type of term exists for; `any`: the contract lists none. */
export const networksByType = {
  default: ['ecal'],
  page: ['facebook', 'pinterest', 'rss'],
  hashtag: ['twitter', 'instagram'],
  user: ['twitter', 'instagram', 'gplus', 'youtube', 'flickr', 'pinterest'],
  search: ['twitter', 'gplus', 'youtube'],
  location: ['twitter', 'instagram'],
  gallery: ['flickr'],
  set: ['flickr'],
  blog: ['tumblr'],
  atom: ['rss'],
  post: ['sta_feed'],
  weiboshow: 'any',
  weibopage: 'any',
  weibotopic: 'any',
} as const satisfies Record<string, readonly TermNetwork[] | 'any'>
export type TermType = keyof typeof networksByType
export const termTypes = Object.keys(networksByType) as [TermType, ...TermType[]]

/** Types that name an account: creating one needs `source_user_id`. */
export const typesWithSourceUser: readonly TermType[] = ['user', 'page', 'gallery', 'set']

export const moderations = ['publish', 'queue', 'disable', 'exclude'] as const

/** Taken on create and on update. */
const changeable = {
  name: text('Name of the term').optional(),
  display_name: text().optional(),
  active: boolean('Whether content is taken in').optional(),
  term: filledText('The query'),
  filter: commaSeparated('Words that content must have').optional(),
  exclude_filter: commaSeparated('Words that content must not have').optional(),
  fan_filter: commaSeparated('The same for content of fans').optional(),
  fan_exclude_filter: commaSeparated('The same for content of fans').optional(),
  minimum_followers: integer('Only for twitter terms of type search and hashtag').optional(),
  moderate_text: oneOf(moderations, 'What becomes of texts').optional(),
  moderate_image: oneOf(moderations, 'What becomes of images').optional(),
  moderate_video: oneOf(moderations, 'What becomes of videos').optional(),
  retweet_enable: boolean().optional(),
  reply_enable: boolean().optional(),
  reply_to_enable: boolean().optional(),
  partial_match: boolean().optional(),
  include_fan_content: boolean().optional(),
  include_hashtag_in_comments: boolean().optional(),
  include_official_content: boolean().optional(),
  search_exact_phrase: text().optional(),
  verified_accounts: text('Takes tweets of verified accounts only').optional(),
  whitelist_handles: commaSeparated('Accounts to take from').optional(),
  blacklist_handles: commaSeparated('Accounts not to take from').optional(),
  source_user_id: text('Id of the account on its network').optional(),
  tags: list('Tags for what is taken in').optional(),
}

const createOnly = {
  type: oneOf(termTypes, 'What kind of query it is'),
  network: oneOf(termNetworks, 'Where the content comes from'),
  num_of_backfill: integer('How many older posts are taken in at first').optional(),
}

const keptByService = {
  id: 'the service gives it',
  created: 'the service keeps it',
  modified: 'the service keeps it',
  last_ingestion_post: 'the service keeps it',
}

/** Without the rules that join fields (`termCombinationProblems`); unknown fields are refused. */
export const termCreateShapeSchema = z
  .strictObject({ ...createOnly, ...changeable })
  .meta({ unwritable: keptByService })

export const termCreateSchema = termCreateShapeSchema.check((context) => {
  for (const { field, message } of termCombinationProblems(context.value)) {
    context.issues.push({
      code: 'custom',
      path: [field],
      input: context.value[field],
      params: { sentence: message },
    })
  }
})
/** `type`, `network` and `num_of_backfill` cannot be changed. */
export const termUpdateSchema = z
  .strictObject(changeable)
  .partial()
  .meta({
    unwritable: {
      ...keptByService,
      type: 'it is fixed when the term is created',
      network: 'it is fixed when the term is created',
      num_of_backfill: 'it counts only when the term is created',
    },
  })

export type TermCreate = z.infer<typeof termCreateSchema>
export type TermUpdate = z.infer<typeof termUpdateSchema>

export const termUpdateFields = Object.keys(changeable) as (keyof typeof changeable)[]
export const termCreateOnlyFields = Object.keys(createOnly) as (keyof typeof createOnly)[]

/** The rules that join fields of one term, one sentence each, without the place. Also for an update, over the term as it would become. */
export function termCombinationProblems(
  term: Pick<TermCreate, 'type' | 'network' | 'source_user_id' | 'minimum_followers'>,
): { field: 'network' | 'source_user_id' | 'minimum_followers'; message: string }[] {
  const problems: ReturnType<typeof termCombinationProblems> = []
  const networks: readonly TermNetwork[] | 'any' = networksByType[term.type]
  if (networks !== 'any' && !networks.includes(term.network)) {
    const message = `found ${term.network}, expected ${networks.join(' or ')} for a term of type ${term.type}; change the network or the type`
    problems.push({ field: 'network', message })
  }
  if (typesWithSourceUser.includes(term.type) && !term.source_user_id) {
    const message = `found nothing, expected the id of the account on its network, which a term of type ${term.type} needs; give it a value`
    problems.push({ field: 'source_user_id', message })
  }
  const hasFollowers = term.network === 'twitter' && (term.type === 'search' || term.type === 'hashtag')
  if (term.minimum_followers !== undefined && !hasFollowers) {
    const message = `found it at a term of network ${term.network} and type ${term.type}, expected it only at twitter terms of type search or hashtag; leave it out`
    problems.push({ field: 'minimum_followers', message })
  }
  return problems
}

/** Every written field may come back, in the form of this or another server: kept as it comes. */
export const termSchema = z.looseObject({
  id: numericId('Unique id'),
  created: timestamp().optional(),
  modified: timestamp().optional(),
  last_ingestion_post: timestamp().optional(),
})
export type Term = z.infer<typeof termSchema>
