import { open } from 'node:fs/promises'
import { FileRefusedError } from '../../lib/errors.ts'
import type { HeaderNames } from './header-names.ts'
import type { SampleTable } from './sample-table.ts'

const readBytes = 64 * 1024
const lookedLines = 30
/** Names of columns that are known: fewer may stand in the cells of a record. */
const knownMin = 4

/** Throws a FileRefusedError where lines such as a title or a date of the export stand above the header. */
export async function refuseLinesAbove(file: string, table: SampleTable, names: HeaderNames): Promise<void> {
  const { name, dialect, columns, rows } = table
  const meaningsOf = (cells: readonly string[]) =>
    new Set(cells.flatMap((cell) => names.find(cell)?.meaning ?? [])).size
  if (dialect.type !== 'csv' || meaningsOf(columns) > 2) return
  const lines = dialect.compression === 'none' ? await firstLines(file, dialect.delimiter) : []
  const looked = [...lines, ...rows.slice(0, lookedLines).map((row) => row.map(String))]
  const index = looked.findIndex((cells) => meaningsOf(cells) >= knownMin)
  const header = looked[index]
  if (index < 1 || header === undefined) return
  const place = index < lines.length ? `line ${index + 1}` : `record ${index - lines.length + 1}`
  throw new FileRefusedError(
    'no-products',
    `${name}: other lines stand above its header, which looks to be ${place}: ${header.slice(0, 5).join(', ')}`,
    {
      hint: 'Export it without them, or delete the lines above the header: its first line names the columns',
    },
  )
}

async function firstLines(file: string, delimiter: string): Promise<string[][]> {
  const handle = await open(file)
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(readBytes), 0, readBytes, 0)
    const lines = buffer.toString('utf8', 0, bytesRead).split(/\r\n|\r|\n/)
    return lines.slice(0, lookedLines).map((line) => cellsOf(line, delimiter))
  } finally {
    await handle.close()
  }
}

/** Of a title alone no delimiter can be told. */
function cellsOf(line: string, delimiter: string): string[] {
  const marks = [delimiter, ';', ',', '\t', '|'].map((mark) => line.split(mark))
  const most = marks.reduce((best, cells) => (cells.length > best.length ? cells : best))
  return most.map((cell) =>
    cell
      .trim()
      .replace(/^"(.*)"$/, '$1')
      .replace(/^\*/, ''),
  )
}
