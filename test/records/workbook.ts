import { zipOf } from './zip-file.ts'

/** The parts of a small workbook; `rows` and the others are XML. */
export function workbookOf(parts: {
  rows: string
  strings?: readonly string[]
  formats?: Readonly<Record<number, string>>
  /** The format ids of the styles 0, 1 … */
  styles?: readonly number[]
  sheets?: readonly { name: string; state?: string; rows?: string }[]
  date1904?: boolean
  strict?: boolean
  prefix?: string
}): Promise<Buffer> {
  const {
    rows,
    strings = [],
    formats = {},
    styles = [],
    sheets = [{ name: 'Products' }],
    strict = false,
  } = parts
  const base = strict
    ? 'http://purl.oclc.org/ooxml/officeDocument/relationships'
    : 'http://schemas.openxmlformats.org/officeDocument/2006/relationships'
  const main = strict
    ? 'http://purl.oclc.org/ooxml/spreadsheetml/main'
    : 'http://schemas.openxmlformats.org/spreadsheetml/2006/main'
  const head = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
  const p = parts.prefix === undefined ? '' : `${parts.prefix}:`
  const element = (name: string, body: string, attributes = '') =>
    `${head}<${p}${name} xmlns${p === '' ? '' : `:${parts.prefix}`}="${main}"${attributes}>${body}</${p}${name}>`
  const relation = (id: string, type: string, target: string) =>
    `<Relationship Id="${id}" Type="${base}/${type}" Target="${target}"/>`
  const relations = (all: string) =>
    `${head}<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">${all}</Relationships>`
  const sheetXml = (content: string) => element('worksheet', `<${p}sheetData>${content}</${p}sheetData>`)
  const sheetList = sheets.map(
    ({ name, state }, at) =>
      `<${p}sheet name="${name}" sheetId="${at + 1}"${state ? ` state="${state}"` : ''} r:id="rId${at + 1}"/>`,
  )
  const numFmts = Object.entries(formats).map(
    ([id, code]) => `<numFmt numFmtId="${id}" formatCode="${code}"/>`,
  )
  return zipOf({
    '[Content_Types].xml': `${head}<Types/>`,
    '_rels/.rels': relations(relation('rId1', 'officeDocument', 'xl/workbook.xml')),
    'xl/workbook.xml': element(
      'workbook',
      `<${p}workbookPr${parts.date1904 ? ' date1904="1"' : ''}/><${p}sheets>${sheetList.join('')}</${p}sheets>`,
      ` xmlns:r="${base}"`,
    ),
    'xl/_rels/workbook.xml.rels': relations(
      [
        ...sheets.map((_, at) => relation(`rId${at + 1}`, 'worksheet', `worksheets/sheet${at + 1}.xml`)),
        relation('s', 'sharedStrings', '/xl/sharedStrings.xml'),
        relation('f', 'styles', 'styles.xml'),
      ].join(''),
    ),
    ...Object.fromEntries(
      sheets.map((sheet, at) => [`xl/worksheets/sheet${at + 1}.xml`, sheetXml(sheet.rows ?? rows)]),
    ),
    'xl/sharedStrings.xml': element('sst', strings.map((text) => `<${p}si>${text}</${p}si>`).join('')),
    'xl/styles.xml': element(
      'styleSheet',
      `<numFmts>${numFmts.join('')}</numFmts><cellStyleXfs><xf numFmtId="14"/></cellStyleXfs>` +
        `<cellXfs>${styles.map((id) => `<xf numFmtId="${id}"/>`).join('')}</cellXfs>`,
    ),
  })
}
