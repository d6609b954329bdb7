import { SaxesParser } from 'saxes'
import { systemErrorCode } from '../lib/errors.ts'
import { type FileSource, fileRefusal } from './read-file.ts'

/** No part of a workbook is nested deeper. */
const depthMax = 64
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
  const parser = new PartParser(handler, source)
  const decoder = new TextDecoder('utf-8', { fatal: true })
  try {
    for await (const chunk of chunks) {
      const text = decoder.decode(chunk, { stream: true })
      for (let at = 0; at < text.length; at += pieceLength) {
        parser.write(text.slice(at, at + pieceLength))
        yield
      }
    }
    decoder.decode()
    parser.end()
  } catch (cause) {
    if (systemErrorCode(cause) !== 'ERR_ENCODING_INVALID_ENCODED_DATA') throw cause
    throw damagedWorkbook(source, 'one of its parts is not UTF-8', cause)
  }
  yield
}

class PartParser {
  readonly #parser = new SaxesParser({ position: false })
  readonly #source: FileSource
  #depth = 0
  #quiet = 0

  constructor(handler: PartHandler, source: FileSource) {
    this.#source = source
    this.#parser.on('opentag', ({ name, attributes }) => {
      this.#quiet = 0
      this.#depth += 1
      if (this.#depth > depthMax) throw damagedWorkbook(source, `its XML is nested deeper than ${depthMax}`)
      // Strings, since the parser does not resolve prefixes.
      handler.open(localName(name), attributes as Record<string, string>)
    })
    this.#parser.on('text', (text) => handler.text?.(text))
    this.#parser.on('cdata', (text) => handler.text?.(text))
    this.#parser.on('closetag', ({ name }) => {
      this.#quiet = 0
      this.#depth -= 1
      handler.close?.(localName(name))
    })
    this.#parser.on('doctype', () => {
      throw damagedWorkbook(source, 'it has a DOCTYPE, which no workbook has')
    })
    this.#parser.on('error', (cause) => {
      throw damagedWorkbook(source, `its XML is not well-formed (${cause.message})`, cause)
    })
  }

  write(piece: string): void {
    this.#parser.write(piece)
    this.#quiet += piece.length
    if (this.#quiet <= quietMax) return
    throw fileRefusal({
      name: this.#source.name,
      code: 'record-too-long',
      found: `a cell of the spreadsheet is longer than ${quietMax} characters`,
      hint: 'Check where the file comes from, or export CSV',
    })
  }

  end(): void {
    this.#parser.close()
  }
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
