import type { ConfigDocument } from './document.ts'
import { normalizeRule } from './field-rules.ts'
import { fieldRuleSchema } from './field-schema.ts'
import { checkFormat } from './format-checks.ts'
import { checkGroup } from './group-schema.ts'
import { checkKey, checkKeyRule } from './key-checks.ts'
import { checkFieldNames, type FieldKnowledge, namesAt, soundPart } from './parts.ts'
import { patternsOverlap } from './pattern-overlap.ts'
import { type ConfigPath, suggestion, suggestWord } from './problems.ts'
import { checkPull } from './pull-checks.ts'
import { ruleProblems } from './rule-problems.ts'
import { checkSafety } from './safety-checks.ts'
import { feedShape } from './schema.ts'

/** How the parts of one feed fit together. */
export function checkFeed(document: ConfigDocument, path: ConfigPath, knowledge: FieldKnowledge): void {
  checkSource(document, path)
  const key = checkKey(document, [...path, 'key'], knowledge)
  checkFields(document, [...path, 'fields'], { ...knowledge, key })
  checkGroup(document, [...path, 'group'], knowledge.checkGroup ?? (() => []))
  checkFieldNames(document, [...path, 'owns'], knowledge)
  checkOwned(document, path)
}

/** What feeds of both kinds have in common: which files, when they are complete, how they are read. */
export function checkSource(document: ConfigDocument, path: ConfigPath): void {
  checkPull(document, path)
  checkFiles(document, path)
  checkFormat(document, [...path, 'format'])
  checkSafety(document, path)
  if (document.at([...path, 'settle']) !== undefined && document.at([...path, 'done']) !== undefined) {
    document.addProblem([...path, 'done'], 'found beside settle, expected one of them', 'key')
  }
}

function checkFiles(document: ConfigDocument, path: ConfigPath): void {
  const files = soundPart(document, [...path, 'files'], feedShape.files)
  if (files === undefined || typeof files === 'string') return
  const filesPath = [...path, 'files']
  if (files.full === undefined && files.delta === undefined) {
    document.addProblem(filesPath, 'found neither full nor delta, expected a pattern for at least one')
  }
  if (files.full !== undefined && files.delta !== undefined && patternsOverlap(files.full, files.delta)) {
    const found = `found "${files.delta}" beside "${files.full}"`
    document.addProblem([...filesPath, 'delta'], `${found}, expected patterns that no name can both match`)
  }
  if (document.at([...path, 'mode']) !== undefined) {
    document.addProblem([...path, 'mode'], 'found beside files by mode, expected one of them', 'key')
  }
}

interface FieldsKnowledge extends FieldKnowledge {
  /** The field by which records name products. */
  key: string | undefined
}

function checkFields(document: ConfigDocument, path: ConfigPath, knowledge: FieldsKnowledge): void {
  const fields = namesAt(document, path)
  for (const field of fields) {
    const rulePath = [...path, field]
    const known = knowledge.productFields
    if (field === knowledge.key) {
      checkRule(document, rulePath, { knowledge, field: 'product_id' })
      continue
    }
    if (known !== undefined && !known.includes(field)) {
      document.addProblem(rulePath, `is no product field${suggestion(field, known)}`, 'key')
      continue
    }
    checkRule(document, rulePath, { knowledge, field })
  }
  if (knowledge.key !== undefined) {
    checkKeyRule(document, path, knowledge.key)
    return
  }
  // Without any mapping the columns map themselves, the id too; a misspelt product_id is reported above.
  const isMapped = fields.some((field) => suggestWord(field, knowledge.productFields ?? []) === 'product_id')
  if (fields.length > 0 && !fields.includes('product_id') && !isMapped) {
    document.addProblem(
      [...path, 'product_id'],
      'is missing, expected the column that holds the id of the product',
    )
  }
}

interface RuleKnowledge {
  knowledge: FieldKnowledge
  field: string
}

function checkRule(document: ConfigDocument, path: ConfigPath, { knowledge, field }: RuleKnowledge): void {
  const rule = soundPart(document, path, fieldRuleSchema)
  if (rule === undefined) return
  const problems = ruleProblems(rule)
  for (const problem of problems) document.addProblem([...path, ...problem.path], problem.message)
  if (problems.length > 0) return
  // A key is computed as an id is, and called by its own name.
  for (const message of knowledge.checkRule?.(field, normalizeRule(rule)) ?? [])
    document.addProblem(path, message.replaceAll(field, String(path.at(-1))))
}

/** A feed can only own what it can write. */
function checkOwned(document: ConfigDocument, path: ConfigPath): void {
  const fields = namesAt(document, [...path, 'fields'])
  if (fields.length === 0) return
  for (const [index, field] of (soundPart(document, [...path, 'owns'], feedShape.owns) ?? []).entries()) {
    const isKey = field === document.at([...path, 'key'])
    if (fields.includes(field) && !isKey) continue
    const why = isKey
      ? 'is its key: that only finds products'
      : `this feed does not map${suggestion(field, fields)}`
    const message = `found "${field}", which ${why}`
    document.addProblem([...path, 'owns', index], message)
  }
}
