import type { Consent } from '../api/contract/consent.ts'
import { isEmailAddress } from '../api/contract/values.ts'
import type { FeedConfig } from '../config/model.ts'
import type { FieldRule } from '../config/rule-model.ts'
import { ConfigError } from '../lib/errors.ts'
import type { IdReader } from '../records/judge-model.ts'
import type { ParsedRecord, RecordIssue } from '../records/model.ts'
import { openAliases } from './aliases.ts'
import type { CompiledRule, Compute } from './compiled-rule.ts'
import { type Binding, implicitRules, type MappedRecord, missingColumn, openIdReader } from './mapping.ts'
import { openNotes, Problem } from './problem.ts'
import { compileSteps } from './steps.ts'
import { textOf } from './text-of.ts'

type ConsentField = 'email' | 'consent'
type ByField<Value> = Readonly<Record<ConsentField, Value>>

/** What one record says; the address as it is written, without surrounding blanks. */
export type ConsentStatement = Consent

/** How the records of one feed become consents. */
export interface ConsentMapping {
  readonly neededColumns: readonly string[]
  /** To the columns of one file; without one of the two fields a file says nothing. */
  bind(columns: readonly string[]): Binding<BoundConsents>
}

export interface BoundConsents {
  /** Ids are the addresses in lower case: different spellings of an address are one. */
  readonly idReader: IdReader
  /** No issue shows an address. `id` is there where the address could be read. */
  map(record: ParsedRecord): MappedRecord<ConsentStatement>
}

const fields: readonly ConsentField[] = ['email', 'consent']
const kinds = {
  email: { coerce: coerceEmail, describe: () => 'a value (not shown)', expected: 'an e-mail address' },
  consent: { coerce: coerceConsent, describe: describeCell, expected: 'true or false' },
}
const locale = { decimal: '.', thousands: undefined } as const

/** Throws a ConfigError that names everything wrong with the feed's rules, whatever its files hold. */
export function compileConsentMapping(feed: FeedConfig): ConsentMapping {
  const given = Object.keys(feed.fields).length === 0 ? implicitRules(fields) : feed.fields
  const problems: string[] = []
  const [email, consent] = fields.map((field) => {
    const rule = given[field]
    if (rule === undefined) problems.push(`fields do not map ${field}`)
    return rule && compileField(field, rule, problems)
  })
  if (!email || !consent) {
    const hint = 'Correct fields in the configuration'
    throw new ConfigError('mapping', `feed ${feed.name}: ${problems.join('; ')}`, { hint })
  }
  return {
    neededColumns: [...new Set([...email.columns, ...consent.columns])],
    bind: (columns) => bindColumns(columns, { email, consent }),
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

function compileField(field: ConsentField, rule: FieldRule, problems: string[]): CompiledRule | undefined {
  const { coerce, describe } = kinds[field]
  const options = { locale, secret: true, describe }
  return compileSteps(rule, { options, shape: 'scalar', coerce, problems })
}

function bindColumns(names: readonly string[], rules: ByField<CompiledRule>): Binding<BoundConsents> {
  const columns = openAliases(names, undefined)
  // A header with an address in it is a record of a file without a header.
  const shown = names.filter((name) => !name.includes('@'))
  const missingColumns = fields.flatMap((field) =>
    rules[field].missing(columns).map((column) => missingColumn(column, field, shown)),
  )
  if (missingColumns.length > 0) return { kind: 'missing-columns', missingColumns }
  const computes = { email: rules.email.bind(columns), consent: rules.consent.bind(columns) }
  const { indices, read } = openIdReader(rules.email, columns)
  const idReader = { indices, read: (cells: readonly unknown[]) => read(cells)?.toLowerCase() }
  return { kind: 'bound', bound: { idReader, map: (record) => mapRecord(record, computes) } }
}

function mapRecord(record: ParsedRecord, computes: ByField<Compute>): MappedRecord<ConsentStatement> {
  const notes = openNotes(record, 0)
  const email = computes.email(record.cells, notes)
  const consent = computes.consent(record.cells, notes)
  const id = typeof email === 'string' ? email.toLowerCase() : undefined
  if (typeof email === 'string' && typeof consent === 'boolean') {
    return { id, item: { email, consent }, issues: [] }
  }
  const issues = [...issuesOf(record, 'email', email), ...issuesOf(record, 'consent', consent)]
  return { id, item: undefined, issues }
}

function issuesOf({ record, line }: ParsedRecord, field: ConsentField, value: unknown): RecordIssue[] {
  if (typeof value === 'string' || typeof value === 'boolean') return []
  const words = { found: `found nothing, expected ${kinds[field].expected}`, remedy: 'give it a value' }
  const { code, text, remedy } = value instanceof Problem ? value : new Problem('required-empty', words)
  return [{ record, line, field, code, message: `${field}: ${text}`, remedy, severity: 'reject' }]
}

/**
 * Words that files write for the two states, in any case, with a blank, hyphen or underscore between their parts or
 * none. Only words that mean the same everywhere: a file that writes "A" and "N" needs `when`.
 */
const grants = 'true t yes y 1 on optin optedin subscribe subscribed grant granted'.split(' ')
const revocations = 'false f no n 0 off optout optedout unsubscribe unsubscribed revoke revoked'.split(' ')

const shownCharactersMax = 20

/** A permission; empty cells never get here. */
export function coerceConsent(value: unknown): boolean | Problem {
  const text = textOf(value)?.trim().toLowerCase() ?? ''
  // Only between letters: -1 is no 1.
  const word = text.replaceAll(/(?<=[a-z])[ _-](?=[a-z])/g, '')
  if (grants.includes(word)) return true
  if (revocations.includes(word)) return false
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

/** Only what looks like a word: any other cell of such a file may tell who somebody is. */
function describeCell(value: unknown): string {
  const text = textOf(value)
  const isWord = text !== undefined && text.length <= shownCharactersMax && /^[\p{L}\p{N} _-]*$/u.test(text)
  return isWord ? `the text ${JSON.stringify(text)}` : 'a value (not shown)'
}
