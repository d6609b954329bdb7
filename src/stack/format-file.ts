import { stringify } from 'yaml'
import { kindRules } from './kinds.ts'
import type { ExistingItem, Fields, StackKind } from './model.ts'

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
