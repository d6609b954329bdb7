import type { RE2JS } from 're2js'
import type { FieldRule } from '../config/rule-model.ts'
import { splitMoney } from './money-text.ts'
import { type NumberFault, type NumberLocale, parseNumberText } from './number-text.ts'
import { compileRegex } from './pattern.ts'
import { Problem } from './problem.ts'
import { textOf } from './text-of.ts'

/** What stands for a cell: `value` is undefined for an empty cell, and may answer undefined for "empty". */
export type Decide = (value: unknown) => unknown

interface PatternCase {
  expression: RE2JS
  outcome: unknown
}

const comparison = /^(<=|>=|<|>)\s*(-?\d+(?:\.\d+)?)$/

interface Options {
  locale: NumberLocale
  secret: boolean
  describe: (value: unknown) => string
  problems: string[]
}

/**
 * The keys of `when`: exact cells first, then comparisons and after them patterns, each in configured order, then what
 * `known` makes of the value, then `otherwise`.
 */
export function compileWhen(
  rule: Pick<FieldRule, 'when' | 'otherwise'>,
  options: Options,
  known?: (value: unknown) => unknown,
): Decide {
  const exact = new Map(Object.entries(rule.when ?? {}))
  const comparisons = Object.entries(rule.when ?? {}).flatMap(([key, outcome]) => {
    const holds = compileComparison(key)
    return holds ? [{ holds, outcome }] : []
  })
  const patterns = compileCases(rule, options.problems)
  const hasOtherwise = rule.otherwise !== undefined
  return (value) => {
    // An empty cell is not "anything else": only the key "" speaks of it.
    if (value === undefined) return asOutcome(exact.get(''))
    const text = textOf(value)
    if (text !== undefined) {
      if (exact.has(text)) return asOutcome(exact.get(text))
      const digits = comparisons.length > 0 ? digitsOf(value, text, options.locale) : undefined
      const found =
        (typeof digits === 'string' ? comparisons.find(({ holds }) => holds(Number(digits))) : undefined) ??
        patterns.find(({ expression }) => expression.matcher(text).find())
      if (found) return asOutcome(found.outcome)
      // "0,00" is a number: taken for anything else, it would be in stock.
      if (typeof digits === 'object' && digits.code === 'number-locale')
        return new Problem(digits.code, {
          found: `found ${options.describe(value)} ${digits.found}`,
          remedy: digits.remedy,
        })
    }
    const outcome = known?.(value)
    if (known && !(outcome instanceof Problem)) return outcome
    if (hasOtherwise) return asOutcome(rule.otherwise)
    if (outcome !== undefined) return outcome
    const key =
      options.secret || text === undefined ? 'a key for it' : `the key ${JSON.stringify(text.slice(0, 40))}`
    const found = `found ${options.describe(value)}, which no key of when matches`
    return new Problem('when-unmatched', { found, remedy: `add ${key} to when, or otherwise` })
  }
}

/** All values that a rule may put in place of a cell; each must fit the field. */
export function outcomesOf(
  rule: Pick<FieldRule, 'when' | 'otherwise'>,
): readonly (readonly [string, unknown])[] {
  const outcomes = Object.entries(rule.when ?? {}).map(
    ([key, outcome]) => [`when "${key}"`, outcome] as const,
  )
  return rule.otherwise === undefined ? outcomes : [...outcomes, ['otherwise', rule.otherwise]]
}

/** `""` and null as outcome mean that the cell counts as empty. */
function asOutcome(outcome: unknown): unknown {
  return outcome === '' || outcome === null ? undefined : outcome
}

/** Keys of the form `/…/`. */
function compileCases({ when = {} }: Pick<FieldRule, 'when'>, problems: string[]): PatternCase[] {
  return Object.entries(when).flatMap(([key, outcome]) => {
    const regex = /^\/(.+)\/$/.exec(key)?.[1]
    const expression = regex === undefined ? undefined : compileRegex(regex, problems)
    return expression ? [{ expression, outcome }] : []
  })
}

function compileComparison(key: string): ((number: number) => boolean) | undefined {
  const [, sign, digits] = comparison.exec(key) ?? []
  const bound = Number(digits)
  const holds: Readonly<Record<string, (number: number) => boolean>> = {
    '<': (number) => number < bound,
    '<=': (number) => number <= bound,
    '>': (number) => number > bound,
    '>=': (number) => number >= bound,
  }
  return holds[sign ?? '']
}

/** `0 pcs`, `+0`, `0e0`: if these were not numbers, products that are sold out would be in stock. */
const zeroForm = /^[^1-9]*0[^1-9]*$/

/** Of the text, or of the amount in it; numbers of JSON have no locale. */
function digitsOf(value: unknown, text: string, locale: NumberLocale): string | NumberFault {
  if (typeof value === 'number') return text
  const whole = parseNumberText(text, locale)
  const amount = typeof whole === 'string' ? undefined : splitMoney(text)?.amount
  const digits = amount === undefined ? whole : parseNumberText(amount, locale)
  const isZero = typeof digits === 'object' && digits.code !== 'number-locale' && zeroForm.test(text)
  return isZero ? '0' : digits
}
