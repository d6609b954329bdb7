import type { FactType, FieldFact, Resource } from './fact.ts'

type Rest = Partial<Omit<FieldFact, 'about' | 'resource' | 'field' | 'type'>>

// An upsert creates or replaces.
const fieldOf =
  (resource: Resource) =>
  (field: string, type: FactType, rest: Rest = {}): FieldFact => ({
    about: 'field',
    resource,
    field,
    type,
    create: true,
    ...rest,
  })

const field = fieldOf('product')
const needed = (name: string, type: FactType, rest: Rest = {}) =>
  field(name, type, { required: true, ...rest })
const ofVariation = fieldOf('variation')
const ofSku = fieldOf('sku')

export const productFacts: readonly FieldFact[] = [
  needed('product_id', 'text', { form: 'filled' }),
  needed('name', 'text', { form: 'filled' }),
  needed('url', 'url'),
  needed('image_url', 'url'),
  needed('availability', 'text', { form: 'filled', seen: ['InStock', 'OutOfStock'] }),
  needed('price', 'number'),
  needed('price_currency_code', 'text', { form: 'filled' }),
  field('list_price', 'number'),
  field('rating_value', 'text', { form: 'decimal' }),
  field('review_count', 'text', { form: 'integer' }),
  field('categories', 'texts', { form: 'categories' }),
  field('categoryIds', 'texts'),
  field('parentCategoryIds', 'texts'),
  field('description', 'text'),
  field('brand', 'text'),
  ...['tag1', 'tag2', 'tag3'].map((name) => field(name, 'texts')),
  field('date_published', 'text', { form: 'date', words: ['YYYY-MM-DD'] }),
  field('variation_id', 'text'),
  field('alternate_image_urls', 'urls'),
  field('variations', 'object'),
  field('inventory_level', 'integer'),
  field('supplier_cost', 'number'),
  field('custom_fields', 'map'),
  field('skus', 'objects'),
  ofVariation('price_currency_code', 'text'),
  ofVariation('availability', 'text'),
  ofVariation('price', 'number'),
  ofVariation('list_price', 'number'),
  ofSku('id', 'text'),
  ofSku('name', 'text'),
  ofSku('price', 'number'),
  ofSku('list_price', 'number'),
  ofSku('url', 'url'),
  ofSku('image_url', 'url'),
  ofSku('availability', 'text'),
  ofSku('inventory_level', 'integer'),
  ofSku('custom_fields', 'map'),
]
