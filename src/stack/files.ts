import { mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { isMap, isSeq, type Node, stringify } from 'yaml'
import { ConfigError, systemErrorCode } from '../lib/errors.ts'
import { type KindRules, kindRules } from './kinds.ts'
import {
  type DesiredItem,
  type ExistingItem,
  type Fields,
  type StackItems,
  type StackKind,
  type StackProblem,
  stackKinds,
} from './model.ts'
import { type Entry, openText, parseEntry } from './parse-entry.ts'

/** Far above the files of any Stack. */
const fileBytesMax = 64_000_000

export interface StackFiles {
  /** A kind whose file is absent is absent here. */
  desired: StackItems<DesiredItem>
  problems: StackProblem[]
  /** YAML files of other names, which nobody reads. */
  ignored: string[]
}

/** What the files of a folder want. Throws a ConfigError when there are none. */
export async function readStackFiles(dir: string): Promise<StackFiles> {
  const names = await listFolder(dir)
  const desired: Partial<Record<StackKind, DesiredItem[]>> = {}
  const problems: StackProblem[] = []
  for (const kind of stackKinds) {
    if (!names.includes(kindRules[kind].file)) continue
    const file = join(dir, kindRules[kind].file)
    const parsed = parseFile(kind, { file, text: await readText(file) })
    desired[kind] = parsed.items
    problems.push(...parsed.problems)
  }
  const known = stackKinds.map((kind) => kindRules[kind].file)
  if (Object.keys(desired).length === 0) {
    throw new ConfigError('stack-files', `${dir} holds none of ${known.join(', ')}`, {
      hint: 'Run "catalogd stack pull" to write them, or name their folder with --dir',
    })
  }
  const ignored = names.filter((name) => /\.ya?ml$/i.test(name) && !known.includes(name))
  return { desired, problems, ignored }
}

export interface WrittenFile {
  kind: StackKind
  file: string
  items: number
  changed: boolean
}

/** Writes the files of the kinds that are given; each is there whole or as it was before. */
export async function writeStackFiles(dir: string, items: StackItems<ExistingItem>): Promise<WrittenFile[]> {
  await mkdir(dir, { recursive: true })
  const written: WrittenFile[] = []
  for (const kind of stackKinds) {
    const existing = items[kind]
    if (existing === undefined) continue
    const file = join(dir, kindRules[kind].file)
    const text = formatFile(kind, existing)
    const before = await readFile(file, 'utf8').catch(() => undefined)
    const named = existing.filter(({ name }) => name !== '').length
    if (before !== text) {
      await writeFile(`${file}.new`, text)
      await rename(`${file}.new`, file)
    }
    written.push({ kind, file, items: named, changed: before !== text })
  }
  return written
}

async function listFolder(dir: string): Promise<string[]> {
  try {
    return await readdir(dir)
  } catch (cause) {
    const code = systemErrorCode(cause)
    if (code !== 'ENOENT' && code !== 'ENOTDIR') throw cause
    const found = code === 'ENOENT' ? 'does not exist' : 'is no folder'
    throw new ConfigError('stack-files', `${dir} ${found}`, {
      hint: 'Run "catalogd stack pull" to write the files, or name their folder with --dir',
      cause,
    })
  }
}

async function readText(file: string): Promise<string> {
  const bytes = await readFile(file)
  if (bytes.length > fileBytesMax) {
    throw new ConfigError(
      'stack-files',
      `${file} has ${bytes.length} bytes, at most ${fileBytesMax} are read`,
      {
        hint: 'Name a folder with the files of a Stack',
      },
    )
  }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch (cause) {
    throw new ConfigError('stack-files', `${file} is not UTF-8`, { hint: 'Save it as UTF-8', cause })
  }
}

interface ParsedFile {
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

/** What the head of a file says of it. */
const heads: Readonly<Record<StackKind, readonly string[]>> = {
  rules: [
    'Automation rules of the Stack. A rule is known by its name.',
    'trigger: conditions under $or, one of which must hold. action: what is done then. enabled: 1 or 0.',
  ],
  views: [
    'Moderation views of the Stack. A view is known by its view_name.',
    'filter_value_tags and filter_value_terms hold ids of this Stack; another one has others.',
  ],
  terms: [
    'Terms of the Stack: what is taken in from which network. A term is known by its name.',
    'type, network and num_of_backfill are fixed: when one differs, the term is deleted and created again.',
  ],
  users: [
    'Users of the Stack, with their e-mail addresses. A user is known by the username, without one by the e-mail.',
    'Users are neither created nor deleted from here. acl_groups: 1 Admin, 2 Moderator, 3 Developer.',
  ],
}

const commonHead = [
  'Written by "catalogd stack pull", which writes it anew each time; yours to edit between.',
  'A field that is left out stays as it is, an empty one ("" or []) is emptied.',
  'See "catalogd stack plan", then "catalogd stack apply".',
]

/** The file that a plan finds nothing to do for. Ordered by name, so that two of them can be compared. */
export function formatFile(kind: StackKind, items: readonly ExistingItem[]): string {
  const head = [...heads[kind], ...commonHead].map((line) => `# ${line}\n`).join('')
  const entries = items
    .filter(({ name }) => name !== '')
    .toSorted((one, other) => compareNames(one.name, other.name))
    .map(({ fields }) => formatEntry(ordered(kind, fields)))
  return `${head}\n${entries.length === 0 ? '[]\n' : entries.join('')}`
}

function formatEntry(fields: Fields): string {
  const text = stringify([fields], { lineWidth: 0, aliasDuplicateObjects: false })
  // An empty line between two items, but none that would become the end of a text.
  return /[|>]\d?\+\d?$/m.test(text) ? text : `${text}\n`
}

/** The same order everywhere, whatever the language of the machine. */
export function compareNames(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0
}

function ordered(kind: StackKind, fields: Fields): Fields {
  const names = kindRules[kind].fields.filter((field) => fields[field] !== undefined)
  return Object.fromEntries(names.map((field) => [field, fields[field]]))
}
