import type { FieldKind } from '../api/contract/kinds.ts'
import { fieldKinds, fieldSchemas, type ProductField, wordsOfProblem } from '../api/contract/product.ts'
import { categoriesCoercer, listCoercer, urlListCoercer } from './coerce-list.ts'
import { objectCoercer } from './coerce-object.ts'
import type { Coerce, CoerceOptions } from './coerce-options.ts'
import { scalarCoercer } from './coerce-scalar.ts'
import { Problem } from './problem.ts'

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
