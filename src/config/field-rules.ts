import type { FieldRuleDetails, FieldRuleInput } from './field-schema.ts'
import type { FieldRule } from './model.ts'
import type { ConfigPath } from './problems.ts'

const sources = ['column', 'value', 'template', 'entries'] as const
/** What still makes sense beside a rule that reads no single cell. */
const besideConstant: ReadonlySet<string> = new Set(['value'])
const besideEntries: ReadonlySet<string> = new Set(['entries', 'empty'])
const placeholder = /\{[^{}]+\}/

/** The rule that a shorthand stands for. The input has passed `fieldRuleSchema` and `ruleProblems`. */
export function normalizeRule(input: FieldRuleInput): FieldRule {
  if (typeof input === 'string') return { from: sourceOf(shorthand(input)) }
  const { pattern, result, trim } = input
  return {
    from: sourceOf(input),
    ...(pattern === undefined ? {} : { pattern: { regex: pattern, result } }),
    ...pickDefined(input, [
      'split',
      'separator',
      'slash',
      'decimal',
      'thousands',
      'when',
      'otherwise',
      'date',
      'empty',
    ]),
    ...(trim === undefined ? {} : { trim: trim === true || trim === 'true' }),
  }
}

function shorthand(text: string): FieldRuleDetails {
  return placeholder.test(text) ? { template: text } : { column: text }
}

function sourceOf({ column, template, entries, value }: FieldRuleDetails): FieldRule['from'] {
  if (column !== undefined)
    return { kind: 'columns', columns: typeof column === 'string' ? [column] : column }
  if (template !== undefined) return { kind: 'template', template }
  if (entries === undefined) return { kind: 'value', value }
  const rules = Object.entries(entries).map(([entry, rule]): [string, FieldRule] => [
    entry,
    normalizeRule(rule),
  ])
  return { kind: 'entries', entries: Object.fromEntries(rules) }
}

type Defined<T, Key extends keyof T> = { [K in Key]?: Exclude<T[K], undefined> }

function pickDefined<T extends object, Key extends keyof T>(
  object: T,
  keys: readonly Key[],
): Defined<T, Key> {
  const defined = keys.filter((key) => object[key] !== undefined).map((key) => [key, object[key]])
  return Object.fromEntries(defined) as Defined<T, Key>
}

export interface RuleProblem {
  /** Below the rule. */
  path: ConfigPath
  message: string
}

/** Combinations that mean nothing. The input has passed `fieldRuleSchema`. */
export function ruleProblems(input: FieldRuleInput): RuleProblem[] {
  if (typeof input === 'string') return []
  const given = sources.filter((source) => input[source] !== undefined)
  const [source] = given
  if (source === undefined || given.length > 1) {
    const found =
      source === undefined ? 'is missing where the value comes from' : `found ${given.join(' and ')}`
    return [{ path: [], message: `${found}, expected exactly one of ${sources.join(', ')}` }]
  }
  return [...companionProblems(input, source), ...valueProblems(input), ...entryProblems(input)]
}

function companionProblems(input: FieldRuleDetails, source: (typeof sources)[number]): RuleProblem[] {
  const allowed = source === 'value' ? besideConstant : source === 'entries' ? besideEntries : undefined
  if (allowed === undefined) return []
  return Object.entries(input)
    .filter(([key, value]) => value !== undefined && !allowed.has(key))
    .map(([key]) => ({ path: [key], message: `has no effect beside ${source}, expected it to be left out` }))
}

function valueProblems({ result, pattern, otherwise, when, decimal, thousands, template }: FieldRuleDetails) {
  const problems: RuleProblem[] = []
  if (result !== undefined && pattern === undefined) {
    problems.push({ path: ['result'], message: 'found no pattern beside it, expected one with named groups' })
  }
  if (otherwise !== undefined && when === undefined) {
    problems.push({
      path: ['otherwise'],
      message: 'found no "when" beside it, expected both, or value for a constant',
    })
  }
  if (decimal !== undefined && decimal === thousands) {
    problems.push({ path: ['thousands'], message: 'found the decimal mark, expected another mark' })
  }
  if (template !== undefined && !placeholder.test(template)) {
    problems.push({
      path: ['template'],
      message: 'found no {column} in it, expected at least one, or value for a constant',
    })
  }
  return problems
}

function entryProblems({ entries }: FieldRuleDetails): RuleProblem[] {
  return Object.entries(entries ?? {}).flatMap(([entry, rule]) => {
    if (typeof rule === 'object' && rule.entries !== undefined) {
      return [
        { path: ['entries', entry, 'entries'], message: 'found entries inside entries, expected one level' },
      ]
    }
    return ruleProblems(rule).map(({ path, message }) => ({ path: ['entries', entry, ...path], message }))
  })
}
