import { inWireForm } from '../api/contract/wire-form.ts'
import { emptyValueOf, fieldSchemaOf, type KindRules } from './kinds.ts'
import type { Fields } from './model.ts'

/**
 * What a person gives for fields, in the contract's form where it can be brought into it. Null and an empty text empty a
 * field; where the contract has no empty value they stay, for the check to name.
 */
export function toFieldValues(rules: KindRules, given: Fields): Fields {
  const empty: [string, unknown][] = []
  const filled: [string, unknown][] = []
  for (const [field, value] of Object.entries(given)) {
    const schema = fieldSchemaOf(rules, field)
    const isEmpty = schema !== undefined && (value === null || value === '')
    if (isEmpty) empty.push([field, emptyValueOf(schema) ?? value])
    else filled.push([field, value])
  }
  const converted = inWireForm(rules.schema, Object.fromEntries(filled)) as Fields
  // From entries, since an assignment to the key `__proto__` would change the prototype.
  return Object.fromEntries([...Object.entries(converted), ...empty])
}
