import { isMap, isSeq, type Node } from 'yaml'
import { type KindRules, kindRules } from './kinds.ts'
import type { DesiredItem, StackKind, StackProblem } from './model.ts'
import { type Entry, openText, parseEntry } from './parse-entry.ts'

export interface ParsedFile {
  items: DesiredItem[]
  problems: StackProblem[]
}

/** The items that a file wants. `file` is how messages name it. What the contract says of them is checked later. */
export function parseFile(kind: StackKind, source: { file: string; text: string }): ParsedFile {
  const rules = kindRules[kind]
  const opened = openText(source)
  if (Array.isArray(opened)) return { items: [], problems: opened }
  const root = opened.document.contents
  if (!isSeq<Node>(root)) {
    const found = root === null ? 'nothing' : isMap(root) ? 'a mapping' : 'a single value'
    const message = `found ${found}, expected a list of ${rules.word}s; write [] when there is none`
    return { items: [], problems: [{ place: opened.placeOf(root) ?? opened.start, message }] }
  }
  const parsed: ParsedFile = { items: [], problems: [] }
  for (const node of root.items) {
    const entry = parseEntry(rules, opened, node)
    const item = 'message' in entry ? entry : nameItem(rules, entry)
    if ('message' in item) parsed.problems.push(item)
    else parsed.items.push(item)
  }
  return parsed
}

function nameItem({ kind, nameField, word }: KindRules, entry: Entry): DesiredItem | StackProblem {
  const name = entry.fields[nameField]
  if (typeof name === 'string' && name !== '') {
    if (kind !== 'users') return { ...entry, name, namedBy: 'name' }
    const { [nameField]: _, ...fields } = entry.fields
    return { ...entry, name, namedBy: 'name', fields }
  }
  const { email } = entry.fields
  if (kind === 'users' && name === undefined && typeof email === 'string' && email !== '') {
    return { ...entry, name: email, namedBy: 'email' }
  }
  const needed = kind === 'users' ? 'username (or else email)' : nameField
  const found = name === undefined || name === '' || name === null ? 'none' : 'one that is no text'
  return {
    place: entry.places.get(nameField) ?? entry.place,
    message: `${needed}: found ${found}, expected the name of the ${word}`,
  }
}
