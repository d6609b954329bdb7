import type { FieldKind } from '../api/contract/kinds.ts'
import {
  fieldKinds,
  fieldSchemas,
  isCertainlyValid,
  type ProductField,
  wordsOfProblem,
} from '../api/contract/product.ts'
import { parsedOf } from '../lib/parsed-of.ts'
import { isJsonObject, type JsonObject } from '../records/look-up.ts'
import { categoriesCoercer, listCoercer, urlListCoercer } from './coerce-list.ts'
import { type Coerce, type CoerceOptions, scalarCoercer } from './coerce-scalar.ts'
import { currencyRemedy, openNotes, otherCurrencies, Problem, type RecordNotes } from './problem.ts'
import { inContractOrder, skuFields, sortedByKey, variationFields } from './wire-order.ts'

/** To the wire form of the field, checked by the contract. */
export function coercerOf(options: CoerceOptions): Coerce {
  const coerce = coercerOfKind(fieldKinds[options.field], options)
  return (value, notes) => {
    const result = coerce(value, notes)
    return result === undefined || result instanceof Problem ? result : holdToContract(options.field, result)
  }
}

/** The value of a field, or what the contract has against it. */
export function holdToContract(field: ProductField, value: unknown): unknown {
  if (isCertainlyValid(field, value)) return value
  const schema = fieldSchemas[field]
  if (schema.safeParse(value).success) return value
  // Parsed again for its words only: naming what was found slows the good case down.
  const issues = schema.safeParse(value, { reportInput: true }).error?.issues ?? []
  const words = issues.slice(0, 3).map((issue) => wordsOfProblem(issue, field))
  const distinct = (parts: readonly string[]) => [...new Set(parts)].join('; ')
  const found = distinct(words.map((each) => each.found))
  return new Problem('contract', { found, remedy: distinct(words.map(({ remedy }) => remedy)) }, null)
}

function coercerOfKind(kind: FieldKind, options: CoerceOptions): Coerce {
  switch (kind) {
    case 'category-list':
      return categoriesCoercer(options)
    case 'string-list':
      return listCoercer(options)
    case 'url-list':
      return urlListCoercer(options)
    case 'object':
    case 'object-list':
      return objectCoercer(options)
    default:
      return scalarCoercer(kind, options)
  }
}

/** `custom_fields`, `variations` and `skus`: JSON cells, or what NDJSON holds, in canonical key order. */
function objectCoercer(options: CoerceOptions): Coerce {
  const member = memberCoercer(options)
  return (value, notes) => {
    const parsed = typeof value === 'string' ? parseJson(value, options) : value
    if (parsed instanceof Problem) return parsed
    switch (options.field) {
      case 'skus':
        return Array.isArray(parsed)
          ? eachSku(parsed, (sku, path) => member(sku, { path, notes, order: skuFields }))
          : parsed
      case 'variations':
        // PHP writes an empty map as an empty list.
        if (Array.isArray(parsed) && parsed.length === 0) return {}
        return isJsonObject(parsed)
          ? eachVariation(parsed, (variation, path) => ownCurrency(variation, path, member))
          : parsed
      default:
        return isJsonObject(parsed) ? textMap(parsed) : parsed
    }
  }
}

type Member = (
  value: unknown,
  place: { path: string; notes: RecordNotes; order: readonly string[] },
) => unknown

/** Numbers may come as text, in the locale of the rule, and texts as numbers; everything else is left to the schema. */
function memberCoercer(options: CoerceOptions): Member {
  const coercers = new Map<string, Coerce>()
  for (const key of [...new Set([...variationFields, ...skuFields])]) {
    const kind = key === 'id' ? 'string' : fieldKinds[key as keyof typeof fieldKinds]
    if (kind !== 'object') coercers.set(key, scalarCoercer(kind, options))
  }
  return (value, { path, notes, order }) => {
    if (!isJsonObject(value)) return value
    const entries: [string, unknown][] = []
    for (const [key, content] of Object.entries(value)) {
      const result = memberValue(key, content, { coercers, notes })
      if (result instanceof Problem) return result.with({ path: `${path}.${key}` })
      if (result !== undefined) entries.push([key, result])
    }
    return inContractOrder(Object.fromEntries(entries), order)
  }
}

function memberValue(
  key: string,
  content: unknown,
  { coercers, notes }: { coercers: ReadonlyMap<string, Coerce>; notes: RecordNotes },
): unknown {
  if (content === null || content === '') return undefined
  if (key === 'custom_fields' && isJsonObject(content)) return textMap(content)
  const coerce = coercers.get(key)
  return coerce && typeof content !== 'object' ? coerce(content, notes) : content
}

function eachSku(list: readonly unknown[], coerce: (sku: unknown, path: string) => unknown): unknown {
  const skus = list.map((sku, index) => coerce(sku, `[${index}]`))
  return skus.find((sku) => sku instanceof Problem) ?? skus
}

function eachVariation(map: JsonObject, coerce: (variation: unknown, path: string) => unknown): unknown {
  const entries = Object.entries(map).map(([key, variation]) => [key, coerce(variation, `.${key}`)] as const)
  return (
    entries.find(([, variation]) => variation instanceof Problem)?.[1] ??
    sortedByKey(Object.fromEntries(entries))
  )
}

/** A variation has a currency of its own: codes beside its amounts are held against that one. */
function ownCurrency(variation: unknown, path: string, member: Member): unknown {
  const notes = openNotes(undefined, 0)
  const result = member(variation, { path, notes, order: variationFields })
  if (result instanceof Problem || !isJsonObject(result)) return result
  const own = result.price_currency_code
  const [other] = otherCurrencies(notes, own)
  if (!other) return result
  const found = `found an amount in ${other.code}, expected ${String(own)} as in its price_currency_code`
  return new Problem('currency-mismatch', { found, remedy: currencyRemedy }, path)
}

/**
 * The contract allows nothing but strings as values of custom fields. Numbers and booleans have one obvious text form
 * and become it; null says nothing; lists and objects are left for the schema to refuse.
 */
function textMap(map: JsonObject): JsonObject {
  const entries = Object.entries(map).filter(([, content]) => content !== null)
  return sortedByKey(
    Object.fromEntries(
      entries.map(([key, content]) => [
        key,
        typeof content === 'number' || typeof content === 'boolean' ? String(content) : content,
      ]),
    ),
  )
}

function parseJson(text: string, { describe }: CoerceOptions): unknown {
  const parsed = parsedOf(text)
  if (parsed !== undefined) return parsed
  const found = `found ${describe(text)}, which is no valid JSON`
  return new Problem('not-json', { found, remedy: 'give a JSON value' })
}
