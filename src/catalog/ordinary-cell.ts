import type { FieldKind } from '../api/contract/kinds.ts'
import { isCalendarDate, isPlainUrl } from '../api/contract/values.ts'
import type { FieldRule } from '../config/rule-model.ts'
import type { CoerceOptions } from './coerce-scalar.ts'
import type { Columns, Compute } from './compiled-rule.ts'
import { isCurrencyCode } from './money-text.ts'
import { isPlainNumber } from './number-text.ts'
import { openNotes, Problem, type RecordNotes } from './problem.ts'

/** What all steps of a rule make of a text that is trimmed and not empty; undefined: they have to look themselves. */
type ReadOrdinary = (text: string) => unknown

interface Ordinary {
  kind?: FieldKind
  options: Pick<CoerceOptions, 'locale'> & Partial<Pick<CoerceOptions, 'field'>>
  /** The steps behind taking and trimming. */
  finish: (text: string, notes: RecordNotes) => unknown
}

/** Whatever else a rule says may change what becomes of a cell, or what is noted of it. */
const parts: ReadonlySet<string> = new Set<keyof FieldRule>([
  'from',
  'empty',
  'optional',
  'default',
  'above',
  'when',
  'otherwise',
  'words',
  'split',
  'separator',
  'slash',
  'decimal',
  'thousands',
  'date',
])

/**
 * Most cells are texts that are right as they stand: they are read at once, which takes a fraction of the steps. Every
 * other cell goes through them; they alone find what is wrong.
 */
export function withOrdinary(
  rule: FieldRule,
  ordinary: Ordinary,
  bind: (columns: Columns) => Compute,
): (columns: Columns) => Compute {
  const isBare = Object.entries(rule).every(([part, value]) => value === undefined || parts.has(part))
  const read = isBare && ordinary.kind ? ordinaryReader(rule, ordinary) : undefined
  if (!read || rule.from.kind !== 'columns') return bind
  const names = rule.from.columns
  return (columns) => {
    const compute = bind(columns)
    const place = names.map(columns.placeOf).find((found) => found !== undefined)
    if (place === undefined) return compute
    return (cells, notes) => {
      const cell = cells[place]
      const text = typeof cell === 'string' ? cell.trim() : ''
      const value = text === '' ? undefined : read(text)
      return value === undefined ? compute(cells, notes) : value
    }
  }
}

function ordinaryReader(rule: FieldRule, ordinary: Ordinary): ReadOrdinary | undefined {
  if (rule.when || rule.words || rule.otherwise !== undefined) return remembered(ordinary)
  const { decimal, thousands } = ordinary.options.locale
  const isPlain = decimal === '.' && thousands !== '.'
  switch (ordinary.kind) {
    case 'string':
      if (ordinary.options.field !== 'price_currency_code') return (text) => text
      return (text) => (isCurrencyCode(text) && text === text.toUpperCase() ? text : undefined)
    case 'url':
      return (text) => (isOneAddress(text) ? text : undefined)
    case 'number':
      // -0 becomes 0, which is what JSON carries
      return isPlain ? (text) => (isPlainNumber(text) ? Number(text) + 0 : undefined) : undefined
    case 'integer':
      return isPlain ? (text) => (isPlainInteger(text) ? Number(text) + 0 : undefined) : undefined
    case 'decimal-string':
      return isPlain ? (text) => (isPlainNumber(text) ? text : undefined) : undefined
    case 'integer-string':
      return isPlain ? (text) => (isPlainInteger(text) ? text : undefined) : undefined
    case 'date':
      return rule.date === undefined ? (text) => (isCalendarDate(text) ? text : undefined) : undefined
    case 'category-list':
      return remembered(ordinary)
    case 'string-list':
      return listReader(rule, () => true)
    case 'url-list':
      return listReader(rule, isOneAddress)
    default:
      return undefined
  }
}

/** An address that holds another one may need a warning. */
function isOneAddress(text: string): boolean {
  return isPlainUrl(text) && !text.includes('://', 8)
}

function isPlainInteger(text: string): boolean {
  return isPlainNumber(text) && !text.includes('.')
}

function listReader({ split }: FieldRule, isRight: (element: string) => boolean): ReadOrdinary {
  const mark = split ?? '|'
  return (text) => {
    // It may be JSON.
    if (split === undefined && text.startsWith('[')) return undefined
    const elements: string[] = []
    for (let start = 0, end = 0; end < text.length; start = end + mark.length) {
      const found = text.indexOf(mark, start)
      end = found === -1 ? text.length : found
      const element = text.slice(start, end).trim()
      if (element === '') continue
      if (!isRight(element)) return undefined
      elements.push(element)
    }
    return elements.length === 0 ? undefined : elements
  }
}

const textsMax = 1_000
const charactersMax = 200

/** Of cells with few different texts: what the steps make of a text, where they note nothing beside it. */
function remembered({ finish }: Ordinary): ReadOrdinary {
  const known = new Map<string, unknown>()
  return (text) => {
    const value = known.get(text)
    if (value !== undefined || known.size >= textsMax || text.length > charactersMax) return value
    if (!text.isWellFormed()) return undefined
    // Not a part of its record's text, which would stay in memory with it.
    const own = Buffer.from(text).toString()
    const notes = openNotes(undefined, 0)
    const found = finish(own, notes)
    if (found === undefined || found instanceof Problem || notes.currencies.length > 0) return undefined
    known.set(own, found)
    return found
  }
}
