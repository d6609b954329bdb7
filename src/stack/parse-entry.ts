import {
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  type Pair,
  parseDocument,
} from 'yaml'
import { kindOf } from '../api/contract/fields.ts'
import { isObject } from '../api/contract/json-value.ts'
import { inWireForm } from '../api/contract/wire-form.ts'
import { emptyValueOf, fieldSchemaOf, type KindRules } from './kinds.ts'
import type { Fields, Place, StackProblem } from './model.ts'

/** Text of YAML or JSON, parsed, with the places of its nodes. */
export interface OpenedText {
  document: Document.Parsed
  start: Place
  placeOf(node: Node | null | undefined): Place | undefined
}

/** The fields of one item as a text has them, in the contract's form. */
export interface Entry {
  fields: Fields
  place: Place
  places: ReadonlyMap<string, Place>
}

/** `file` is how messages name it. */
export function openText({ file, text }: { file: string; text: string }): OpenedText | StackProblem[] {
  const lines = new LineCounter()
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false })
  const placeAt = (offset: number): Place => {
    const { line, col } = lines.linePos(offset)
    return { file, line: Math.max(1, line), column: Math.max(1, col) }
  }
  const faults = [...document.errors, ...document.warnings]
  if (faults.length > 0) {
    return faults.map(({ pos, code, message }) => ({
      place: placeAt(pos[0]),
      message: describeYamlError(code, message),
    }))
  }
  return {
    document,
    start: placeAt(0),
    placeOf: (node) => (node?.range ? placeAt(node.range[0]) : undefined),
  }
}

export function parseEntry(rules: KindRules, opened: OpenedText, node: Node | null): Entry | StackProblem {
  const { document, start, placeOf } = opened
  const place = placeOf(node) ?? start
  const map = isAlias(node) ? node.resolve(document) : node
  if (!isMap<Node, Node | null>(map)) {
    const found = isSeq(map) ? 'a list' : map === null ? 'nothing' : 'a single value'
    return { place, message: `found ${found}, expected a ${rules.word} with its fields` }
  }
  let value: unknown
  try {
    value = map.toJS(document)
  } catch (error) {
    // Aliases of aliases, which would grow without end.
    return { place, message: `not usable YAML: ${error instanceof Error ? error.message : String(error)}` }
  }
  if (!isObject(value)) throw new Error('a mapping became no object')
  const noted: Noted = { places: new Map(), texts: new Map() }
  for (const pair of map.items) notePair(rules, opened, pair, noted)
  // From entries, since an assignment to the key `__proto__` would change the prototype.
  const given = Object.fromEntries([...Object.entries(value), ...noted.texts])
  return { fields: toFieldValues(rules, given), place, places: noted.places }
}

interface Noted {
  places: Map<string, Place>
  texts: Map<string, string>
}

/** Where a field stands, and what is written there when a text looks like a number: `0049` has zeros. */
function notePair(
  rules: KindRules,
  { document, placeOf }: OpenedText,
  { key, value }: Pair<Node, Node | null>,
  { places, texts }: Noted,
): void {
  if (!isScalar(key)) return
  const name = String(key.value)
  const place = placeOf(key)
  if (place !== undefined) places.set(name, place)
  const schema = fieldSchemaOf(rules, name)
  const kind = schema === undefined ? undefined : kindOf(schema)
  const scalar = isAlias(value) ? value.resolve(document) : value
  if (
    (kind === 'text' || kind === 'comma-separated') &&
    isScalar(scalar) &&
    typeof scalar.value === 'number'
  ) {
    texts.set(name, scalar.source ?? String(scalar.value))
  }
}

function describeYamlError(code: string, message: string): string {
  if (code === 'DUPLICATE_KEY') return 'found the same field twice, expected it once'
  if (code === 'MULTIPLE_DOCS') return 'found a second document after ---, expected one list'
  if (code === 'TAB_AS_INDENT') return 'found a tab, expected spaces for indentation'
  return `not valid YAML: ${message}`
}

/**
 * What a person gives for fields, in the contract's form where it can be brought into it. Null and an empty text empty a
 * field; where the contract has no empty value they stay, for the check to name.
 */
export function toFieldValues(rules: KindRules, given: Fields): Fields {
  const empty: [string, unknown][] = []
  const filled: [string, unknown][] = []
  for (const [field, value] of Object.entries(given)) {
    const schema = fieldSchemaOf(rules, field)
    const isEmpty = schema !== undefined && (value === null || value === '')
    if (isEmpty) empty.push([field, emptyValueOf(schema) ?? value])
    else filled.push([field, value])
  }
  const converted = inWireForm(rules.schema, Object.fromEntries(filled)) as Fields
  // From entries, since an assignment to the key `__proto__` would change the prototype.
  return Object.fromEntries([...Object.entries(converted), ...empty])
}
