import { describeFound } from '../api/contract/describe.ts'
import { type ProductField, sensitiveFields } from '../api/contract/product.ts'
import type { FieldRule } from '../config/model.ts'
import { coercerOf } from './coerce.ts'
import type { Coerce, CoerceOptions } from './coerce-options.ts'
import { scalarCoercer } from './coerce-scalar.ts'
import { type CompiledRule, nothingSaid } from './compiled-rule.ts'
import { compileDate } from './date-text.ts'
import { compileEntries } from './entries.ts'
import type { NumberLocale } from './number-text.ts'
import { compilePattern } from './pattern.ts'
import { Problem } from './problem.ts'
import { rulePartProblems } from './rule-parts.ts'
import { compileSource, missingOf } from './take.ts'
import { compileWhen, outcomesOf } from './when.ts'

/** Adds to `problems` what is wrong whatever the file holds, and answers undefined then. */
export function compileRule(
  field: ProductField,
  rule: FieldRule,
  problems: string[],
): CompiledRule | undefined {
  problems.push(...rulePartProblems(field, rule))
  if (rule.from.kind === 'entries') {
    if (field !== 'custom_fields') return undefined
    return compileEntries(rule.from.entries, { empty: rule.empty, problems, compile: compileText })
  }
  const options = optionsOf(field, rule, problems)
  return options && compileSteps(rule, { options, coerce: coercerOf(options), problems })
}

/** One entry of a map field: text, whatever the cell holds. */
function compileText(rule: FieldRule, problems: string[]): CompiledRule | undefined {
  problems.push(...rulePartProblems('custom_fields', rule))
  const options = optionsOf('custom_fields', rule, problems)
  return options && compileSteps(rule, { options, coerce: scalarCoercer('string', options), problems })
}

interface Steps {
  options: Pick<CoerceOptions, 'locale' | 'secret' | 'describe'>
  coerce: Coerce
  problems: string[]
}

/** Take, trim, pattern, when, coerce: in this order, so that `when` sees what the pattern took out of the cell. */
export function compileSteps(
  rule: FieldRule,
  { options, coerce, problems }: Steps,
): CompiledRule | undefined {
  const known = problems.length
  const source = compileSource(rule.from, rule.trim !== false, problems)
  const extract = rule.pattern && compilePattern(rule.pattern, { describe: options.describe, problems })
  const decide = rule.when || rule.otherwise !== undefined ? compileWhen(rule, options) : undefined
  problems.push(...outcomeProblems(rule, coerce))
  if (!source || problems.length > known) return undefined
  const bind: CompiledRule['bind'] = (placeOf) => {
    if (missingOf(source, placeOf).length > 0) return () => nothingSaid
    const take = source.bind(placeOf)
    return (cells, notes) => {
      let value = take(cells)
      if (extract && value !== undefined && !(value instanceof Problem)) value = extract(value)
      if (decide && !(value instanceof Problem)) value = decide(value)
      return value === undefined || value instanceof Problem ? value : coerce(value, notes)
    }
  }
  const missing: CompiledRule['missing'] = (placeOf) => missingOf(source, placeOf)
  if (rule.from.kind !== 'value') return { columns: source.columns, missing, bind }
  return constantRule(bind, problems)
}

/** Computed once. Every product shares the value, so nobody may change it. */
function constantRule(bind: CompiledRule['bind'], problems: string[]): CompiledRule | undefined {
  const value = bind(() => undefined)([], { currencies: [], keepEntries: [] })
  if (value === undefined) problems.push('value: a constant cannot be empty')
  if (value instanceof Problem) problems.push(`value: ${value.text}`)
  if (value === undefined || value instanceof Problem) return undefined
  return { columns: [], missing: () => [], bind: () => () => value }
}

/** What `when` and `otherwise` put in place of a cell must fit the field, whatever the cell. */
function outcomeProblems(rule: FieldRule, coerce: Coerce): string[] {
  return outcomesOf(rule).flatMap(([key, outcome]) => {
    if (outcome === '' || outcome === null) return []
    const result = coerce(outcome, { currencies: [], keepEntries: [] })
    return result instanceof Problem ? [`${key}: ${result.text}`] : []
  })
}

function optionsOf(field: ProductField, rule: FieldRule, problems: string[]): CoerceOptions | undefined {
  const readDate = compileDate(rule.date)
  if (typeof readDate === 'string') {
    problems.push(readDate)
    return undefined
  }
  const locale: NumberLocale = { decimal: rule.decimal ?? '.', thousands: rule.thousands }
  const secret = sensitiveFields.includes(field)
  const describe = (value: unknown) => describeFound(value, secret)
  const { split, separator, slash } = rule
  const levels = separator?.trim() || separator
  return { field, locale, readDate, split, separator: levels, slash, secret, describe }
}
