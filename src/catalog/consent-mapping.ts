import { isEmailAddress } from '../api/contract/values.ts'
import type { FeedConfig } from '../config/model.ts'
import type { FieldRule } from '../config/rule-model.ts'
import { ConfigError } from '../lib/errors.ts'
import type { IdReader } from '../records/judge-model.ts'
import type { ParsedRecord, RecordIssue } from '../records/model.ts'
import { openAliases } from './aliases.ts'
import type { CompiledRule, Compute } from './compiled-rule.ts'
import { readId } from './map-record.ts'
import { type Binding, implicitRules, missingColumn } from './mapping.ts'
import { openNotes, Problem } from './problem.ts'
import { compileSteps } from './steps.ts'
import { textOf } from './text-of.ts'

type ConsentField = 'email' | 'consent'

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
  bind(columns: readonly string[]): Binding<BoundConsents>
}

export interface BoundConsents {
  /** Ids are the addresses in lower case: different spellings of an address are one. */
  readonly idReader: IdReader
  /** No issue shows an address. `id` is there where the address could be read. */
  map(record: ParsedRecord): {
    id: string | undefined
    statement: ConsentStatement | undefined
    issues: readonly RecordIssue[]
  }
}

const fields: readonly ConsentField[] = ['email', 'consent']
const coercers = { email: coerceEmail, consent: coerceConsent }
const expected = { email: 'an e-mail address', consent: 'true or false' }
const locale = { decimal: '.', thousands: undefined } as const

/** Throws a ConfigError that names everything wrong with the feed's rules, whatever its files hold. */
export function compileConsentMapping(feed: FeedConfig): ConsentMapping {
  const given = Object.keys(feed.fields).length === 0 ? implicitRules(fields) : feed.fields
  const problems: string[] = []
  const compile = (field: ConsentField) => {
    const rule = given[field]
    if (rule === undefined) problems.push(`fields do not map ${field}`)
    return rule && compileField(field, rule, problems)
  }
  const [email, consent] = [compile('email'), compile('consent')]
  if (!email || !consent) {
    throw new ConfigError('mapping', `feed ${feed.name}: ${problems.join('; ')}`, {
      hint: 'Correct fields in the configuration',
    })
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
  const describe = field === 'email' ? () => 'a value (not shown)' : describeCell
  const options = { locale, secret: true, describe }
  return compileSteps(rule, { options, shape: 'scalar', coerce: coercers[field], problems })
}

function bindColumns(
  names: readonly string[],
  rules: Readonly<Record<ConsentField, CompiledRule>>,
): Binding<BoundConsents> {
  const columns = openAliases(names, undefined)
  // A header with an address in it is a record of a file without a header.
  const shown = names.filter((name) => !name.includes('@'))
  const missingColumns = fields.flatMap((field) =>
    rules[field].missing(columns).map((column) => missingColumn(column, field, shown)),
  )
  if (missingColumns.length > 0) return { kind: 'missing-columns', missingColumns }
  const computes = { email: rules.email.bind(columns), consent: rules.consent.bind(columns) }
  // The id reader is given only the cells of the address, so there the columns have other places.
  const ofId = columns.pick(rules.email.columns)
  const computeId = rules.email.bind(ofId.columns)
  const read = (cells: readonly unknown[]) => readId(computeId, cells)?.toLowerCase()
  const map = (record: ParsedRecord) => mapRecord(record, computes)
  return { kind: 'bound', bound: { idReader: { indices: ofId.indices, read }, map } }
}

function mapRecord(record: ParsedRecord, computes: Readonly<Record<ConsentField, Compute>>) {
  const notes = openNotes(record, 0)
  const email = computes.email(record.cells, notes)
  const consent = computes.consent(record.cells, notes)
  const id = typeof email === 'string' ? email.toLowerCase() : undefined
  if (typeof email === 'string' && typeof consent === 'boolean') {
    return { id, statement: { email, consent }, issues: [] }
  }
  const issues = [issueOf(record, 'email', email), issueOf(record, 'consent', consent)]
  return { id, statement: undefined, issues: issues.filter((issue) => issue !== undefined) }
}

function issueOf(
  { record, line }: ParsedRecord,
  field: ConsentField,
  value: unknown,
): RecordIssue | undefined {
  if (typeof value === 'string' || typeof value === 'boolean') return undefined
  const words = { found: `found nothing, expected ${expected[field]}`, remedy: 'give it a value' }
  const { code, text, remedy } = value instanceof Problem ? value : new Problem('required-empty', words)
  return { record, line, field, code, message: `${field}: ${text}`, remedy, severity: 'reject' }
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

/** Only what looks like a word: any other cell of such a file may tell who somebody is. */
function describeCell(value: unknown): string {
  const text = textOf(value)
  const isWord = text !== undefined && text.length <= shownCharactersMax && /^[\p{L}\p{N} _-]*$/u.test(text)
  return isWord ? `the text ${JSON.stringify(text)}` : 'a value (not shown)'
}

function words(list: string): ReadonlySet<string> {
  return new Set(list.split(' '))
}
