import { SaxesParser } from 'saxes'
import { sheetPart, stringsPart } from './make-workbook.ts'

/** The rows of the sheet by their place; undefined where a part is not well-formed. */
export function readWorkbook(members: ReadonlyMap<string, Buffer>): string[][] | undefined {
  const [sheet, table] = [sheetPart, stringsPart].map((part) => partOf(members, part))
  if (sheet === undefined) return undefined
  const strings: string[] = []
  const take = (name: string, { text }: { text: string }) => {
    if (name === 'si') strings.push(text)
  }
  // A workbook needs no table; a cell that refers to one that is absent is refused below.
  const isTable = table === undefined || parse(table, take)
  const rows: string[][] = []
  let cells: string[] = []
  let isSound = true
  const isSheet = parse(sheet, (name, { text, attributes }) => {
    if (name === 'row') {
      rows.push(cells)
      cells = []
    }
    if (name !== 'c') return
    const letters = /^([A-Z]{1,2})\d+$/.exec(attributes.r ?? '')?.[1] ?? ''
    const column = [...letters].reduce((sum, letter) => sum * 26 + letter.charCodeAt(0) - 64, 0)
    const content =
      attributes.t === 's' ? (text === '' ? '' : strings[Number(text)]) : textOf(text, attributes.t)
    if (content === undefined || (column === 0 && attributes.r !== undefined)) isSound = false
    cells[column === 0 ? cells.length : column - 1] = content ?? ''
  })
  if (!isTable || !isSheet || !isSound) return undefined
  const filled = rows.map((row) =>
    Array.from(row, (cell) => cell ?? '').slice(0, row.findLastIndex((cell) => cell) + 1),
  )
  const width = filled.find((row) => row.length > 0)?.length ?? 0
  return filled
    .map((row) => [...row, ...Array.from({ length: Math.max(0, width - row.length) }, () => '')])
    .filter((row) => row.some((cell) => cell.trim() !== ''))
}

/** Names of parts are compared without regard to case. */
function partOf(members: ReadonlyMap<string, Buffer>, part: string): Buffer | undefined {
  return [...members].find(([name]) => name.toLowerCase() === part.toLowerCase())?.[1]
}

function textOf(text: string, type = 'n'): string {
  if (type === 'b') return text === '' ? '' : /^\s*(1|true)\s*$/.test(text) ? 'TRUE' : 'FALSE'
  if (type !== 'n') return text
  const number = Number(text)
  return text.trim() === '' || !Number.isFinite(number) ? text : String(Number(number.toPrecision(15)))
}

/** Tells of the elements `si`, `c` and `row` as they end, with the text of what lies in them. */
function parse(
  part: Buffer,
  ended: (name: string, element: { text: string; attributes: Record<string, string> }) => void,
): boolean {
  const parser = new SaxesParser()
  let text = ''
  let attributes: Record<string, string> = {}
  let isText = false
  parser.on('error', (error) => {
    throw error
  })
  parser.on('doctype', () => {
    throw new Error('it has a DOCTYPE')
  })
  parser.on('opentag', (tag) => {
    isText = tag.name === 'v' || tag.name === 't'
    if (tag.name !== 'si' && tag.name !== 'c') return
    text = ''
    attributes = tag.attributes as Record<string, string>
  })
  const take = (piece: string) => {
    if (isText) text += piece
  }
  parser.on('text', take)
  parser.on('cdata', take)
  parser.on('closetag', ({ name }) => {
    isText = false
    ended(name, { text, attributes })
  })
  try {
    parser.write(new TextDecoder('utf-8', { fatal: true }).decode(part)).close()
    return true
  } catch {
    return false
  }
}
