import { ExpansionMeter } from './expansion-meter.ts'
import { columnsMax } from './limits.ts'
import { type FileSource, fileRefusal } from './read-file.ts'
import { damagedWorkbook, type PartHandler, parsePart, pieceLengthMax } from './xlsx-part.ts'
import { errorText, notCalculated, plainText } from './xlsx-text.ts'
import { openWorkbook, type Workbook } from './xlsx-workbook.ts'

/** Rows of one chunk of text. */
const chunkLength = 256 * 2 ** 10
const rowLengthMax = 16 * 2 ** 20
/** What one piece of XML becomes; `<c t="s"><v>0</v></c>` is the shortest that becomes a long text. */
const pieceTextMax = 512 * 2 ** 10
const cellLengthMin = 21
/** The most that the format has. */
const rowsMax = 1_048_576

/**
 * One sheet as UTF-8 CSV text with `,`, `"` and `\n`. Every row has its line, blank ones an empty line, so that lines
 * are row numbers as long as no cell holds a line end; rows are as wide as the first that is not blank.
 */
export async function* readSheet(source: FileSource, sheet: string | undefined): AsyncGenerator<Buffer> {
  await using workbook = await openWorkbook(source, sheet)
  const rows = new SheetRows(workbook, source)
  const cells = Math.ceil(pieceTextMax / Math.max(1, workbook.strings.longest))
  const pieceLength = Math.min(pieceLengthMax, cells * cellLengthMin)
  for await (const _ of parsePart(workbook.rows, rows, source, pieceLength)) {
    if (rows.length >= chunkLength) yield Buffer.from(rows.take(), 'utf8')
  }
  if (rows.length > 0) yield Buffer.from(rows.take(), 'utf8')
}

interface Cell {
  column: number
  type: string
  style: number
  hasFormula: boolean
  value: string
}

/** Between rows, in a row, in a cell of it, or in the part of a cell that holds its value. */
class SheetRows implements PartHandler {
  readonly #workbook: Workbook
  readonly #source: FileSource
  /** Cells may repeat a long text that stands in the file once. */
  readonly #meter: ExpansionMeter
  #lines: string[] = []
  #length = 0
  #row = 0
  #inRow = false
  #cells: string[] = []
  #rowLength = 0
  #column = 0
  #width = 0
  #cell: Cell | undefined
  #phonetic = 0
  #isReading = false

  constructor(workbook: Workbook, source: FileSource) {
    this.#workbook = workbook
    this.#source = source
    this.#meter = new ExpansionMeter(source.name)
    this.#meter.read(source.bytes)
  }

  /** Characters of the rows that were not taken yet. */
  get length(): number {
    return this.#length
  }

  take(): string {
    const text = this.#lines.join('')
    this.#lines = []
    this.#length = 0
    return text
  }

  open(name: string, attributes: Readonly<Record<string, string>>): void {
    this.#isReading = false
    if (name === 'row') this.#openRow(attributes.r)
    else if (name === 'c' && this.#inRow) this.#openCell(attributes)
    else if (this.#cell === undefined) return
    else if (name === 'f') this.#cell.hasFormula = true
    else if (name === 'rPh') this.#phonetic += 1
    else this.#isReading = name === 'v' || (name === 't' && this.#phonetic === 0)
  }

  text(text: string): void {
    if (this.#isReading && this.#cell) this.#cell.value += text
  }

  close(name: string): void {
    this.#isReading = false
    if (name === 'rPh') this.#phonetic -= 1
    if (name === 'c' && this.#cell) this.#closeCell(this.#cell)
    if (name === 'row' && this.#inRow) this.#closeRow()
  }

  #openRow(position: string | undefined): void {
    const row = position === undefined ? this.#row + 1 : Number(position)
    if (!(row > this.#row && row <= rowsMax && Number.isInteger(row))) {
      throw damagedWorkbook(this.#source, `row ${position ?? row} comes after row ${this.#row}`)
    }
    this.#add('\n'.repeat(row - this.#row - 1))
    this.#row = row
    this.#inRow = true
    this.#cells = []
    this.#rowLength = 0
    this.#column = 0
  }

  #openCell({ r: position, t: type = 'n', s: style }: Readonly<Record<string, string>>): void {
    const column = position === undefined ? this.#column + 1 : columnOf(position)
    if (column <= this.#column) {
      throw damagedWorkbook(this.#source, `cell ${position ?? column} of row ${this.#row} is out of order`)
    }
    this.#column = column
    this.#cell = { column, type, style: Number(style ?? 0), hasFormula: false, value: '' }
    this.#phonetic = 0
  }

  #closeCell(cell: Cell): void {
    this.#cell = undefined
    const text = this.#textOf(cell)
    if (text === '') return
    if (cell.column > columnsMax) throw this.#tooWide(cell.column)
    this.#rowLength += text.length
    if (this.#rowLength > rowLengthMax) throw this.#tooLong()
    while (this.#cells.length < cell.column - 1) this.#cells.push('')
    this.#cells.push(csvCell(text))
  }

  #closeRow(): void {
    this.#inRow = false
    if (this.#cells.length === 0) {
      this.#add('\n')
      return
    }
    if (this.#width === 0) this.#width = this.#cells.length
    while (this.#cells.length < this.#width) this.#cells.push('')
    this.#add(`${this.#cells.join(',')}\n`)
  }

  #textOf({ type, style, hasFormula, value }: Cell): string {
    switch (type) {
      case 's':
        return value === '' ? '' : this.#workbook.strings.get(Number(value))
      case 'inlineStr':
      case 'str':
        return plainText(value)
      case 'b':
        return value === '' ? '' : value.trim() === '1' || value.trim() === 'true' ? 'TRUE' : 'FALSE'
      case 'd':
        return value
      case 'e':
        return errorText(value)
      default:
        if (value === '' && hasFormula) return notCalculated
        return this.#workbook.formats.textOf(value, style)
    }
  }

  #add(text: string): void {
    this.#lines.push(text)
    this.#length += text.length
    this.#meter.expanded(text.length)
  }

  #tooWide(column: number): Error {
    return fileRefusal({
      name: this.#source.name,
      code: 'too-many-columns',
      found: `row ${this.#row} of the spreadsheet has a value in column ${column}, at most ${columnsMax} are read`,
      hint: 'Clear what stands beside the table, or export CSV',
    })
  }

  #tooLong(): Error {
    return fileRefusal({
      name: this.#source.name,
      code: 'record-too-long',
      found: `row ${this.#row} of the spreadsheet is longer than ${rowLengthMax} characters`,
      hint: 'Check where the file comes from, or export CSV',
    })
  }
}

/** `AB12` → 28; 0 for what is no cell. */
function columnOf(position: string): number {
  const letters = /^([A-Z]{1,3})\d+$/.exec(position)?.[1] ?? ''
  let column = 0
  for (const letter of letters) column = column * 26 + letter.charCodeAt(0) - 64
  return column
}

function csvCell(text: string): string {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
