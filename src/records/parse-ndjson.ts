import { type JsonListener, JsonMachine } from './json-machine.ts'
import { columnsMax, depthMax, elementsMax } from './limits.ts'
import { isJsonObject, type JsonObject, lookUp } from './look-up.ts'
import { issueOf, type ParsedRecord, type RecordSlice } from './model.ts'
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
    if (isJsonObject(value)) {
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

function rejected(slice: RecordSlice, found: string): ParsedSlice {
  const { record, line, bytes } = slice
  const issue = issueOf(slice, { code: 'not-json', found, remedy: 'make it one whole JSON object' })
  return { rejected: { record, line, cells: [], source: bytes.toString('utf8'), issues: [issue] } }
}

/** From here on it takes the parser long to find out what is wrong. */
const longBytes = 64 * 2 ** 10

/** Why a text is not given to the JSON parser; undefined when it is. */
function problemOfJson(bytes: Buffer): string | undefined {
  if (bytes.length < longBytes) return undefined
  const count = new PartCount()
  const machine = new JsonMachine(count)
  const fault = machine.take(bytes, 0)
  if (fault < 0 && machine.end(bytes.length)) return count.problem
  if (fault >= 0 && machine.isTooDeep) return tooDeep
  return fault < 0
    ? 'is no valid JSON (it ends too early)'
    : `is no valid JSON (byte ${fault}: expected ${machine.expected})`
}

/** A few megabytes of text may become objects that take a hundred. */
class PartCount implements JsonListener {
  #keys = 0
  #values = 0

  get problem(): string | undefined {
    if (this.#keys > columnsMax) return tooManyKeys
    return this.#values > elementsMax ? `has more than ${elementsMax} values` : undefined
  }

  key(_start: number, _end: number, depth: number): void {
    if (depth === 1) this.#keys += 1
  }

  begin(): void {
    this.#values += 1
  }

  ended(): void {}
}

/** Why an object is no record; undefined when it is one. */
function problemOfObject(object: object): string | undefined {
  if (isDeeper(object, depthMax)) return tooDeep
  let keys = 0
  for (const _ in object) keys += 1
  return keys > columnsMax ? tooManyKeys : undefined
}

const tooManyKeys = `has more than ${columnsMax} keys`
const tooDeep = `has more than ${depthMax} objects and arrays in each other`

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false
  if (levels === 0) return true
  const parts = Array.isArray(value) ? value : Object.values(value)
  return parts.some((part) => isDeeper(part, levels - 1))
}
