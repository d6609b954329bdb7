import type { FieldKind } from '../api/contract/kinds.ts'
import { describeProblem, fieldKinds, fieldSchemas, type ProductField } from '../api/contract/product.ts'
import { categoriesCoercer, listCoercer } from './coerce-list.ts'
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
  const sentences = issues.slice(0, 3).map((issue) => describeProblem(issue, field))
  return new Problem('contract', sentences.join('; '), null)
}

function coercerOfKind(kind: FieldKind, options: CoerceOptions): Coerce {
  switch (kind) {
    case 'category-list':
      return categoriesCoercer(options)
    case 'string-list':
    case 'url-list':
      return listCoercer(options)
    case 'object':
    case 'object-list':
      return objectCoercer(options)
    default:
      return scalarCoercer(kind, options)
  }
}
