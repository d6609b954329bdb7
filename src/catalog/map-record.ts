import { availabilityWarning, type ProductField, requiredFields } from '../api/contract/product.ts'
import type { ProductId } from '../lib/brand.ts'
import type { ParsedRecord, RecordIssue } from '../records/model.ts'
import { type Compute, nothingSaid } from './compiled-rule.ts'
import type { ProductPatch } from './model.ts'
import { Problem, type RecordNotes } from './problem.ts'
import { isJsonObject } from './wire-order.ts'

export interface BoundField {
  field: ProductField
  /** An empty cell clears the field. */
  clears: boolean
  /** For messages. */
  columns: readonly string[]
  compute: Compute
  /** Set where the column maps itself: a record that lacks the key of a required field says nothing about it. */
  ownPlace: number | undefined
}

interface Fields {
  id: BoundField
  fields: readonly BoundField[]
}

interface Findings {
  record: ParsedRecord
  productId: ProductId | undefined
  issues: RecordIssue[]
}

const required: ReadonlySet<string> = new Set(requiredFields)

/** Undefined when the cells hold no usable id. */
export function readId(compute: Compute, cells: readonly unknown[]): ProductId | undefined {
  const id = compute(cells, { currencies: [], keepEntries: [] })
  return typeof id === 'string' && id.trim() !== '' ? (id.trim() as ProductId) : undefined
}

export function mapRecord(
  record: ParsedRecord,
  { id, fields }: Fields,
): { patch: ProductPatch | undefined; issues: readonly RecordIssue[] } {
  const notes: RecordNotes = { currencies: [], keepEntries: [] }
  const productId = readId(id.compute, record.cells)
  const findings: Findings = { record, productId, issues: [] }
  if (productId === undefined) reportEmptyOrProblem(id, findings, id.compute(record.cells, notes))
  const set: Partial<Record<ProductField, unknown>> = {}
  const clear: ProductField[] = []
  for (const bound of fields) {
    const value = bound.compute(record.cells, notes)
    if (value === nothingSaid) continue
    if (value === undefined) {
      if (!bound.clears) continue
      if (!required.has(bound.field)) clear.push(bound.field)
      else if (bound.ownPlace === undefined || record.cells[bound.ownPlace] !== undefined) {
        reportEmptyOrProblem(bound, findings, value)
      }
    } else if (value instanceof Problem) reportEmptyOrProblem(bound, findings, value)
    else set[bound.field] = value
  }
  checkCurrencies(notes, set, findings)
  warnOfAvailabilities(set, findings)
  const isRejected = productId === undefined || findings.issues.some(({ severity }) => severity === 'reject')
  if (isRejected) return { patch: undefined, issues: findings.issues }
  const patch = { productId, set, clear }
  return {
    patch: notes.keepEntries.length > 0 ? { ...patch, keepEntries: notes.keepEntries } : patch,
    issues: findings.issues,
  }
}

function reportEmptyOrProblem({ field, columns }: BoundField, findings: Findings, value: unknown): void {
  const place =
    columns.length === 0 ? '' : ` (column ${columns.map((column) => JSON.stringify(column)).join(', ')})`
  if (value instanceof Problem) {
    const text = value.path === null ? value.text : `${field}${value.path}: ${value.text}`
    report(findings, { field, code: value.code, message: text + place, severity: 'reject' })
    return
  }
  const remedy =
    field === 'product_id' ? 'give it a value' : 'give it a value, or set empty: keep to leave it as it was'
  const message = `${field}: found nothing, and a required field is never cleared; ${remedy}${place}`
  report(findings, { field, code: 'required-empty', message, severity: 'reject' })
}

/** A price in another currency than the record's own is a wrong price, however well it reads. */
function checkCurrencies(notes: RecordNotes, set: ProductPatch['set'], findings: Findings): void {
  const own = set.price_currency_code
  if (notes.currencies.length === 0 || typeof own !== 'string') return
  for (const { field, code } of notes.currencies) {
    if (code === own.toUpperCase()) continue
    const message = `${field}: found an amount in ${code}, expected ${own} as in price_currency_code; correct one of them`
    report(findings, { field, code: 'currency-mismatch', message, severity: 'reject' })
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
  issue: Pick<RecordIssue, 'field' | 'code' | 'message' | 'severity'>,
): void {
  const { record, line } = findings.record
  const { productId } = findings
  findings.issues.push(
    productId === undefined ? { record, line, ...issue } : { record, line, ...issue, productId },
  )
}
