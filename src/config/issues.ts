import type { z } from 'zod'
import { isSecretName, redactedText, redactText } from '../lib/redact.ts'
import type { ConfigDocument } from './document.ts'
import { type ConfigPath, formatPath, suggestion, suggestWord } from './problems.ts'

type Issue = z.core.$ZodIssue

/** Turns what the schema found into problems with place, value found, and what is expected. */
export function explainIssues(document: ConfigDocument, issues: readonly Issue[]): void {
  const flat = issues.flatMap((issue) => flatten(issue, []))
  const meant = misspeltKeys(flat)
  for (const issue of flat) {
    // A value that lacks its variable is reported as that, and a missing key that is only misspelt, once.
    if (document.unsetAt(issue.path).length > 0 || meant.has(formatPath(issue.path))) continue
    explain(document, issue)
  }
}

type FlatIssue = Issue & { path: (string | number)[] }

/**
 * Of a union, the alternative that was meant is the one whose kind fits: a mapping that is wrong inside is explained
 * by its inside. When no kind fits, the union's own sentence names all alternatives.
 */
function flatten(issue: Issue, parent: ConfigPath): FlatIssue[] {
  const path = [...parent, ...(issue.path as (string | number)[])]
  if (issue.code === 'invalid_union') {
    const fitting = issue.errors.filter((alternative) => alternative.every(isInside))
    const [only] = fitting
    if (only !== undefined && fitting.length === 1) return only.flatMap((entry) => flatten(entry, path))
  }
  return [{ ...issue, path }]
}

function isInside(issue: Issue): boolean {
  return issue.path.length > 0 || issue.code === 'unrecognized_keys'
}

/** Paths of the keys that unknown keys were probably meant to be. */
function misspeltKeys(issues: readonly FlatIssue[]): Set<string> {
  const meant = new Set<string>()
  for (const issue of issues) {
    if (issue.code !== 'unrecognized_keys') continue
    for (const key of issue.keys) {
      const word = suggestWord(key, issue.message.split(' '))
      if (word !== undefined) meant.add(formatPath([...issue.path, word]))
    }
  }
  return meant
}

function explain(document: ConfigDocument, issue: FlatIssue): void {
  if (issue.code === 'unrecognized_keys') {
    for (const key of issue.keys)
      document.addProblem(
        [...issue.path, key],
        `found an unknown key${suggestion(key, issue.message.split(' '))}`,
        'key',
      )
    return
  }
  if (issue.code === 'invalid_key') {
    const expected = issue.issues[0]?.message ?? 'another name'
    document.addProblem(
      issue.path,
      `found the name ${JSON.stringify(issue.path.at(-1))}, expected ${expected}`,
      'key',
    )
    return
  }
  const value = document.at(issue.path)
  const found = value === undefined ? 'is missing' : `found ${describeFound(value, issue.path)}`
  document.addProblem(issue.path, `${found}, expected ${issue.message}`)
}

/** Keys of addresses, and of sections that an address is put in place of. */
const addressKeys: ReadonlySet<string> = new Set([
  'url',
  'redis',
  'alerts',
  'traces',
  'api',
  'stack',
  'intent',
  'pull',
])

/** What stands there, for a message; secrets stay hidden. */
export function describeFound(value: unknown, path: ConfigPath): string {
  if (value === undefined || value === null) return 'nothing'
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'object') return 'a mapping'
  if (typeof value !== 'string')
    return `the ${typeof value} ${isSecretPath(path) ? '(hidden)' : String(value)}`
  if (isSecretPath(path)) return 'a text (hidden)'
  const shown = addressKeys.has(String(path.at(-1))) ? serverIn(value) : redactText(value)
  if (shown === undefined) return 'a text (hidden)'
  return JSON.stringify(shown.length > 80 ? `${shown.slice(0, 80)}…` : shown)
}

/**
 * Of what is meant to be an address, however it was mistyped, only what names a server: paths and queries hold keys.
 * Undefined when it cannot be told which part that is.
 */
function serverIn(text: string): string | undefined {
  const user = /^[^?#]*@/.test(text) ? `${redactedText}@` : ''
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url !== undefined && url.host !== '') {
    const isBare = /^\/?$/.test(url.pathname) && url.search === '' && url.hash === ''
    return `${url.protocol}//${user}${url.host}${isBare ? '' : '/…'}`
  }
  const [start = ''] = text.split(/[/?#\s]/, 1)
  if (user !== '' || !/[.:]/.test(start)) return undefined
  return start === text ? text : `${start}/…`
}

function isSecretPath(path: ConfigPath): boolean {
  return path.some((part) => typeof part === 'string' && isSecretName(part))
}
