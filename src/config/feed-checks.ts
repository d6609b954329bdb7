import type { ConfigDocument } from './document.ts'
import { normalizeRule } from './field-rules.ts'
import { type FieldRuleInput, fieldRuleSchema } from './field-schema.ts'
import type { FormatConfig } from './format-model.ts'
import { checkGroup } from './group-schema.ts'
import { checkFieldNames, type FieldKnowledge, namesAt, soundPart } from './parts.ts'
import { patternsOverlap } from './pattern-overlap.ts'
import { type ConfigPath, suggestion, suggestWord } from './problems.ts'
import { checkPull } from './pull-checks.ts'
import type { FieldRule } from './rule-model.ts'
import { type RuleProblem, ruleProblems } from './rule-problems.ts'
import { checkSafety } from './safety-checks.ts'
import { feedShape } from './schema.ts'

export function checkFeed(document: ConfigDocument, path: ConfigPath, knowledge: FieldKnowledge): void {
  checkSource(document, path)
  const key = checkKey(document, [...path, 'key'], knowledge)
  checkProductFields(document, [...path, 'fields'], { ...knowledge, key })
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

function checkProductFields(
  document: ConfigDocument,
  path: ConfigPath,
  { productFields, key, checkRule: check = () => [] }: FieldKnowledge & { key: string | undefined },
): void {
  const id = { product_id: 'the column that holds the id of the product' }
  checkFields(document, path, {
    known: key === undefined || !productFields ? productFields : [...new Set([...productFields, key])],
    noun: 'product field',
    needed: key === undefined ? id : {},
    // A key is computed as an id is, and called by its own name.
    checkRule: (field, rule) =>
      field === key
        ? check('product_id', rule).map((message) => message.replaceAll('product_id', key))
        : check(field, rule),
  })
  if (key !== undefined) checkKeyRule(document, path, key)
}

/** What the records of a feed can say. */
interface FieldChecks {
  /** Undefined: names are not checked. */
  known: readonly string[] | undefined
  /** `is no … field`. */
  noun: string
  /** What is expected where one of these is not mapped, though others are. */
  needed: Readonly<Record<string, string>>
  /** What is wrong with the parts of a rule for this field, besides what is wrong for all. */
  partProblems?: (field: string, rule: FieldRuleInput) => RuleProblem[]
  /** What is wrong with the rule as a whole, one sentence each. */
  checkRule: (field: string, rule: FieldRule) => string[]
}

/** Without any mapping the columns map themselves. */
export function checkFields(document: ConfigDocument, path: ConfigPath, checks: FieldChecks): void {
  const { known, noun, needed } = checks
  const fields = namesAt(document, path)
  for (const field of fields) {
    if (known === undefined || known.includes(field)) checkRule(document, [...path, field], checks)
    else document.addProblem([...path, field], `is no ${noun}${suggestion(field, known)}`, 'key')
  }
  for (const [field, expected] of fields.length > 0 ? Object.entries(needed) : []) {
    // A misspelt one is reported above.
    const isMapped = fields.some((name) => name === field || suggestWord(name, known ?? []) === field)
    if (!isMapped) document.addProblem([...path, field], `is missing, expected ${expected}`)
  }
}

function checkRule(document: ConfigDocument, path: ConfigPath, checks: FieldChecks): void {
  const rule = soundPart(document, path, fieldRuleSchema)
  if (rule === undefined) return
  const field = String(path.at(-1))
  const problems = [...ruleProblems(rule), ...(checks.partProblems?.(field, rule) ?? [])]
  for (const problem of problems) document.addProblem([...path, ...problem.path], problem.message)
  if (problems.length > 0) return
  for (const message of checks.checkRule(field, normalizeRule(rule))) document.addProblem(path, message)
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

/** The key of a feed, where it is sound; `path` is that of the key. */
function checkKey(document: ConfigDocument, path: ConfigPath, knowledge: FieldKnowledge): string | undefined {
  const key = soundPart(document, path, feedShape.key)
  if (key === undefined) return undefined
  const problem = knowledge.keyProblem?.(key)
  if (problem !== undefined) document.addProblem(path, `found "${key}", which ${problem}`)
  return problem === undefined ? key : undefined
}

/** Key and id at once would contradict each other wherever they name different products. */
function checkKeyRule(document: ConfigDocument, path: ConfigPath, key: string): void {
  const fields = namesAt(document, path)
  if (!fields.includes(key)) {
    document.addProblem([...path, key], `is missing, expected the column that holds ${key} of the product`)
  }
  if (!fields.includes('product_id')) return
  document.addProblem([...path, 'product_id'], 'found beside key, expected one of them', 'key')
}

type FormatKey = 'path' | 'header' | 'delimiter' | 'quote' | 'encoding' | 'sheet' | 'members'

/** What says nothing about files of a type. */
const foreign: Readonly<Record<NonNullable<FormatConfig['type']>, readonly FormatKey[]>> = {
  csv: ['path', 'sheet'],
  tsv: ['path', 'delimiter', 'sheet'],
  ndjson: ['path', 'header', 'delimiter', 'quote', 'sheet'],
  json: ['header', 'delimiter', 'quote', 'sheet'],
  xml: ['header', 'delimiter', 'quote', 'sheet'],
  xlsx: ['path', 'delimiter', 'quote', 'encoding', 'members'],
}

export function checkFormat(document: ConfigDocument, path: ConfigPath): void {
  const format = soundPart(document, path, feedShape.format)
  if (format === undefined) return
  if (format.type !== undefined) checkForeign(document, path, format)
  checkPath(document, path, format)
  const { header } = format
  if (!Array.isArray(header)) return
  for (const [index, name] of header.entries()) {
    if (header.indexOf(name) === index) continue
    document.addProblem([...path, 'header', index], `found "${name}" a second time, expected another name`)
  }
}

function checkForeign(
  document: ConfigDocument,
  path: ConfigPath,
  format: { type?: FormatConfig['type'] } & { [key in FormatKey]?: unknown },
): void {
  for (const key of format.type === undefined ? [] : foreign[format.type]) {
    if (format[key] === undefined) continue
    const message = `has no effect with type ${format.type}, expected it to be left out`
    document.addProblem([...path, key], message, 'key')
  }
}

/** The two kinds of path are written differently. */
function checkPath(
  document: ConfigDocument,
  path: ConfigPath,
  { type, path: way }: { type?: FormatConfig['type']; path?: string | undefined },
): void {
  if (way === undefined) return
  const found = `found ${JSON.stringify(way)}`
  if (type === 'xml' && way === '') {
    document.addProblem([...path, 'path'], `${found}, expected the elements from the root to the record`)
  }
  if (type === 'json' && way.includes('/')) {
    document.addProblem([...path, 'path'], `${found}, expected keys with dots between, such as data.products`)
  }
}
