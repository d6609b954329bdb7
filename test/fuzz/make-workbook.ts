import { makeZip } from './make-zip.ts'
import { type ProductRow, productColumns } from './product-row.ts'
import type { Random } from './random.ts'

const head = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
const main = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main'
const relations = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships'
const packageRelations = 'http://schemas.openxmlformats.org/package/2006/relationships'

export const sheetPart = 'xl/worksheets/sheet1.xml'
export const stringsPart = 'xl/sharedStrings.xml'

/** A workbook with texts in the sheet or beside it; `damage` is given the parts that hold the products. */
export function makeWorkbook(
  random: Random,
  rows: readonly ProductRow[],
  damage: (part: Buffer) => Buffer,
): Buffer {
  const strings = new Map<string, number>()
  const isShared = random.chance(0.6)
  const textCell = (text: string, place: string) => {
    if (!isShared)
      return `<c r="${place}" t="inlineStr"><is><t xml:space="preserve">${escaped(text)}</t></is></c>`
    if (!strings.has(text)) strings.set(text, strings.size)
    return `<c r="${place}" t="s"><v>${strings.get(text)}</v></c>`
  }
  const row = (cells: readonly string[], number: number) => {
    const found = cells.map((text, column) => {
      const place = `${String.fromCharCode(65 + column)}${number}`
      if (text === '') return ''
      return /^\d+(\.\d+)?$/.test(text) ? `<c r="${place}"><v>${text}</v></c>` : textCell(text, place)
    })
    return `<row r="${number}">${found.join('')}</row>`
  }
  const lines = [productColumns, ...rows.map((one) => productColumns.map((column) => one[column]))]
  const sheet = `${head}<worksheet xmlns="${main}"><sheetData>${lines.map((cells, at) => row(cells, at + 1)).join('\n')}</sheetData></worksheet>`
  const shared = [...strings.keys()].map((text) => `<si><t xml:space="preserve">${escaped(text)}</t></si>`)
  const table = `${head}<sst xmlns="${main}">${shared.join('')}</sst>`
  const isInSheet = !isShared || random.chance(0.6)
  const parts: Record<string, Buffer> = {
    '[Content_Types].xml': Buffer.from(`${head}<Types/>`),
    '_rels/.rels': relationsOf([['rId1', 'officeDocument', 'xl/workbook.xml']]),
    'xl/workbook.xml': Buffer.from(
      `${head}<workbook xmlns="${main}" xmlns:r="${relations}"><sheets><sheet name="Products" sheetId="1" r:id="rId1"/></sheets></workbook>`,
    ),
    'xl/_rels/workbook.xml.rels': relationsOf([
      ['rId1', 'worksheet', 'worksheets/sheet1.xml'],
      ['rId2', 'sharedStrings', 'sharedStrings.xml'],
    ]),
    [sheetPart]: isInSheet ? damage(Buffer.from(sheet)) : Buffer.from(sheet),
    [stringsPart]: isInSheet ? Buffer.from(table) : damage(Buffer.from(table)),
  }
  return makeZip(Object.entries(parts).map(([name, bytes]) => ({ name, bytes, deflated: true })))
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
}

function relationsOf(all: readonly (readonly [string, string, string])[]): Buffer {
  const list = all.map(
    ([id, type, target]) => `<Relationship Id="${id}" Type="${relations}/${type}" Target="${target}"/>`,
  )
  return Buffer.from(`${head}<Relationships xmlns="${packageRelations}">${list.join('')}</Relationships>`)
}
