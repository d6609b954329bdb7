/**
 * What the endpoint should hold after feed files went in: a second opinion that shares no code with the program. It
 * reads CSV by its own rules, and each feed states in plain code what its columns mean.
 */

/** A row by column name, with its cells as they stand in the file. */
export interface Row {
  cells: readonly string[]
  cell(column: string): string
}

export interface Table {
  columns: readonly string[]
  rows: readonly Row[]
}

/** What one row says of its product: a value, or undefined for "nothing stands there". `bad`: the row is refused. */
export interface Spoken {
  id: string | undefined
  values: Record<string, unknown>
  bad?: boolean
}

export interface FeedFile {
  table: Table
  mode: 'full' | 'delta'
  read: (row: Row) => Spoken
}

export type Documents = Map<string, Record<string, unknown>>

const required = ['name', 'url', 'image_url', 'availability', 'price', 'price_currency_code']

/** One character after the other; nothing clever. */
export function readCsv(text: string, delimiter: string): Table {
  const [columns = [], ...rows] = splitRows(text.replace(/^\uFEFF/, ''), delimiter)
  return { columns, rows: rows.map((cells) => rowOf(columns, cells)) }
}

function rowOf(columns: readonly string[], cells: readonly string[]): Row {
  return {
    cells,
    cell: (column) => {
      const place = columns.indexOf(column)
      if (place < 0) throw new Error(`the reference knows no column ${column}`)
      return (cells[place] ?? '').trim()
    },
  }
}

function splitRows(text: string, delimiter: string): string[][] {
  const rows: string[][] = []
  let row: string[] = []
  let cell = ''
  let quoted = false
  const endRow = () => {
    row.push(cell)
    if (row.length > 1 || row[0] !== '') rows.push(row)
    row = []
    cell = ''
  }
  for (let at = 0; at < text.length; at++) {
    const char = text.charAt(at)
    if (quoted && char === '"' && text.charAt(at + 1) === '"') {
      cell += '"'
      at += 1
    } else if (char === '"' && (quoted || cell === '')) {
      quoted = !quoted
    } else if (quoted) {
      cell += char
    } else if (char === delimiter) {
      row.push(cell)
      cell = ''
    } else if (char === '\n') {
      endRow()
    } else if (char !== '\r') {
      cell += char
    }
  }
  if (cell !== '' || row.length > 0) endRow()
  return rows
}

/** Applies a file to the products known so far; returns the rows that are refused. */
export function applyFile(products: Documents, { table, mode, read }: FeedFile): Row[] {
  const lastOf = new Map<string, Row>()
  const said = table.rows.map((row) => ({ row, spoken: read(row) }))
  for (const { row, spoken } of said) if (spoken.id !== undefined) lastOf.set(spoken.id, row)
  const refused: Row[] = []
  for (const { row, spoken } of said) {
    const { id, values } = spoken
    const lacks = mode === 'full' && required.some((field) => values[field] === undefined)
    const uneven = row.cells.slice(table.columns.length).some((cell) => cell !== '')
    if (id === undefined || spoken.bad || lacks || uneven || row.cells.length < table.columns.length) {
      refused.push(row)
      continue
    }
    if (lastOf.get(id) !== row) continue
    const product = products.get(id) ?? { product_id: id }
    for (const [field, value] of Object.entries(values)) {
      if (value !== undefined) product[field] = value
      else if (mode === 'full') delete product[field]
    }
    products.set(id, product)
  }
  return refused
}

/** Products that have all that the contract requires: the others are never sent. */
export function complete(products: Documents): Documents {
  return new Map(
    [...products].filter(([, product]) => required.every((field) => product[field] !== undefined)),
  )
}

export function text(cell: string): string | undefined {
  return cell === '' ? undefined : cell
}

/** `""` is nothing; the marks of thousands go. */
export function amount(cell: string, thousands = ''): number | undefined {
  const digits = cell.replace(/[^0-9.,-]/g, '')
  const plain = thousands === '' ? digits : digits.split(thousands).join('')
  return plain === '' ? undefined : Number(plain)
}

export function list(cell: string, mark: string): string[] | undefined {
  const parts = cell
    .split(mark)
    .map((part) => part.trim())
    .filter((part) => part !== '')
  return parts.length === 0 ? undefined : parts
}
