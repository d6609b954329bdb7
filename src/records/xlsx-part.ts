import { SaxesParser } from 'saxes'
import { systemErrorCode } from '../lib/errors.ts'
import { depthMax } from './limits.ts'
import { type FileSource, fileRefusal } from './read-file.ts'

/** Characters between two tags, or inside one: no cell comes near. */
const quietMax = 2 * 2 ** 20
/** So little is parsed at a time, so that what it becomes can be passed on before it fills the memory. */
export const pieceLengthMax = 8 * 2 ** 10

/** Told what is found, in document order; names are without their prefix. */
export interface PartHandler {
  open(name: string, attributes: Readonly<Record<string, string>>): void
  text?(text: string): void
  close?(name: string): void
}

/** Parses one XML part of a workbook; yields after every piece of its characters. Throws FileRefusedError. */
export async function* parsePart(
  chunks: AsyncIterable<Buffer>,
  handler: PartHandler,
  source: FileSource,
  pieceLength = pieceLengthMax,
): AsyncGenerator<void> {
  const state = { quiet: 0 }
  const parser = openParser(handler, source, state)
  const decoder = new TextDecoder('utf-8', { fatal: true })
  try {
    for await (const chunk of chunks) {
      const text = decoder.decode(chunk, { stream: true })
      for (let at = 0; at < text.length; at += pieceLength) {
        const piece = text.slice(at, at + pieceLength)
        parser.write(piece)
        state.quiet += piece.length
        if (state.quiet > quietMax) throw cellTooLong(source)
        yield
      }
    }
    decoder.decode()
    parser.close()
  } catch (cause) {
    if (systemErrorCode(cause) !== 'ERR_ENCODING_INVALID_ENCODED_DATA') throw cause
    throw damagedWorkbook(source, 'one of its parts is not UTF-8', cause)
  }
  yield
}

/** `quiet` counts characters since the last tag. */
function openParser(handler: PartHandler, source: FileSource, state: { quiet: number }): SaxesParser {
  const parser = new SaxesParser({ position: false })
  let depth = 0
  parser.on('opentag', ({ name, attributes }) => {
    state.quiet = 0
    depth += 1
    if (depth > depthMax) throw damagedWorkbook(source, `its XML is nested deeper than ${depthMax}`)
    // Strings, since the parser does not resolve prefixes.
    handler.open(localName(name), attributes as Record<string, string>)
  })
  parser.on('text', (text) => handler.text?.(text))
  parser.on('cdata', (text) => handler.text?.(text))
  parser.on('closetag', ({ name }) => {
    state.quiet = 0
    depth -= 1
    handler.close?.(localName(name))
  })
  parser.on('doctype', () => {
    throw damagedWorkbook(source, 'it has a DOCTYPE, which no workbook has')
  })
  parser.on('error', (cause) => {
    throw damagedWorkbook(source, `its XML is not well-formed (${cause.message})`, cause)
  })
  return parser
}

function cellTooLong({ name }: FileSource): Error {
  return fileRefusal({
    name,
    code: 'record-too-long',
    found: `a cell of the spreadsheet is longer than ${quietMax} characters`,
    hint: 'Check where the file comes from, or export CSV',
  })
}

function localName(name: string): string {
  return name.slice(name.indexOf(':') + 1)
}

export function damagedWorkbook(source: FileSource, found: string, cause?: unknown): Error {
  return fileRefusal({
    name: source.name,
    code: 'damaged-workbook',
    found: `the spreadsheet cannot be read: ${found}`,
    hint: 'Open it, save it again as .xlsx and drop it under a new name, or export CSV',
    cause,
  })
}
