import { problemOfJson, problemOfObject } from './json-limits.ts'
import { type JsonObject, lookUp } from './look-up.ts'
import type { ParsedRecord, RecordIssue, RecordSlice } from './model.ts'
import type { ParsedSlice } from './parse-csv.ts'

export function parseNdjson(slices: readonly RecordSlice[], columns: readonly string[]): ParsedSlice[] {
  return slices.map((slice) => {
    const { record, line } = slice
    const source = parseLine(slice.bytes)
    if (source instanceof Error) return rejected(slice, source.message)
    const parsed: ParsedRecord = {
      record,
      line,
      cells: columns.map((column) => lookUp(source, column)),
      source,
    }
    return { parsed }
  })
}

/** The object that a line holds, or why it holds none. */
export function parseLine(bytes: Buffer): JsonObject | Error {
  const problem = problemOfJson(bytes)
  if (problem !== undefined) return new Error(problem)
  try {
    const value: unknown = JSON.parse(bytes.toString('utf8'))
    if (isObject(value)) {
      const excess = problemOfObject(value)
      return excess === undefined ? value : new Error(excess)
    }
    return new Error(`is no JSON object but ${Array.isArray(value) ? 'an array' : nameOf(value)}`)
  } catch (error) {
    return new Error(`is no valid JSON (${error instanceof Error ? error.message : String(error)})`)
  }
}

function nameOf(value: unknown): string {
  return typeof value === 'string' ? JSON.stringify(value.slice(0, 40)) : String(value)
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function rejected({ record, line, bytes }: RecordSlice, message: string): ParsedSlice {
  const remedy = 'make it one whole JSON object'
  const place = { record, line, field: undefined }
  const whole = `${message}; ${remedy}`
  const issue: RecordIssue = { ...place, code: 'not-json', message: whole, remedy, severity: 'reject' }
  return { rejected: { record, line, cells: [], source: bytes.toString('utf8'), issues: [issue] } }
}
