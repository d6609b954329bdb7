import { isTimeZone } from '../api/contract/values.ts'
import type { FieldRule, TimeColumns } from '../config/rule-model.ts'
import type { Columns, Compute } from './compiled-rule.ts'
import { cellAt, findPlaces } from './free-column.ts'
import { compileInstant, type ReadInstant } from './instant-text.ts'
import { Problem, type RecordNotes } from './problem.ts'
import { textOf } from './text-of.ts'

/** From when until when a cell counts; undefined: open. */
interface Span {
  fromMs: number | undefined
  untilMs: number | undefined
}

interface Timed {
  places: readonly number[]
  ends: TimeColumns
  spanOf: (cells: readonly unknown[]) => Span | Problem
}

export interface During {
  /** Those with the times. */
  columns: readonly string[]
  /** What `compute` gives when cells outside their time are empty. Notes the times at which that changes. */
  bind(columns: Columns, compute: Compute): Compute
}

export function compileDuring(
  { during = {}, date, zone }: FieldRule,
  { describe, problems }: { describe: (value: unknown) => string; problems: string[] },
): During | undefined {
  const read = compileInstant(date, zone)
  if (typeof read === 'string') problems.push(read)
  if (zone !== undefined && !isTimeZone(zone)) {
    problems.push(`zone: found "${zone}", expected a time zone such as Europe/Berlin`)
    return undefined
  }
  if (typeof read === 'string') return undefined
  const timed = Object.entries(during)
  return {
    columns: timed.flatMap(([, ends]) => columnsOfEnds(ends)),
    bind: (columns, compute) => {
      const bound = timed.flatMap(([column, ends]): Timed[] => {
        const places = findPlaces(columns, column)
        return places.length === 0
          ? []
          : [{ places, ends, spanOf: bindSpan(ends, columns, { read, describe }) }]
      })
      return (cells, notes) => {
        const seen = inTime(cells, bound, notes)
        return seen instanceof Problem ? seen : compute(seen, notes)
      }
    },
  }
}

function columnsOfEnds(ends: TimeColumns): string[] {
  if (ends.kind === 'interval') return [ends.column]
  return [ends.from, ends.until].filter((column) => column !== undefined)
}

function inTime(
  cells: readonly unknown[],
  timed: readonly Timed[],
  notes: RecordNotes,
): readonly unknown[] | Problem {
  let seen = cells
  for (const { places, spanOf } of timed) {
    // What is empty anyway needs no time.
    if (textAt(cells, places) === '') continue
    const span = spanOf(cells)
    if (span instanceof Problem) return span
    const { fromMs, untilMs } = span
    for (const time of [fromMs, untilMs])
      if (time !== undefined && time > notes.now) notes.boundaries.push(time)
    const counts = (fromMs ?? notes.now) <= notes.now && notes.now < (untilMs ?? Number.POSITIVE_INFINITY)
    if (!counts) for (const place of places) seen = withoutCell(seen, place)
  }
  return seen
}

interface Reader {
  read: ReadInstant
  describe: (value: unknown) => string
}

function bindSpan(
  ends: TimeColumns,
  columns: Columns,
  reader: Reader,
): (cells: readonly unknown[]) => Span | Problem {
  const placesOf = (column: string | undefined) => (column === undefined ? [] : findPlaces(columns, column))
  if (ends.kind === 'interval') {
    const places = placesOf(ends.column)
    return (cells) => readInterval(textAt(cells, places), reader)
  }
  const [from, until] = [placesOf(ends.from), placesOf(ends.until)]
  return (cells) => readEnds({ from: textAt(cells, from), until: textAt(cells, until) }, reader)
}

/** `start/end`; either may be missing. The dates may hold slashes themselves, so every slash is tried. */
function readInterval(text: string, reader: Reader): Span | Problem {
  if (text === '') return { fromMs: undefined, untilMs: undefined }
  for (let slash = text.indexOf('/'); slash >= 0; slash = text.indexOf('/', slash + 1)) {
    const span = readEnds({ from: text.slice(0, slash).trim(), until: text.slice(slash + 1).trim() }, reader)
    if (!(span instanceof Problem)) return span
  }
  return notATime(
    text,
    reader,
    'two times with a slash between them, such as 2026-03-01T13:00+01:00/2026-03-11',
  )
}

function readEnds({ from, until }: { from: string; until: string }, reader: Reader): Span | Problem {
  const begin = from === '' ? undefined : reader.read(from)
  const end = until === '' ? undefined : reader.read(until)
  const odd =
    begin === undefined && from !== '' ? from : end === undefined && until !== '' ? until : undefined
  if (odd !== undefined)
    return notATime(odd, reader, 'a time in the form of date (without one: 2026-03-01T13:00+01:00)')
  const span = { fromMs: begin?.atMs, untilMs: end?.endMs }
  if (begin && end && begin.atMs > end.endMs)
    return notATime(`${from}/${until}`, reader, 'a beginning before the end')
  return span
}

function notATime(text: string, { describe }: Reader, expected: string): Problem {
  const found = `found ${describe(text)}, expected ${expected}`
  return new Problem(
    'not-a-time',
    { found, remedy: 'correct it, or set date: to its form, such as DD/MM/YYYY, and zone:' },
    '',
    { value: text },
  )
}

/** Rows that end early have no cell there. */
function withoutCell(cells: readonly unknown[], place: number): readonly unknown[] {
  return place < cells.length ? cells.with(place, undefined) : cells
}

function textAt(cells: readonly unknown[], places: readonly number[]): string {
  const cell = cellAt(cells, places)
  // Anything but text and numbers stands for itself: whether it counts is for the field to say.
  const text = cell === undefined || cell === null ? '' : (textOf(cell)?.trim() ?? '?')
  // What databases write where there is no date.
  return /^0000-00-00/.test(text) ? '' : text
}
