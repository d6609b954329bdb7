import type { FieldKind } from '../api/contract/kinds.ts'
import type { FieldRule } from '../config/rule-model.ts'
import { readAvailability } from './availability-words.ts'
import { compileBelow } from './below.ts'
import type { Reading } from './cell-content.ts'
import { splitText } from './coerce-list.ts'
import { type Coerce, type CoerceOptions, compileMoneyPart, currencyOfMark } from './coerce-scalar.ts'
import { type Columns, type CompiledRule, type Compute, nothingSaid } from './compiled-rule.ts'
import { compileDuring } from './during.ts'
import { type Folding, foldRows } from './fold-rows.ts'
import { isFree, namesOf } from './free-column.ts'
import { htmlToText } from './html-text.ts'
import { jsonText } from './json-text.ts'
import { compileLess } from './less.ts'
import { openRowView, withoutMark } from './members.ts'
import { withOrdinary } from './ordinary-cell.ts'
import { compilePattern } from './pattern.ts'
import { openNotes, Problem, type RecordNotes } from './problem.ts'
import { compileSource, missingOf, type Source } from './take.ts'
import { compileWhen, outcomesOf } from './when.ts'
import { compileChosen } from './where.ts'

export interface Steps {
  /** Left out: there is no field that would say what is right. */
  kind?: FieldKind
  options: Pick<CoerceOptions, 'locale' | 'secret' | 'describe'> & Partial<Pick<CoerceOptions, 'field'>>
  shape: Reading['shape']
  coerce: Coerce
  /** How the values of several rows become one, where the rule says which rows count. */
  folding?: Folding
  problems: string[]
}

/** The cell, or what the rule takes out of it, is empty: `when` may still have a word for that. */
const nothingTaken = Symbol('nothing taken')

/** Never called with undefined or a `Problem`. */
type Stage = (value: unknown) => unknown

/**
 * Take, trim, json, newline, html, pattern, part, when (and words), coerce, below, less: in this order, so that `when` sees what the
 * pattern took out of the cell. Of several columns the first that comes to something at the end counts.
 */
export function compileSteps(rule: FieldRule, steps: Steps): CompiledRule | undefined {
  const { options, shape, coerce, problems } = steps
  const known = problems.length
  const reading: Reading = { trim: rule.trim !== false, shape, describe: options.describe }
  const source = compileSource(rule.from, reading, problems)
  const stages = compileStages(rule, steps)
  const decide = compileDecision(rule, { ...options, problems })
  const less = rule.less && options.field && compileLess(rule.less, { ...options, field: options.field })
  const below = rule.below === undefined ? undefined : compileBelow(rule.below, reading)
  const during = rule.during && compileDuring(rule, { describe: options.describe, problems })
  const chosen = compileChosen(rule)
  problems.push(...outcomeProblems(rule, coerce))
  if (!source || problems.length > known) return undefined
  const finish = (found: unknown, notes: RecordNotes): unknown => {
    const value = decide && !(found instanceof Problem) ? decide(found) : found
    if (rule.part === 'currency' && typeof value === 'string') notes.meanings.set(String(found), value)
    return value === undefined || value instanceof Problem ? value : coerce(value, notes)
  }
  const readTaken = (taken: unknown, notes: RecordNotes): unknown => {
    const value = runStages(taken, stages)
    const result = value === undefined ? nothingTaken : finish(value, notes)
    if (!(result instanceof Problem) || result === taken || options.secret) return result
    return result.with({ value: taken })
  }
  const bindValue = (columns: Columns): Compute => {
    const takes = source.bind(columns)
    const takeOff = less?.bind(columns)
    const holdBelow = below?.bind(columns, (taken, notes) => {
      const limit = readTaken(taken, notes)
      return limit === nothingTaken ? undefined : limit
    })
    return (cells, notes) => {
      let isEmpty = true
      for (const take of takes) {
        const taken = take(cells, notes)
        const value = readTaken(taken, notes)
        if (value === nothingTaken) continue
        isEmpty = false
        const isHeld = holdBelow && value !== undefined && !(value instanceof Problem)
        const result = isHeld ? holdBelow({ taken, value }, cells, notes) : value
        if (result === undefined) continue
        return takeOff && typeof result === 'number' ? takeOff(result, cells, notes) : result
      }
      return isEmpty ? finish(undefined, notes) : undefined
    }
  }
  if (rule.from.kind === 'value') return constantRule(bindValue, problems)
  const bindOrdinary = withOrdinary(rule, { ...steps, finish }, bindValue)
  const bindTimed = during ? (columns: Columns) => during.bind(columns, bindValue(columns)) : bindOrdinary
  const beside = [below, during, less].flatMap((part) => part?.columns ?? [])
  const read = [...source.columns, ...beside.flatMap(namesOf)]
  const bind = (columns: Columns): Compute =>
    chosen || rule.rows
      ? foldRule(columns, { bind: bindTimed, read, chosen, folding: { ...steps.folding, rows: rule.rows } })
      : bindTimed(columns)
  // Rules of rows may name columns of the record, which are the same.
  const seen = rule.rows ? ofRecord(source) : source
  const others = [
    ...(rule.rows ? beside.map(withoutMark) : beside),
    ...(chosen?.columns ?? []).map(withoutMark),
  ]
  return {
    columns: [...new Set([...seen.columns, ...others.flatMap(namesOf)])],
    valueColumns: seen.columns,
    missing: (columns) => (rule.optional ? [] : missingIn(seen, others, columns)),
    bind: (columns) =>
      withDefault(missingOf(seen, columns).length > 0 ? () => nothingSaid : bind(columns), rule, coerce),
    timed: during !== undefined,
  }
}

interface RuleOfRows {
  bind: CompiledRule['bind']
  /** Columns that the rule reads. */
  read: readonly string[]
  chosen: ReturnType<typeof compileChosen>
  folding: Folding
}

function foldRule(columns: Columns, { bind, read, chosen, folding }: RuleOfRows): Compute {
  const view = openRowView(columns, [...(folding.rows ? read : []), ...(chosen?.columns ?? [])])
  const places = read.map((name) => view.columns.placeOf(name)).filter((place) => place !== undefined)
  const full = { ...folding, join: view.join, places }
  return foldRows(bind(view.columns), full, chosen?.bind(view.columns) ?? {})
}

/** A column that may be absent is as good as an empty one then. */
function withDefault(compute: Compute, rule: FieldRule, coerce: Coerce): Compute {
  if (rule.default === undefined) return compute
  const value = coerce(rule.default, openNotes(undefined, 0))
  return (cells, notes) => {
    const found = compute(cells, notes)
    return found === undefined || (found === nothingSaid && rule.optional) ? value : found
  }
}

function ofRecord({ columns, free = new Set(), ...source }: Source): Source {
  return {
    ...source,
    columns: [...new Set(columns.map(withoutMark))],
    free: new Set([...free].map(withoutMark)),
  }
}

function runStages(taken: unknown, stages: readonly Stage[]): unknown {
  let value = taken
  for (const stage of stages) {
    if (value === undefined || value instanceof Problem) return value
    value = stage(value)
  }
  return value
}

function missingIn(source: Source, beside: readonly string[], columns: Columns): readonly string[] {
  const absent = beside.filter((column) => !isFree(column) && columns.placeOf(column) === undefined)
  return [...new Set([...missingOf(source, columns), ...absent])]
}

function compileStages(rule: FieldRule, { options, problems }: Steps): readonly Stage[] {
  const { describe } = options
  const stages: Stage[] = []
  if (rule.json) stages.push((value) => jsonText(value, describe))
  if (rule.newline !== undefined) stages.push((value) => withLines(value, rule))
  if (rule.html) stages.push(plainText)
  const extract = rule.pattern && compilePattern(rule.pattern, { describe, problems })
  if (extract) stages.push(extract)
  if (rule.part) stages.push(compileMoneyPart(rule.part, options))
  return stages
}

/** A separator behind a backslash stands for itself. Line ends around the text are trimmed like spaces. */
function withLines(value: unknown, { newline = '', trim = true }: FieldRule): unknown {
  if (typeof value !== 'string') return value
  const text = splitText(value, newline, '\\').join('\n')
  return trim ? text.trim() || undefined : text
}

function plainText(value: unknown): unknown {
  if (Array.isArray(value)) {
    const texts = value.map(plainText)
    return texts.find((text) => text instanceof Problem) ?? texts
  }
  return typeof value === 'string' ? htmlToText(value) || undefined : value
}

/** What the rule does not name itself, tables of ours may know. */
function compileDecision(
  rule: FieldRule,
  options: Steps['options'] & Pick<Steps, 'problems'>,
): Stage | undefined {
  if (rule.words) return compileWhen(rule, options, (value) => readAvailability(value, options.describe))
  if (rule.part === 'currency') return compileWhen(rule, options, currencyOfMark)
  return rule.when || rule.otherwise !== undefined ? compileWhen(rule, options) : undefined
}

/** Computed once. Every product shares the value, so nobody may change it. */
function constantRule(bind: CompiledRule['bind'], problems: string[]): CompiledRule | undefined {
  const value = bind({ names: [], placeOf: () => undefined })([], openNotes(undefined, 0))
  if (value === undefined) problems.push('value: a constant cannot be empty')
  if (value instanceof Problem) problems.push(`value: ${value.text}`)
  if (value === undefined || value instanceof Problem) return undefined
  return { columns: [], valueColumns: [], missing: () => [], bind: () => () => value, timed: false }
}

/** What `when` and `otherwise` put in place of a cell must fit the field, whatever the cell. */
function outcomeProblems(rule: FieldRule, coerce: Coerce): string[] {
  const outcomes = outcomesOf(rule)
  const all = rule.default === undefined ? outcomes : [...outcomes, ['default', rule.default] as const]
  return all.flatMap(([key, outcome]) => {
    if (outcome === '' || outcome === null) return []
    const result = coerce(outcome, openNotes(undefined, 0))
    return result instanceof Problem ? [`${key}: ${result.text}`] : []
  })
}
