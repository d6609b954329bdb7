import { isEmailAddress } from '../api/contract/values.ts'
import type { FeedConfig } from '../config/model.ts'
import type { FieldRule } from '../config/rule-model.ts'
import { ConfigError } from '../lib/errors.ts'
import type { ParsedRecord, RecordIssue } from '../records/model.ts'
import { closestName } from './closest-name.ts'
import { type Columns, type CompiledRule, type Compute, columnsOf } from './compiled-rule.ts'
import { openNotes, Problem } from './problem.ts'
import { compileSteps } from './steps.ts'
import { textOf } from './text-of.ts'

export type ConsentField = 'email' | 'consent'

/** What one record says. */
export interface ConsentStatement {
  /** As it is written, without surrounding blanks. */
  email: string
  consent: boolean
}

/** How the records of one feed become consents. */
export interface ConsentMapping {
  readonly neededColumns: readonly string[]
  /** To the columns of one file; without one of the two fields a file says nothing. */
  bind(columns: readonly string[]): ConsentBinding
}

export type ConsentBinding =
  | { kind: 'bound'; bound: BoundConsents }
  | { kind: 'missing-columns'; missingColumns: readonly { column: string; field: ConsentField }[] }

export interface BoundConsents {
  /** For the pass that only needs ids, which are the addresses in lower case. */
  readonly idReader: {
    readonly indices: readonly number[]
    read(cells: readonly unknown[]): string | undefined
  }
  /** No issue shows an address. `id` is there where the address could be read. */
  map(record: ParsedRecord): {
    id: string | undefined
    statement: ConsentStatement | undefined
    issues: readonly RecordIssue[]
  }
}

const fields: readonly ConsentField[] = ['email', 'consent']
const coercers = { email: coerceEmail, consent: coerceConsent }
const locale = { decimal: '.', thousands: undefined } as const

/** Throws a ConfigError that names everything wrong with the feed's rules, whatever its files hold. */
export function compileConsentMapping(feed: FeedConfig): ConsentMapping {
  const isImplicit = Object.keys(feed.fields).length === 0
  const problems: string[] = []
  const compiled = fields.map((field) => {
    const rule = isImplicit ? ownColumn(field) : feed.fields[field]
    if (rule === undefined) problems.push(`fields do not map ${field}`)
    return rule && compileField(field, rule, problems)
  })
  const [email, consent] = compiled
  if (!email || !consent) {
    throw new ConfigError('mapping', `feed ${feed.name}: ${problems.join('; ')}`, {
      hint: 'Correct fields in the configuration',
    })
  }
  const rules = { email, consent }
  return {
    neededColumns: [...new Set([...email.columns, ...consent.columns])],
    bind: (columns) => bindColumns(columns, rules),
  }
}

/** What is wrong with one rule whatever a file holds; empty when nothing is. */
export function checkConsentRule(field: string, rule: FieldRule): string[] {
  const known = fields.find((name) => name === field)
  if (known === undefined) return [`${field} is no field of a consent, which has ${fields.join(' and ')}`]
  const problems: string[] = []
  compileField(known, rule, problems)
  return problems
}

function ownColumn(field: ConsentField): FieldRule {
  return { from: { kind: 'columns', columns: [field] } }
}

function compileField(field: ConsentField, rule: FieldRule, problems: string[]): CompiledRule | undefined {
  const describe = field === 'email' ? () => 'a value (not shown)' : describeCell
  return compileSteps(rule, {
    options: { locale, secret: true, describe },
    shape: 'scalar',
    coerce: coercers[field],
    problems,
  })
}

type Rules = Readonly<Record<ConsentField, CompiledRule>>

function bindColumns(columns: readonly string[], rules: Rules): ConsentBinding {
  const places = columnsOf(columns)
  const missingColumns = fields.flatMap((field) => missingIn(field, rules, places))
  if (missingColumns.length > 0) return { kind: 'missing-columns', missingColumns }
  return { kind: 'bound', bound: bindRules(rules, places) }
}

function missingIn(field: ConsentField, rules: Rules, columns: Columns) {
  return rules[field].missing(columns).map((column) => {
    const suggestion = closestName(column, columns.names)
    // A header with an address in it is a record of a file without a header.
    const isShown = suggestion !== undefined && !suggestion.includes('@')
    return isShown ? { column, field, suggestion } : { column, field }
  })
}

function bindRules({ email, consent }: Rules, columns: Columns): BoundConsents {
  const present = email.columns.filter((column) => columns.placeOf(column) !== undefined)
  // The id reader is given only the cells of the address, so there the columns have other places.
  const readEmail = email.bind(columnsOf(present))
  const computes = { email: email.bind(columns), consent: consent.bind(columns) }
  return {
    idReader: {
      indices: present.map((column) => columns.placeOf(column) ?? 0),
      read: (cells) => {
        const address = readEmail(cells, openNotes(undefined, 0))
        return typeof address === 'string' ? foldEmail(address) : undefined
      },
    },
    map: (record) => mapRecord(record, computes),
  }
}

function mapRecord(record: ParsedRecord, computes: Readonly<Record<ConsentField, Compute>>) {
  const notes = openNotes(record, 0)
  const email = computes.email(record.cells, notes)
  const consent = computes.consent(record.cells, notes)
  const id = typeof email === 'string' ? foldEmail(email) : undefined
  if (typeof email === 'string' && typeof consent === 'boolean') {
    return { id, statement: { email, consent }, issues: [] }
  }
  const issues: RecordIssue[] = []
  for (const [field, value, expected] of [
    ['email', email, 'an e-mail address'],
    ['consent', consent, 'true or false'],
  ] as const) {
    const issue = issueOf({ record, field, value, expected })
    if (issue) issues.push(issue)
  }
  return { id, statement: undefined, issues }
}

interface Found {
  record: ParsedRecord
  field: ConsentField
  value: unknown
  expected: string
}

function issueOf({ record: { record, line }, field, value, expected }: Found): RecordIssue | undefined {
  const place = { record, line, field, severity: 'reject' } as const
  if (value instanceof Problem)
    return { ...place, code: value.code, message: `${field}: ${value.text}`, remedy: value.remedy }
  if (typeof value === 'string' || typeof value === 'boolean') return undefined
  const remedy = 'give it a value'
  const message = `${field}: found nothing, expected ${expected}; ${remedy}`
  return { ...place, code: 'required-empty', message, remedy }
}

/**
 * Words that files write for the two states, in any case, with a blank, hyphen or underscore between their parts or
 * none. Only words that mean the same everywhere: a file that writes "A" and "N" needs `when`.
 */
const grants = words('true t yes y 1 on optin optedin subscribe subscribed grant granted')
const revocations = words('false f no n 0 off optout optedout unsubscribe unsubscribed revoke revoked')

const shownCharactersMax = 20

/** A permission; empty cells never get here. */
export function coerceConsent(value: unknown): boolean | Problem {
  const text = textOf(value)
  // Only between letters: -1 is no 1.
  const word = text
    ?.trim()
    .toLowerCase()
    .replaceAll(/(?<=[a-z])[ _-](?=[a-z])/g, '')
  if (word !== undefined && grants.has(word)) return true
  if (word !== undefined && revocations.has(word)) return false
  const found = `found ${describeCell(value)}, expected true or false, yes or no, 1 or 0`
  return new Problem('not-a-consent', { found, remedy: 'correct it, or translate the word with when' })
}

/** An address as it is written, without what surrounds it. Problems never show it. */
function coerceEmail(value: unknown): string | Problem {
  const text = textOf(value)?.trim()
  if (text !== undefined && isEmailAddress(text)) return text
  return new Problem('not-an-email', {
    found: 'found a text (not shown) that is no e-mail address',
    remedy: 'give one address, without blanks or a name around it',
  })
}

/** Under which different spellings of an address are one. */
function foldEmail(email: string): string {
  return email.trim().toLowerCase()
}

/** Only what looks like a word: any other cell of such a file may tell who somebody is. */
function describeCell(value: unknown): string {
  const text = textOf(value)
  const isWord = text !== undefined && text.length <= shownCharactersMax && /^[\p{L}\p{N} _-]*$/u.test(text)
  return isWord ? `the text ${JSON.stringify(text)}` : 'a value (not shown)'
}

function words(list: string): ReadonlySet<string> {
  return new Set(list.split(' '))
}
