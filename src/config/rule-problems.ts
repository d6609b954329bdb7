import type { FieldRuleDetails, FieldRuleInput } from './field-schema.ts'
import type { ConfigPath } from './problems.ts'

type Part = keyof FieldRuleDetails
type Source = (typeof sources)[number]

const sources = [
  'column',
  'value',
  'template',
  'entries',
  'matching',
  'parts',
  'each',
] as const satisfies Part[]

/** What still makes sense beside a source that reads no single cell. Sources that are absent allow everything else. */
const companions: Partial<Record<Source, ReadonlySet<Part>>> = {
  value: new Set(['value']),
  entries: new Set(['entries', 'empty']),
  matching: new Set(['matching', 'empty', 'trim', 'html']),
  parts: new Set(['parts', 'empty']),
  each: new Set(['each', 'key', 'item', 'where', 'empty', 'optional']),
}

const placeholder = /\{[^{}]+\}/

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
  return [
    ...companionProblems(input, source),
    ...valueProblems(input),
    ...timeProblems(input),
    ...memberProblems(input, source),
    ...nestedProblems(input),
  ]
}

function companionProblems(input: FieldRuleDetails, source: Source): RuleProblem[] {
  const allowed = companions[source]
  if (allowed === undefined) return []
  return (Object.keys(input) as Part[])
    .filter((key) => input[key] !== undefined && !allowed.has(key))
    .map((key) => ({ path: [key], message: `has no effect beside ${source}, expected it to be left out` }))
}

function valueProblems(input: FieldRuleDetails): RuleProblem[] {
  const { result, pattern, otherwise, when, words, part, template, split } = input
  const problems: RuleProblem[] = []
  const add = (path: Part, message: string) => problems.push({ path: [path], message })
  if (result !== undefined && pattern === undefined)
    add('result', 'found no pattern beside it, expected one with named groups')
  if (otherwise !== undefined && when === undefined && words === undefined && part !== 'currency')
    add('otherwise', 'found no "when" beside it, expected both, or value for a constant')
  if (template !== undefined && !placeholder.test(template)) {
    add('template', 'found no {column} in it, expected at least one, or value for a constant')
  }
  if (input.less && input.less.percent === undefined && input.less.amount === undefined)
    add('less', 'found neither percent nor amount, expected at least one')
  if (input.column !== undefined && [input.column].flat().every((column) => column === input.below))
    add('below', 'is the only column that the rule reads, expected another')
  if (input.unescape !== undefined && split === undefined)
    add('unescape', 'found no "split" beside it, expected both')
  return problems
}

function timeProblems({ during, zone, column, template, less }: FieldRuleDetails): RuleProblem[] {
  const problems: RuleProblem[] = []
  if (zone !== undefined && during === undefined)
    problems.push({ path: ['zone'], message: 'found no "during" beside it, expected both' })
  for (const [timed, ends] of Object.entries(during ?? {})) {
    const path = ['during', timed]
    const isRead =
      template?.includes(`{${timed}}`) ||
      [column ?? [], less?.percent ?? [], less?.amount ?? []].flat().includes(timed)
    if (!isRead) problems.push({ path, message: 'is no column that the rule reads, expected one of them' })
    if (typeof ends === 'object' && ends.from === undefined && ends.until === undefined)
      problems.push({ path, message: 'found neither from nor until, expected at least one' })
  }
  return problems
}

function memberProblems({ each, item, key }: FieldRuleDetails, source: Source): RuleProblem[] {
  if (each !== undefined && Object.keys(item ?? {}).length === 0)
    return [{ path: ['item'], message: 'is missing, expected how the fields of a member are computed' }]
  if (source === 'each') return []
  return (['item', 'key'] as const)
    .filter((part) => ({ item, key })[part] !== undefined)
    .map((part) => ({ path: [part], message: 'found no "each" beside it, expected both' }))
}

function nestedProblems({ entries, parts, item, key }: FieldRuleDetails): RuleProblem[] {
  const below = (path: ConfigPath, rule: FieldRuleInput) =>
    ruleProblems(rule).map((problem) => ({ ...problem, path: [...path, ...problem.path] }))
  return [
    ...Object.entries(entries ?? {}).flatMap(([entry, rule]) => {
      const inside = typeof rule === 'object' ? mapSources.filter((source) => rule[source] !== undefined) : []
      const path = ['entries', entry]
      if (inside.length === 0) return below(path, rule)
      return inside.map((source) => ({
        path: [...path, source],
        message: `found ${source} inside entries, expected one level`,
      }))
    }),
    ...(parts ?? []).flatMap((rule, index) => below(['parts', index], rule)),
    ...Object.entries(item ?? {}).flatMap(([field, rule]) => below(['item', field], rule)),
    ...(key === undefined ? [] : below(['key'], key)),
  ]
}

/** They make maps or lists, where an entry is one text. */
const mapSources = ['entries', 'matching', 'parts', 'each', 'pairs'] as const satisfies Part[]
