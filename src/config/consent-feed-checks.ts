import type { ConfigDocument } from './document.ts'
import { checkSource } from './feed-checks.ts'
import { normalizeRule } from './field-rules.ts'
import { type FieldRuleInput, fieldRuleSchema } from './field-schema.ts'
import { type FieldKnowledge, namesAt, soundPart } from './parts.ts'
import { type ConfigPath, suggestion, suggestWord } from './problems.ts'
import { ruleProblems } from './rule-problems.ts'

/** What a record of a feed of kind consents says. */
const consentFields = ['email', 'consent'] as const

/** The feed of what the command `consent` hands in; it stands in no configuration. */
export const consentCommandName = 'consent-command'

const delta = 'expected delta or nothing: a consent that a file does not name stays as it is'

/** What speaks of products, by its path. */
const unfit: readonly (readonly [path: readonly string[], message: string])[] = [
  ...['key', 'owns', 'missing', 'changes', 'group', 'transform', 'aliases'].map((key) => {
    return [[key], 'has no meaning in a feed of kind consents, expected it to be left out'] as const
  }),
  [
    ['asOf', 'column'],
    'has no meaning in a feed of kind consents, expected name: it orders files found together',
  ],
  [['files', 'full'], `found full files in a feed of kind consents, ${delta}`],
]

/** How the parts of a feed of kind consents fit together. */
export function checkConsentFeed(
  document: ConfigDocument,
  path: ConfigPath,
  knowledge: FieldKnowledge,
): void {
  checkSource(document, path)
  for (const [keys, message] of unfit) {
    const at = [...path, ...keys]
    if (document.at(at) !== undefined) document.addProblem(at, message, 'key')
  }
  if (document.at([...path, 'mode']) === 'full') {
    document.addProblem([...path, 'mode'], `found full in a feed of kind consents, ${delta}`)
  }
  checkFields(document, [...path, 'fields'], knowledge)
}

function checkFields(document: ConfigDocument, path: ConfigPath, knowledge: FieldKnowledge): void {
  const fields = namesAt(document, path)
  for (const field of fields) {
    if (consentFields.some((name) => name === field)) {
      checkRule(document, [...path, field], knowledge)
      continue
    }
    const message = `is no field of a consent${suggestion(field, consentFields)}`
    document.addProblem([...path, field], message, 'key')
  }
  if (fields.length === 0) return
  for (const field of consentFields) {
    // A misspelt one is reported above.
    if (fields.some((name) => suggestWord(name, consentFields) === field)) continue
    const what = field === 'email' ? 'the column that holds the address' : 'the column that holds the consent'
    document.addProblem([...path, field], `is missing, expected ${what}`)
  }
}

function checkRule(document: ConfigDocument, path: ConfigPath, knowledge: FieldKnowledge): void {
  const rule = soundPart(document, path, fieldRuleSchema)
  if (rule === undefined) return
  const field = String(path.at(-1))
  const problems = [...ruleProblems(rule), ...consentRuleProblems(field, rule)]
  for (const problem of problems) document.addProblem([...path, ...problem.path], problem.message)
  if (problems.length > 0) return
  for (const message of knowledge.checkConsentRule?.(field, normalizeRule(rule)) ?? [])
    document.addProblem(path, message)
}

/** Parts of a rule that mean something for an address or a yes or no. */
const ownParts = 'column value template pattern result when otherwise default trim'.split(' ')

/** What is wrong with how a field of a consent is computed: the part of the rule, and why. */
function consentRuleProblems(field: string, rule: FieldRuleInput): { path: string[]; message: string }[] {
  if (typeof rule === 'string') return []
  const foreign = Object.entries(rule)
    .filter(([part, value]) => value !== undefined && !ownParts.includes(part))
    .map(([part]) => ({
      path: [part],
      message: 'has no effect in a feed of consents, expected it to be left out',
    }))
  if (field === 'email' && rule.value !== undefined)
    foreign.push({ path: ['value'], message: 'would be one customer, expected the column of the address' })
  return foreign
}
