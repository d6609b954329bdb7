import type { EndpointName } from './endpoints.ts'

const view = {
  view_name: 'To be looked at',
  type: 'user',
  access_type: 'public',
  sort_by: 'newest',
  columns_preview_col: 1,
  columns_tags_col: 1,
  columns_star_col: 0,
  filter_value_origin: 'instagram,twitter',
  filter_value_abuse: false,
  other_all_content_length: 50,
  other_display: 'table',
  date_range_from: '2026-01-01T00:00:00Z',
  date_range_to: '2026-03-31T23:59:59Z',
}

const rule = {
  name: 'Publish what customers praise',
  trigger: { $or: [{ tags: { $in: ['praise'] } }, { status: { $eq: 'queued' } }] },
  action: [{ type: '$set', field: 'status', value: 'published' }],
  enabled: 1,
  type: 'tile',
}

/** One body for each operation that takes one, as somebody would send it. */
export const exampleBodies: Partial<Record<EndpointName, unknown>> = {
  createRule: rule,
  updateRule: { enabled: 0 },
  createView: view,
  updateView: { other_all_content_length: 25 },
  updateUser: { name: 'Ada', display_timezone: 'Europe/Berlin', distances: 'metric', acl_groups: '2,3' },
  createTerm: {
    name: 'Our shoes',
    type: 'hashtag',
    network: 'instagram',
    term: 'kestrelshoes',
    active: 1,
    exclude_filter: 'giveaway,contest',
    moderate_text: 'queue',
    moderate_image: 'queue',
    num_of_backfill: 20,
  },
  updateTerm: { active: 0, blacklist_handles: 'spammer_1,spammer_2' },
  upsertProducts: [
    {
      product_id: 'SH03',
      name: 'Trail running shoe',
      url: 'https://shop.example/p/sh03',
      image_url: 'https://shop.example/i/sh03.jpg',
      availability: 'InStock',
      price: 99.9,
      price_currency_code: 'EUR',
      list_price: 129,
      rating_value: '4.7',
      review_count: '96',
      categories: ['Sports/Running/Shoes'],
      brand: 'Kestrel',
      tag1: ['green'],
      date_published: '2026-02-14',
      inventory_level: 12,
      custom_fields: { material: 'recycled nylon' },
      skus: [{ id: 'SH03-42', name: 'Size 42', availability: 'InStock', inventory_level: 3 }],
    },
  ],
  askIntent: {
    prompt: 'running shoes under 100 euro, not red',
    customerId: '5f2c9d0e7a',
    partnerId: 'partner-1',
    chatId: 'chat-1',
    country: 'DE',
    locale: 'en',
    maxAgentRecommendations: 3,
    giveAgentContext: true,
    responseFormat: 'markdown',
  },
}
