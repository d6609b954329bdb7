import { isJsonObject } from '../records/look-up.ts'
import { isRepeated } from '../records/repeated.ts'
import { Problem, type RecordNotes } from './problem.ts'

/** How a cell is read: what a field wants of it, and how its value is named in messages. */
export interface Reading {
  trim: boolean
  /** `object`: what is no text is taken as it is. */
  shape: 'scalar' | 'list' | 'object'
  describe: (value: unknown) => string
}

const textKey = '#text'

/** Null, a missing key, and text of white space only (unless it is kept) are empty: undefined. */
export function contentOf(cell: unknown, reading: Reading, notes: RecordNotes): unknown {
  if (typeof cell === 'string') {
    const text = reading.trim ? cell.trim() : cell
    return text === '' ? undefined : text
  }
  if (typeof cell !== 'object' || cell === null) return cell ?? undefined
  if (reading.shape === 'object') return cell
  if (!isRepeated(cell)) return elementText(cell)
  if (reading.shape === 'list') return cell.map(elementText)
  return oneOf(cell, reading, notes)
}

/** An XML element with attributes or children stands for its own text where no more is asked for. */
function elementText(cell: unknown): unknown {
  return isJsonObject(cell) && typeof cell[textKey] === 'string' ? cell[textKey] : cell
}

/** Where elements are repeated and one is meant, the last one counts, as it does for most readers of such files. */
function oneOf(cell: readonly unknown[], reading: Reading, notes: RecordNotes): unknown {
  const contents = cell
    .map((element) => contentOf(element, reading, notes))
    .filter((one) => one !== undefined)
  const last = contents.at(-1)
  const other = contents.find((content) => content !== last)
  if (other === undefined) return last
  const found = `found ${contents.length} elements with different contents (${reading.describe(other)}, …, ${reading.describe(last)})`
  notes.warnings.push(new Problem('repeated-value', `${found}, expected one: the last one counts`))
  return last
}
