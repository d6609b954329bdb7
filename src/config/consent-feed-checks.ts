import { consentFields, consentRuleProblems } from './consent-fields.ts'
import type { ConfigDocument } from './document.ts'
import { checkSource } from './feed-checks.ts'
import { normalizeRule } from './field-rules.ts'
import { fieldRuleSchema } from './field-schema.ts'
import { type FieldKnowledge, isMapping, namesAt, soundPart } from './parts.ts'
import { type ConfigPath, suggestion, suggestWord } from './problems.ts'
import { ruleProblems } from './rule-problems.ts'

/** Keys that speak of products: a consent that a file does not name stays as it is. */
const productKeys = ['key', 'owns', 'missing', 'changes', 'group', 'transform', 'aliases'] as const

/** How the parts of a feed of kind consents fit together. */
export function checkConsentFeed(
  document: ConfigDocument,
  path: ConfigPath,
  knowledge: FieldKnowledge,
): void {
  checkSource(document, path)
  for (const key of productKeys) {
    if (document.at([...path, key]) === undefined) continue
    document.addProblem(
      [...path, key],
      'has no meaning in a feed of kind consents, expected it to be left out',
      'key',
    )
  }
  if (document.at([...path, 'asOf', 'column']) !== undefined) {
    const message = 'has no meaning in a feed of kind consents, expected name: it orders files found together'
    document.addProblem([...path, 'asOf', 'column'], message, 'key')
  }
  const delta = 'expected delta or nothing: a consent that a file does not name stays as it is'
  if (document.at([...path, 'mode']) === 'full') {
    document.addProblem([...path, 'mode'], `found full in a feed of kind consents, ${delta}`)
  }
  const files = document.at([...path, 'files'])
  if (isMapping(files) && files.full !== undefined) {
    const message = `found full files in a feed of kind consents, ${delta}`
    document.addProblem([...path, 'files', 'full'], message, 'key')
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
  const problems = [
    ...ruleProblems(rule),
    ...consentRuleProblems(field, rule).map(({ part, message }) => ({ path: [part], message })),
  ]
  for (const problem of problems) document.addProblem([...path, ...problem.path], problem.message)
  if (problems.length > 0) return
  for (const message of knowledge.checkConsentRule?.(field, normalizeRule(rule)) ?? [])
    document.addProblem(path, message)
}
