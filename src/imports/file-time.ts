import type { IdReader } from '../records/judge-model.ts'
import { compileCellTime } from '../sources/as-of.ts'
import type { Ending, ImportRun } from './import-run.ts'
import type { IdListener } from './open-feed-file.ts'

/** The newest full file of a feed that was applied, by what it says of its time; the mirror has it under the feed's name. */
export interface FullFile {
  sequence: number
  file: string
  asOf: string
}

/** Clocks and time zones are off by hours; a file that is to hold in a week would make a week of files late. */
const aheadMsMax = 24 * 3_600_000

/**
 * As of when a file holds, where the feed says how its files tell: the name, which the accept line has read, or the cell
 * of the first record, which the first pass reads. A file that tells nothing is taken as of its acceptance: it is never
 * late, and makes none late.
 */
export class FileTime implements IdListener {
  readonly #run: ImportRun
  #ms: number | undefined
  #warning: string | undefined

  constructor(run: ImportRun) {
    this.#run = run
    const { accept, context } = run
    const rule = context.feed.asOf
    if (rule?.from !== 'name') return
    if (accept.isDated) this.#take(Date.parse(accept.asOf), `the name ${accept.name}`)
    else this.#warning = `asOf.name finds no time in the name ${accept.name}: taken as of its acceptance`
  }

  /** Columns that the first pass has to read for it. */
  get columns(): readonly string[] {
    const rule = this.#run.context.feed.asOf
    return rule?.from === 'column' ? [rule.column] : []
  }

  /** Has the cell of the first record read along with its id. */
  listen(columns: readonly string[], reader: IdReader | undefined): IdReader | undefined {
    const rule = this.#run.context.feed.asOf
    if (rule?.from !== 'column' || reader === undefined) return reader
    const place = columns.indexOf(rule.column)
    if (place < 0) {
      this.#warning = `the file has no column "${rule.column}" (asOf.column): taken as of its acceptance`
      return reader
    }
    let indices: readonly number[] = [...reader.indices, place]
    return {
      ...reader,
      get indices() {
        return indices
      },
      read: (cells: readonly unknown[]) => {
        if (indices !== reader.indices) {
          this.#readCell(cells.at(-1), rule)
          indices = reader.indices
        }
        return reader.read(cells)
      },
    }
  }

  /** How the import ends when a newer full file was applied; undefined: it goes on. */
  late(): Ending | undefined {
    const { context, accept, bypassesHold } = this.#run
    const { feed, mirror } = context
    if (this.#ms === undefined || bypassesHold) return undefined
    const text = mirror.fullAsOf(feed.name)
    const newest = text === undefined ? undefined : (JSON.parse(text) as FullFile)
    if (newest === undefined || this.#ms >= Date.parse(newest.asOf)) return undefined
    const { asOf, file, sequence } = newest
    const how =
      feed.asOf?.from === 'column'
        ? `a newer time in the column ${feed.asOf.column}`
        : 'a newer time in its name'
    return {
      outcome: 'late',
      reason: `${accept.name} holds as of ${this.#iso(this.#ms)}, and the full file ${file} (import ${sequence}) as of ${asOf} was applied before`,
      hint: `Nothing of it was applied. Find out why the exporter delivers out of order; to apply the file nevertheless, drop it again with ${how}`,
    }
  }

  /** What the report says of it, and what `late` asks for when the next file comes. */
  describe(ending: Ending): Ending {
    if (this.#warning !== undefined)
      ending = { ...ending, warnings: [...(ending.warnings ?? []), this.#warning] }
    return this.#ms === undefined ? ending : { ...ending, asOf: this.#iso(this.#ms) }
  }

  #readCell(cell: unknown, rule: Parameters<typeof compileCellTime>[0]): void {
    const text = cell === undefined || cell === null ? '' : String(cell)
    const ms = compileCellTime(rule)(text)
    const where = `the column "${rule.column}" of the first record`
    if (ms !== undefined) this.#take(ms, where)
    else this.#warning = `${where} says no time (asOf.column): taken as of its acceptance`
  }

  #take(ms: number, where: string): void {
    this.#warning = undefined
    if (ms <= Date.parse(this.#run.accept.acceptedAt) + aheadMsMax) this.#ms = ms
    else
      this.#warning = `${where} says ${this.#iso(ms)}, which is more than a day ahead: taken as of its acceptance`
  }

  #iso(ms: number): string {
    return new Date(ms).toISOString()
  }
}
