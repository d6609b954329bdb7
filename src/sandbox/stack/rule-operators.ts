import { RE2JS, RE2JSException } from 're2js'
import { isObject } from '../../api/contract/json-value.ts'

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

const patternCharactersMax = 1_000
/** Matching takes time in proportion to it; what people write stays below a hundred. */
const programSizeMax = 500

const flagsByOption: Readonly<Record<string, number>> = {
  i: RE2JS.CASE_INSENSITIVE,
  m: RE2JS.MULTILINE,
  s: RE2JS.DOTALL,
  // Texts are always read as Unicode.
  u: 0,
}

interface RulePattern {
  pattern: string
  options: string
}

/**
 * Finds the pattern anywhere in a text. RE2 has no backtracking, so that no pattern keeps the sandbox busy for longer
 * than the text is long. Returns a sentence when RE2 does not take the pattern.
 */
function compileRulePattern({ pattern, options }: RulePattern): ((text: string) => boolean) | string {
  if (pattern.length > patternCharactersMax) {
    return `the pattern has ${pattern.length} characters; ${patternCharactersMax} are the most`
  }
  let flags = 0
  for (const option of options) {
    const flag = Object.hasOwn(flagsByOption, option) ? flagsByOption[option] : undefined
    if (flag === undefined)
      return `the option ${JSON.stringify(option)} does not exist; known are i, m, s and u`
    flags |= flag
  }
  try {
    const compiled = RE2JS.compile(pattern, flags)
    if (compiled.programSize() > programSizeMax) return 'the pattern is too large; use smaller repeat counts'
    return (text) => compiled.matcher(text).find()
  } catch (error) {
    if (!(error instanceof RE2JSException)) throw error
    const reason = error.message.replace(/^error parsing regexp: /, '')
    return `RE2 refuses the pattern: ${reason}; lookarounds and back-references do not exist in it`
  }
}
