import type { FactType, FieldFact, Resource } from './fact.ts'

type Rest = Partial<Omit<FieldFact, 'about' | 'resource' | 'field' | 'type'>>

const asked = (field: string, type: FactType, rest: Rest = {}): FieldFact => ({
  about: 'field',
  resource: 'intent-request',
  field,
  type,
  create: true,
  ...rest,
})

const answered =
  (resource: Resource, common: Rest = {}) =>
  (field: string, type: FactType, rest: Rest = {}): FieldFact => ({
    about: 'field',
    resource,
    field,
    type,
    read: true,
    ...common,
    ...rest,
  })

const answer = answered('intent-response')
const product = answered('recommendation', { nullable: true })
const sku = answered('recommended-sku', { nullable: true })
const identifier = (resource: Resource, field: string) => answered(resource)(field, 'text')

export const intentFacts: readonly FieldFact[] = [
  asked('prompt', 'text', { form: 'filled', required: true }),
  asked('customerId', 'text', { form: 'filled', required: true, words: ['2c.cId'] }),
  asked('partnerId', 'text', { form: 'filled', required: true }),
  asked('chatId', 'text', { form: 'filled', required: true }),
  asked('country', 'text', { form: 'country', required: 'shopify' }),
  asked('locale', 'text', { form: 'language', required: 'shopify' }),
  asked('rankingOnly', 'boolean', { default: false, words: ['true'] }),
  asked('maxAgentRecommendations', 'integer', { nullable: true, default: 3, range: { min: 1, max: 20 } }),
  asked('giveAgentContext', 'boolean', { words: ['true'] }),
  asked('responseFormat', 'text', { seen: ['markdown'] }),
  answer('agentInsight', 'text', { words: ['rankingOnly', 'true'] }),
  answer('agentContext', 'text', { words: ['giveAgentContext', 'true'] }),
  answer('agentProductRecommendations', 'objects', { nullable: true }),
  identifier('recommendation', 'productId'),
  ...['name', 'url', 'description', 'imageUrl', 'brand', 'availability'].map((name) => product(name, 'text')),
  ...['currencyCode', 'priceCurrencyCode'].map((name) => product(name, 'text')),
  ...['price', 'listPrice', 'ratingValue'].map((name) => product(name, 'number')),
  ...['reviewCount', 'inventoryLevel'].map((name) => product(name, 'integer')),
  ...['isExcluded', 'onDiscount'].map((name) => product(name, 'boolean')),
  product('skus', 'objects'),
  identifier('recommended-sku', 'id'),
  sku('inventoryLevel', 'integer'),
  sku('availability', 'text'),
  sku('name', 'text'),
]
