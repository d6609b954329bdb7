import {
  availabilityWarning,
  fieldKinds,
  type ProductField,
  requiredFields,
} from '../api/contract/product.ts'
import type { ProductId } from '../lib/brand.ts'
import { isJsonObject } from '../records/look-up.ts'
import type { ParsedRecord, RecordIssue } from '../records/model.ts'
import { isAbovePrice } from './above-price.ts'
import { type BoundField, type Compute, nothingSaid } from './compiled-rule.ts'
import type { LaterPatch, ProductPatch } from './model.ts'
import { currencyRemedy, openNotes, otherCurrencies, Problem, type RecordNotes } from './problem.ts'
import { foundValue } from './show-value.ts'
import { noFields } from './wire-order.ts'

interface Fields {
  id: BoundField
  fields: readonly BoundField[]
}

interface Findings {
  record: ParsedRecord
  productId: ProductId | undefined
  issues: RecordIssue[]
  /** Of amounts: the price and the list price read the same cell, of which one of them speaks. */
  said: { problem: Problem; columns: readonly string[] }[]
}

const required: ReadonlySet<string> = new Set(requiredFields)

/** Undefined when the cells hold no usable id. */
export function readId(compute: Compute, cells: readonly unknown[]): ProductId | undefined {
  return asId(compute(cells, openNotes(undefined, 0)))
}

function asId(id: unknown): ProductId | undefined {
  return typeof id === 'string' && id.trim() !== '' ? (id.trim() as ProductId) : undefined
}

/**
 * `now` in ms: which timed cells count, and which will. Budget: 8 µs of CPU for a record of 24 fields, where csv-parse takes
 * 27 for its row (`npm run bench -- record`).
 */
export function mapRecord(
  record: ParsedRecord,
  { id, fields }: Fields,
  now: number,
): { patch: ProductPatch | undefined; issues: readonly RecordIssue[] } {
  const notes = openNotes(record, now)
  const foundId = id.compute(record.cells, notes)
  const productId = asId(foundId)
  const findings: Findings = { record, productId, issues: [], said: [] }
  if (notes.warnings.length > 0) reportWarnings(id, findings, notes)
  if (productId === undefined) reportEmptyOrProblem(id, findings, foundId)
  const set: Partial<Record<ProductField, unknown>> = { ...noFields }
  const clear: ProductField[] = []
  for (const bound of fields) {
    const found = bound.compute(record.cells, notes)
    if (notes.warnings.length > 0) reportWarnings(bound, findings, notes)
    if (found === nothingSaid) continue
    const isTooLow = bound.abovePrice && !isAbovePrice(found, set.price)
    const value = isTooLow ? undefined : found
    if (value === undefined) {
      // An amount that is not above the price must not be shown, nor the one before it.
      if (!bound.clears && !isTooLow) continue
      if (!required.has(bound.field)) clear.push(bound.field)
      else if (bound.ownPlace === undefined || record.cells[bound.ownPlace] !== undefined) {
        reportEmptyOrProblem(bound, findings, value)
      }
    } else if (value instanceof Problem) reportEmptyOrProblem(bound, findings, value)
    else set[bound.field] = value
  }
  if (notes.currencies.length > 0) checkCurrencies(notes, set, findings)
  warnOfAvailabilities(set, findings)
  const timed =
    notes.boundaries.length > 0 ? readTimed(record, { fields, notes, said: { set, clear } }) : undefined
  for (const { bound, problem } of timed?.problems ?? []) reportEmptyOrProblem(bound, findings, problem)
  const isRejected = productId === undefined || findings.issues.some(({ severity }) => severity === 'reject')
  if (isRejected) return { patch: undefined, issues: findings.issues }
  const patch: ProductPatch = { productId, set, clear, ...keptBy(notes, set) }
  if (timed && timed.later.length > 0) patch.later = timed.later
  return { patch, issues: findings.issues }
}

function reportWarnings({ field, columns }: BoundField, findings: Findings, notes: RecordNotes): void {
  for (const { code, text, remedy } of notes.warnings.splice(0)) {
    const message = `${field}: ${text}${placeOf(columns)}`
    report(findings, { field, code, message, remedy, severity: 'warn' })
  }
}

function placeOf(columns: readonly string[]): string {
  return columns.length === 0 ? '' : ` (column ${columns.map((column) => JSON.stringify(column)).join(', ')})`
}

function reportEmptyOrProblem({ field, columns }: BoundField, findings: Findings, value: unknown): void {
  const place = placeOf(columns)
  if (value instanceof Problem) {
    if (fieldKinds[field] === 'number') {
      if (isSaid(value, columns, findings)) return
      findings.said.push({ problem: value, columns })
    }
    const text = value.path === null ? value.text : `${field}${value.path}: ${value.text}`
    const { code, remedy } = value
    const found = foundValue(value.value)
    report(findings, { field, code, message: text + place, value: found, remedy, severity: 'reject' })
    return
  }
  const remedy =
    field === 'product_id' ? 'give it a value' : 'give it a value, or set empty: keep to leave it as it was'
  const message = `${field}: found nothing, and a required field is never cleared; ${remedy}${place}`
  report(findings, { field, code: 'required-empty', message, remedy, severity: 'reject' })
}

function isSaid(problem: Problem, columns: readonly string[], { said }: Findings): boolean {
  return said.some(
    (other) =>
      other.problem.text === problem.text &&
      other.problem.path === problem.path &&
      other.columns.some((column) => columns.includes(column)),
  )
}

/** A price in another currency than the record's own is a wrong price, however well it reads. */
function checkCurrencies(notes: RecordNotes, set: ProductPatch['set'], findings: Findings): void {
  const own = set.price_currency_code
  const seen = new Set<string>()
  for (const { field, code } of otherCurrencies(notes, own)) {
    if (seen.has(field + code)) continue
    seen.add(field + code)
    const remedy = currencyRemedy
    const message = `${field}: found an amount in ${code}, expected ${own} as in price_currency_code; ${remedy}`
    report(findings, { field, code: 'currency-mismatch', message, remedy, severity: 'reject' })
  }
}

function warnOfAvailabilities(set: ProductPatch['set'], findings: Findings): void {
  warn('availability', set.availability)
  if (Array.isArray(set.skus)) {
    for (const sku of set.skus) if (isJsonObject(sku)) warn('skus', sku.availability)
  }
  if (isJsonObject(set.variations)) {
    for (const variation of Object.values(set.variations)) {
      if (isJsonObject(variation)) warn('variations', variation.availability)
    }
  }

  function warn(field: ProductField, word: unknown): void {
    const message = typeof word === 'string' ? availabilityWarning(word) : undefined
    if (message === undefined) return
    const text = field === 'availability' ? message : `${field}: ${message}`
    report(findings, { field, code: 'availability-unknown', message: text, severity: 'warn' })
  }
}

function report(
  findings: Findings,
  issue: Pick<RecordIssue, 'field' | 'code' | 'message' | 'value' | 'remedy' | 'severity'>,
): void {
  const { record, line } = findings.record
  const { productId } = findings
  findings.issues.push(
    productId === undefined ? { record, line, ...issue } : { record, line, ...issue, productId },
  )
}

type Said = Pick<ProductPatch, 'set' | 'clear'>

interface Options {
  fields: readonly BoundField[]
  /** After every field was computed for now. */
  notes: RecordNotes
  /** What holds now. */
  said: Said
}

interface Timed {
  later: readonly LaterPatch[]
  /** Of cells that count only later. */
  problems: readonly { bound: BoundField; problem: Problem }[]
}

/** What the record says of its timed fields at each time at which that may change, without times at which it does not. */
function readTimed(record: ParsedRecord, { fields, notes, said }: Options): Timed {
  const timed = fields.filter(({ timed: isTimed }) => isTimed)
  const later: LaterPatch[] = []
  const problems: { bound: BoundField; problem: Problem }[] = []
  const untimedPrice = fields.find(({ field, timed: isTimed }) => field === 'price' && !isTimed)
  let before = textOf(timed, said)
  for (const at of [...new Set(notes.boundaries)].sort((one, other) => one - other)) {
    const then = openNotes(record, at)
    const set: Partial<Record<ProductField, unknown>> = {}
    const clear: ProductField[] = []
    // What depends on the price does so also where that stays the same.
    let price = untimedPrice?.compute(record.cells, then)
    for (const bound of timed) {
      const found = bound.compute(record.cells, then)
      if (bound.field === 'price') price = found
      const isTooLow = bound.abovePrice && !isAbovePrice(found, price)
      const value = isTooLow ? undefined : found
      if (value instanceof Problem) problems.push({ bound, problem: value })
      else if (value === undefined) {
        // A required field is never cleared: it stays as it was.
        if ((bound.clears || isTooLow) && !required.has(bound.field)) clear.push(bound.field)
      } else if (value !== nothingSaid) set[bound.field] = value
    }
    const text = textOf(timed, { set, clear })
    if (text !== before) later.push({ at, set, clear, ...keptBy(then, set) })
    before = text
  }
  return { later, problems }
}

/** Where nothing is said of the entries, all stay anyway. */
function keptBy(
  { keepEntries, keepsOthers, dropEntries }: RecordNotes,
  { custom_fields: said }: LaterPatch['set'],
): Pick<LaterPatch, 'keepEntries'> {
  if (said === undefined) return {}
  if (keepsOthers) return { keepEntries: { allBut: dropEntries } }
  return keepEntries.length > 0 ? { keepEntries } : {}
}

function textOf(timed: readonly BoundField[], { set, clear }: Said): string {
  return JSON.stringify(timed.map(({ field }) => [clear.includes(field), set[field]]))
}
