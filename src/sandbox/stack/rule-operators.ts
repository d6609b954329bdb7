import { isObject } from '../../api/contract/json-value.ts'
import { compileRulePattern } from './rule-pattern.ts'

/** Operators that hold a field against one value. */
export const valueOperators = [
  '$eq',
  '$ne',
  '$gt',
  '$gte',
  '$lt',
  '$lte',
  '$exists',
  '$type',
  '$size',
  '$regex',
] as const
export type ValueOperator = (typeof valueOperators)[number]

/** Names and numbers of the types that JSON values can have. */
const typeNames = [
  'string',
  'object',
  'array',
  'bool',
  'null',
  'number',
  'double',
  'int',
  'long',
  'decimal',
  'date',
]
const typeNumbers = [1, 2, 3, 4, 8, 9, 10, 16, 18, 19]

/**
 * The operator in the form that the matcher takes, or a sentence that says what is wrong. Forms send every value as
 * text, so texts of digits are read as numbers where only a number can be meant.
 */
export function parseOperatorValue(
  operator: ValueOperator,
  operators: Readonly<Record<string, unknown>>,
): Record<string, unknown> | string {
  const value = operators[operator]
  switch (operator) {
    case '$exists': {
      const exists = booleanOf(value)
      return exists === undefined ? 'it takes true or false' : { $exists: exists }
    }
    case '$size': {
      const size = numberOf(value)
      return typeof size === 'number' && Number.isSafeInteger(size) && size >= 0
        ? { $size: size }
        : 'it takes a whole number'
    }
    case '$type': {
      const types = (Array.isArray(value) ? value : [value]).map(numberOf)
      const unknown = types.some((type) => !isKnownType(type))
      return unknown || types.length === 0
        ? `it takes one or several of ${typeNames.join(', ')}`
        : { $type: types }
    }
    case '$regex': {
      const { $options: options = '' } = operators
      if (typeof value !== 'string') return 'it takes a pattern as text'
      if (typeof options !== 'string') return '$options takes a text of the letters i, m, s and u'
      const test = compileRulePattern({ pattern: value, options })
      return typeof test === 'string' ? test : { $matches: test }
    }
    default:
      if (isObject(value) && Object.keys(value).some((key) => key.startsWith('$'))) return 'it takes a value'
      return { [operator]: value }
  }
}

function isKnownType(type: unknown): boolean {
  return typeNames.some((name) => name === type) || typeNumbers.some((number) => number === type)
}

function booleanOf(value: unknown): boolean | undefined {
  if (value === true || value === 1 || value === 'true' || value === '1') return true
  return value === false || value === 0 || value === 'false' || value === '0' ? false : undefined
}

function numberOf(value: unknown): unknown {
  return typeof value === 'string' && /^\d{1,9}$/.test(value) ? Number(value) : value
}
