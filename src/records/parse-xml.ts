import type { SaxesParser } from 'saxes'
import { lookUp } from './look-up.ts'
import type { ParsedRecord, RecordIssue, RecordSlice } from './model.ts'
import type { ParsedSlice } from './parse-csv.ts'
import { XmlItem, type XmlObject } from './xml-items.ts'
import { openParser, type XmlScope } from './xml-names.ts'

/** Parses record elements; the first pass has found the document around them well-formed. */
export function parseXml(slices: readonly RecordSlice[], columns: readonly string[]): ParsedSlice[] {
  const elements = new ElementParser()
  return slices.map(({ record, line, bytes, scope }) => {
    const text = bytes.toString('utf8')
    const source = elements.parse(text, scope)
    if (source instanceof Error) return rejected({ record, line, cells: [], source: text, text }, source)
    const cells = columns.map((column) => lookUp(source, column))
    return { parsed: { record, line, cells, source, text } }
  })
}

/** Opens a parser when the surroundings of the elements change: seldom. */
class ElementParser {
  #parser: SaxesParser<{ xmlns: true }> | undefined
  #scope: XmlScope | undefined
  #item: XmlItem | undefined

  parse(text: string, scope: XmlScope = { version: '1.0', namespaces: {} }): XmlObject | Error {
    try {
      this.#item = undefined
      if (this.#parser === undefined || scope !== this.#scope) this.#parser = this.#open(scope)
      this.#parser.write(text).close()
      return (this.#item as XmlItem | undefined)?.item ?? new Error('holds no element')
    } catch (error) {
      // What the parser knew of the broken element must not touch the next one.
      this.#parser = undefined
      return error instanceof Error ? error : new Error(String(error))
    }
  }

  #open(scope: XmlScope): SaxesParser<{ xmlns: true }> {
    this.#scope = scope
    const parser = openParser(scope)
    parser.on('opentag', (tag) => {
      if (this.#item === undefined) this.#item = new XmlItem(tag)
      else this.#item.open(tag)
    })
    parser.on('text', (text) => this.#item?.text(text))
    parser.on('cdata', (text) => this.#item?.text(text))
    parser.on('closetag', () => this.#item?.close())
    return parser
  }
}

function rejected(record: ParsedRecord, cause: Error): ParsedSlice {
  const remedy = 'correct the element'
  const issue: RecordIssue = {
    record: record.record,
    line: record.line,
    field: undefined,
    code: 'not-xml',
    message: `cannot be read: it ${cause.message}; ${remedy}`,
    remedy,
    severity: 'reject',
  }
  return { rejected: { ...record, issues: [issue] } }
}
