import { z } from 'zod'
import { describeFound, formatPath } from './describe.ts'
import { bareSchema, metadataOf } from './fields.ts'
import { elementKindOf, expectations, type FieldKind, type ValueKind } from './kinds.ts'
import { isCalendarDate, isCategoryPath, isDecimalText, isHttpUrl, isIntegerText } from './values.ts'

const text = z.string().meta({ fieldKind: 'string' })
/** Required text says something: an empty string is as good as a field that is not there. */
const filledText = z.string().min(1).meta({ fieldKind: 'string' })
// z.number() refuses NaN and both infinities, which JSON cannot carry.
const amount = z.number().meta({ fieldKind: 'number' })
const wholeNumber = z.int().meta({ fieldKind: 'integer' })
const url = z
  .string()
  .refine(isHttpUrl)
  .meta({ format: 'uri', fieldKind: 'url', ...expectations.url })
const decimalText = z
  .string()
  .refine(isDecimalText)
  .meta({ pattern: '^-?\\d+(\\.\\d+)?$', fieldKind: 'decimal-string', ...expectations['decimal-string'] })
const integerText = z
  .string()
  .refine(isIntegerText)
  .meta({ pattern: '^-?\\d+$', fieldKind: 'integer-string', ...expectations['integer-string'] })
const date = z
  .string()
  .refine(isCalendarDate)
  .meta({ format: 'date', fieldKind: 'date', ...expectations.date })
const categoryPath = z
  .string()
  .refine(isCategoryPath)
  .meta({ pattern: '^/?[^/>]+(/[^/>]+)*$', fieldKind: 'category', ...expectations.category })

/**
 * A map with keys of the sender's choosing. An own key `__proto__` (JSON.parse makes one) would be lost or would
 * change the prototype wherever the map is copied, so it is refused before the record schema drops it silently.
 */
function mapOf<Value extends z.ZodType>(value: Value) {
  const guard = z.unknown().check((context) => {
    const map = context.value
    if (typeof map !== 'object' || map === null || !Object.hasOwn(map, '__proto__')) return
    context.issues.push({ code: 'custom', path: ['__proto__'], input: map, params: { reserved: true } })
  })
  return guard.pipe(z.record(z.string(), value)).meta({ fieldKind: 'object', ...expectations.object })
}

const customFieldsSchema = mapOf(text)

export const variationSchema = z.strictObject({
  price_currency_code: text.optional(),
  availability: filledText.optional(),
  price: amount.optional(),
  list_price: amount.optional(),
})

/** The contract marks no SKU field as required, not even `id`. */
export const skuSchema = z.strictObject({
  id: text.optional(),
  name: text.optional(),
  price: amount.optional(),
  list_price: amount.optional(),
  url: url.optional(),
  image_url: url.optional(),
  availability: filledText.optional(),
  inventory_level: wholeNumber.optional(),
  custom_fields: customFieldsSchema.optional(),
})

/** In contract order, which is also the order of keys in every wire document. */
const shape = {
  product_id: filledText.meta({ description: 'Id of the product' }),
  name: filledText.meta({ description: 'Name of the product' }),
  url: url.meta({ description: 'Address of its page' }),
  image_url: url.meta({ description: 'Address of its picture' }),
  availability: filledText.meta({
    description: 'InStock, OutOfStock, or another word that the service knows',
  }),
  price: amount.meta({ description: 'What it costs now' }),
  price_currency_code: filledText.meta({ description: 'Code of the currency, such as EUR' }),
  list_price: amount.meta({ description: 'What it costs without a discount' }).optional(),
  rating_value: decimalText.meta({ description: 'Average rating, a decimal in string form' }).optional(),
  review_count: integerText
    .meta({ description: 'How many reviews, a whole number in string form' })
    .optional(),
  categories: z
    .array(categoryPath)
    .meta({ description: 'Paths whose levels are separated by slashes' })
    .optional(),
  categoryIds: z.array(text).optional(),
  parentCategoryIds: z.array(text).optional(),
  description: text.optional(),
  brand: text.optional(),
  tag1: z.array(text).optional(),
  tag2: z.array(text).optional(),
  tag3: z.array(text).optional(),
  date_published: date.meta({ description: 'Day, YYYY-MM-DD' }).optional(),
  variation_id: text.optional(),
  alternate_image_urls: z.array(url).optional(),
  variations: mapOf(variationSchema).meta({ description: 'By id of the variation' }).optional(),
  inventory_level: wholeNumber
    .meta({ description: 'How many are in stock; sensitive, and written only here' })
    .optional(),
  supplier_cost: amount
    .meta({
      description: 'What the supplier is paid; sensitive, and written only here',
      writeOnly: true,
      secret: true,
    })
    .optional(),
  custom_fields: customFieldsSchema.meta({ description: 'Texts by name' }).optional(),
  skus: z.array(skuSchema).meta({ description: 'What the product is sold as' }).optional(),
}

/** One product as it goes over the wire. Unknown fields are refused. */
export const productSchema = z.strictObject(shape)
export type Product = z.infer<typeof productSchema>
export type ProductField = keyof typeof shape

export const productFields: readonly ProductField[] = Object.keys(shape) as ProductField[]

/** Without all of these a product is incomplete and is not sent. */
export const requiredFields = [
  'product_id',
  'name',
  'url',
  'image_url',
  'availability',
  'price',
  'price_currency_code',
] as const satisfies readonly ProductField[]

/** Never logged, never in a report. */
export const sensitiveFields: readonly ProductField[] = ['supplier_cost']

/** One value of one field at a time; unlike in the product, `undefined` is refused here for optional fields too. */
export const fieldSchemas = Object.fromEntries(
  Object.entries(shape).map(([field, schema]) => [
    field,
    schema instanceof z.ZodOptional ? schema.unwrap() : schema,
  ]),
) as unknown as Record<ProductField, z.ZodType>

/** What a cell must become to fit the field. */
export const fieldKinds = Object.fromEntries(
  Object.entries(shape).map(([field, schema]) => {
    const bare = bareSchema(schema)
    if (!(bare instanceof z.ZodArray)) return [field, metadataOf(schema).fieldKind]
    const element = bare.element as z.ZodType
    return [field, `${metadataOf(element).fieldKind ?? 'object'}-list`]
  }),
) as Readonly<Record<ProductField, FieldKind>>

const certain: Readonly<Partial<Record<ValueKind, (value: unknown) => boolean>>> = {
  string: (value) => typeof value === 'string' && value !== '',
  number: Number.isFinite,
  integer: Number.isSafeInteger,
  url: (value) => typeof value === 'string' && isHttpUrl(value),
  'decimal-string': (value) => typeof value === 'string' && isDecimalText(value),
  'integer-string': (value) => typeof value === 'string' && isIntegerText(value),
  date: (value) => typeof value === 'string' && isCalendarDate(value),
  category: (value) => typeof value === 'string' && isCategoryPath(value),
}

const certainOf = new Map(
  productFields.map((field) => {
    const check = certain[elementKindOf(fieldKinds[field])] ?? (() => false)
    return [field, { check, isList: fieldKinds[field].endsWith('-list') }]
  }),
)

/** True only where the schema of the field takes the value, too. It costs a fraction of asking that. */
export function isCertainlyValid(field: ProductField, value: unknown): boolean {
  const { check, isList } = certainOf.get(field) as { check: (value: unknown) => boolean; isList: boolean }
  return isList ? Array.isArray(value) && value.every(check) : check(value)
}

/** Words that the service is known to understand; the contract allows any other. */
export const knownAvailabilities: readonly string[] = ['InStock', 'OutOfStock', 'Invisible', 'Discontinued']

/** Why an availability that is valid may still not do what was meant; undefined for the known words. */
export function availabilityWarning(value: string): string | undefined {
  if (knownAvailabilities.includes(value)) return undefined
  return `availability: ${describeFound(value, false)} is none of the known words ${knownAvailabilities.join(', ')}; map it with when/otherwise if it means one of them`
}

/**
 * One line for people: "field: what was found, what is expected; what to do". `field` names the field when the issue
 * comes from `fieldSchemas`. Parse with `reportInput: true` to have the value found named; values of sensitive fields
 * are never shown.
 */
export function describeProblem(issue: z.core.$ZodIssue, field?: ProductField): string {
  const { found, remedy } = wordsOfProblem(issue, field)
  return `${found}; ${remedy}`
}

/** The same in its two halves: what is wrong at which place, and what to do. */
export function wordsOfProblem(
  issue: z.core.$ZodIssue,
  field?: ProductField,
): { found: string; remedy: string } {
  const path = field === undefined ? issue.path : [field, ...issue.path]
  const place = formatPath(path)
  if (issue.code === 'unrecognized_keys') {
    const names = issue.keys.map((key) => formatPath([...path, key])).join(', ')
    const found = `${names}: found a field that is not in the contract, expected only contract fields`
    return { found, remedy: 'remove it or map it to custom_fields' }
  }
  if (issue.code === 'custom' && issue.params?.reserved === true) {
    return { found: `${place}: found a reserved name, expected an ordinary key`, remedy: 'rename the key' }
  }
  const { expected, remedy } = expectations[kindAt(path)]
  const found = 'input' in issue ? describeFound(issue.input, path.some(isSensitive)) : undefined
  if (found === undefined) return { found: `${place}: expected ${expected}`, remedy }
  const isBlank = issue.input === undefined || issue.input === ''
  return {
    found: `${place}: found ${found}, expected ${expected}`,
    remedy: isBlank ? 'give it a value' : remedy,
  }
}

/** What belongs at a place in a product, where the schema found something else. */
function kindAt(path: readonly PropertyKey[]): ValueKind {
  const [field, second, ...rest] = path
  if (!isProductField(field)) return field === 'id' ? 'string' : 'object'
  const kind = fieldKinds[field]
  if (second === undefined) return kind
  if (field === 'skus' || field === 'variations') return kindAt(rest)
  return field === 'custom_fields' ? 'string' : elementKindOf(kind)
}

function isProductField(name: PropertyKey | undefined): name is ProductField {
  return typeof name === 'string' && Object.hasOwn(fieldKinds, name)
}

function isSensitive(name: PropertyKey): boolean {
  return isProductField(name) && sensitiveFields.includes(name)
}
