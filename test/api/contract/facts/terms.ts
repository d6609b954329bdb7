import type { FactType, FieldFact, TermTypeFact } from './fact.ts'

type Rest = Partial<Omit<FieldFact, 'about' | 'resource' | 'field' | 'type'>>

const kept = (field: string, type: FactType, rest: Rest = {}): FieldFact => ({
  about: 'field',
  resource: 'term',
  field,
  type,
  read: true,
  ...rest,
})

const changeable = (field: string, type: FactType, rest: Rest = {}) =>
  kept(field, type, { create: true, update: true, ...rest })

const created = (field: string, type: FactType, rest: Rest = {}) =>
  kept(field, type, { create: true, ...rest })

const moderations = ['publish', 'queue', 'disable', 'exclude']
const networks = [
  ...['twitter', 'facebook', 'instagram', 'youtube', 'gplus', 'flickr'],
  ...['pinterest', 'tumblr', 'rss', 'ecal', 'sta_feed', 'weibo'],
]

const networksOf = (type: string, ...some: string[]): TermTypeFact => ({
  about: 'term type',
  type,
  networks: some.length === 0 ? 'not listed' : some,
})

export const termTypeFacts: readonly TermTypeFact[] = [
  networksOf('default', 'ecal'),
  networksOf('page', 'facebook', 'pinterest', 'rss'),
  networksOf('hashtag', 'twitter', 'instagram'),
  networksOf('user', 'twitter', 'instagram', 'gplus', 'youtube', 'flickr', 'pinterest'),
  networksOf('search', 'twitter', 'gplus', 'youtube'),
  networksOf('location', 'twitter', 'instagram'),
  networksOf('gallery', 'flickr'),
  networksOf('set', 'flickr'),
  networksOf('blog', 'tumblr'),
  networksOf('atom', 'rss'),
  networksOf('post', 'sta_feed'),
  networksOf('weiboshow'),
  networksOf('weibopage'),
  networksOf('weibotopic'),
]

export const termFacts: readonly FieldFact[] = [
  kept('id', 'integer'),
  changeable('name', 'text'),
  changeable('display_name', 'text'),
  changeable('active', 'boolean', { seen: [1, 0] }),
  created('type', 'text', { required: true, values: termTypeFacts.map(({ type }) => type) }),
  created('network', 'text', { required: true, values: networks }),
  changeable('term', 'text', { required: true, form: 'filled' }),
  changeable('filter', 'text'),
  changeable('exclude_filter', 'text'),
  changeable('fan_filter', 'text'),
  changeable('fan_exclude_filter', 'text'),
  changeable('minimum_followers', 'integer', {
    onlyFor: { network: 'twitter', types: ['search', 'hashtag'] },
  }),
  changeable('moderate_text', 'text', { values: moderations }),
  changeable('moderate_image', 'text', { values: moderations }),
  changeable('moderate_video', 'text', { values: moderations }),
  changeable('retweet_enable', 'boolean'),
  changeable('reply_enable', 'boolean'),
  changeable('reply_to_enable', 'boolean'),
  changeable('partial_match', 'boolean'),
  changeable('include_fan_content', 'boolean'),
  changeable('include_hashtag_in_comments', 'boolean'),
  changeable('include_official_content', 'boolean'),
  changeable('search_exact_phrase', 'text'),
  changeable('verified_accounts', 'text'),
  created('num_of_backfill', 'integer'),
  changeable('whitelist_handles', 'text'),
  changeable('blacklist_handles', 'text'),
  changeable('source_user_id', 'text', {
    required: { whenType: ['user', 'page', 'gallery', 'set'] },
    words: ['type'],
  }),
  changeable('tags', 'list'),
  kept('created', 'timestamp'),
  kept('modified', 'timestamp'),
  kept('last_ingestion_post', 'timestamp'),
]
