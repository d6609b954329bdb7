import { describeFound } from '../api/contract/describe.ts'
import type { FieldKind } from '../api/contract/kinds.ts'
import { fieldKinds, type ProductField, sensitiveFields } from '../api/contract/product.ts'
import type { FieldRule } from '../config/rule-model.ts'
import { isJsonObject } from '../records/look-up.ts'
import { coercerOf, holdToContract } from './coerce.ts'
import { type Coerce, type CoerceOptions, scalarCoercer } from './coerce-scalar.ts'
import { type CompiledRule, nothingSaid } from './compiled-rule.ts'
import { compileDate } from './date-text.ts'
import { compileEach } from './each.ts'
import { compileEntries, type EntriesFound, toEntries } from './entries.ts'
import { compileMatching } from './matching.ts'
import { readPairs } from './pairs-text.ts'
import { compileReshape } from './pattern.ts'
import { Problem } from './problem.ts'
import { rulePartProblems } from './rule-parts.ts'
import { compileSteps, type Steps } from './steps.ts'
import { textOf } from './text-of.ts'
import { type ReadTable, translator } from './translate.ts'
import { sortedByKey } from './wire-order.ts'

export interface RuleContext {
  /** Takes what is wrong whatever the file holds. */
  problems: string[]
  /** Gives the tables that rules name; without it values stay as they are, which is enough to check a rule. */
  readTable?: ReadTable | undefined
}

/** Answers undefined when there are problems. */
export function compileRule(
  field: ProductField,
  rule: FieldRule,
  context: RuleContext,
): CompiledRule | undefined {
  const { problems } = context
  const known = problems.length
  problems.push(...rulePartProblems({ name: field, kind: fieldKinds[field], isMember: false }, rule))
  if (field === 'custom_fields') return compileMap(rule, context)
  if (rule.from.kind === 'each') {
    if (problems.length > known) return undefined
    return compileEach(rule.from, rule, {
      field,
      describe: describerOf(field),
      problems,
      compile: (kind, name, item, found) =>
        compileMember(field, { kind, name }, item, { ...context, problems: found }),
      check: (value) => holdToContract(field, value),
    })
  }
  return compileValue({ field, kind: fieldKinds[field] }, rule, context, coercerOf)
}

function compileMember(
  field: ProductField,
  { kind, name }: { kind: FieldKind; name: string },
  rule: FieldRule,
  context: RuleContext,
): CompiledRule | undefined {
  context.problems.push(...rulePartProblems({ name, kind, isMember: true }, rule))
  if (kind === 'object') return compileMap({ ...rule, empty: 'clear' }, context)
  return compileValue({ field, kind }, rule, context, (options) => scalarCoercer(kind, options))
}

/** One value, whatever it is taken from. */
function compileValue(
  { field, kind }: { field: ProductField; kind: FieldKind },
  rule: FieldRule,
  context: RuleContext,
  coerceWith: (options: CoerceOptions) => Coerce,
): CompiledRule | undefined {
  const options = optionsOf(field, rule, context)
  if (!options) return undefined
  const { problems } = context
  return compileSteps(rule, { ...stepsOf(kind, rule, options), kind, coerce: coerceWith(options), problems })
}

/** `custom_fields`, from wherever its entries come. */
function compileMap(rule: FieldRule, context: RuleContext): CompiledRule | undefined {
  const { problems } = context
  const { from, empty } = rule
  const describe = describerOf('custom_fields')
  switch (from.kind) {
    case 'entries':
      return compileEntries(from.entries, {
        empty,
        problems,
        compile: (entry, found) => compileText(entry, { ...context, problems: found }),
      })
    case 'matching':
      return compileMatching(from.regex, rule, { describe, problems })
    case 'parts': {
      const parts = from.parts.flatMap((part) => {
        const whole = { ...part, empty: part.empty ?? empty ?? 'clear' }
        const ready = compilePart(whole, context)
        // An empty cell names none of the entries that it keeps.
        const keepsUnnamed = whole.empty === 'keep' && part.from.kind === 'columns'
        return ready ? [{ ready, keepsUnnamed }] : []
      })
      return parts.length < from.parts.length ? undefined : mergeParts(parts)
    }
    default: {
      const { pairs } = rule
      const coerceWith = (options: CoerceOptions) =>
        pairs ? pairsCoercer(pairs, options) : coercerOf(options)
      return compileValue({ field: 'custom_fields', kind: 'object' }, rule, context, coerceWith)
    }
  }
}

function compilePart(rule: FieldRule, context: RuleContext): CompiledRule | undefined {
  context.problems.push(...rulePartProblems({ name: 'custom_fields', kind: 'object', isMember: false }, rule))
  return compileMap(rule, context)
}

/** One entry of a map field: text, whatever the cell holds. */
function compileText(rule: FieldRule, context: RuleContext): CompiledRule | undefined {
  const kind = 'string'
  context.problems.push(...rulePartProblems({ name: 'an entry', kind, isMember: false }, rule))
  return compileValue({ field: 'custom_fields', kind }, rule, context, (options) =>
    scalarCoercer(kind, options),
  )
}

function pairsCoercer(pairs: NonNullable<FieldRule['pairs']>, { describe }: CoerceOptions): Coerce {
  return (value) => {
    const text = textOf(value)
    if (text === undefined)
      return new Problem('not-text', {
        found: `found ${describe(value)}, expected a text with pairs`,
        remedy: 'give it as a string',
      })
    const found = readPairs(text, pairs)
    if (found instanceof Problem) return found
    const filled = [...found].filter(([, content]) => content !== '')
    return filled.length === 0
      ? undefined
      : holdToContract('custom_fields', sortedByKey(Object.fromEntries(filled)))
  }
}

function stepsOf(
  kind: FieldKind,
  rule: FieldRule,
  options: CoerceOptions,
): Pick<Steps, 'options' | 'shape' | 'folding'> {
  const isList = kind.endsWith('-list') && kind !== 'object-list'
  const shape = isList ? 'list' : kind === 'object' || kind === 'object-list' ? 'object' : 'scalar'
  return {
    options,
    shape: rule.pairs ? 'scalar' : shape,
    folding: { rows: rule.rows, isPrice: options.field === 'price' },
  }
}

function describerOf(field: ProductField): (value: unknown) => string {
  const secret = sensitiveFields.includes(field)
  return (value) => describeFound(value, secret)
}

function optionsOf(
  field: ProductField,
  rule: FieldRule,
  { problems, readTable }: RuleContext,
): CoerceOptions | undefined {
  // Beside `during` the form is that of the times, which may be none of a day.
  const readDate = compileDate(rule.during ? undefined : rule.date)
  if (typeof readDate === 'string') {
    problems.push(readDate)
    return undefined
  }
  const { split, separator, slash, unescape: escapeMark, decimal = '.', thousands } = rule
  const describe = describerOf(field)
  return {
    field,
    locale: { decimal, thousands },
    readDate,
    split,
    escapeMark,
    reshape: rule.elements && compileReshape(rule.elements, { describe, problems }),
    translate: rule.lookup && translator(rule.lookup, { readTable, describe }),
    separator: separator?.trim() || separator,
    slash,
    secret: sensitiveFields.includes(field),
    describe,
  }
}

/** A map field of several rules: of entries with one key the first counts. */
function mergeParts(compiled: readonly { ready: CompiledRule; keepsUnnamed: boolean }[]): CompiledRule {
  const parts = compiled.map(({ ready }) => ready)
  return {
    columns: [...new Set(parts.flatMap(({ columns }) => columns))],
    valueColumns: [...new Set(parts.flatMap(({ valueColumns }) => valueColumns))],
    missing: (columns) => [...new Set(parts.flatMap((part) => part.missing(columns)))],
    bind: (columns) => {
      const bound = compiled.map(({ ready, keepsUnnamed }) => ({
        compute: ready.bind(columns),
        keepsUnnamed,
      }))
      return (cells, notes) => {
        const found: EntriesFound = { values: [], cleared: false }
        for (const { compute, keepsUnnamed } of bound) {
          const value = compute(cells, notes)
          if (value instanceof Problem) return value
          const values = Object.entries(isJsonObject(value) ? value : {})
          found.values.push(...values)
          if (values.length > 0) continue
          if (keepsUnnamed) notes.keepsOthers = true
          else if (value !== nothingSaid) found.cleared = true
        }
        return toEntries(found, notes, { isSorted: false })
      }
    },
    timed: parts.some(({ timed }) => timed),
  }
}
