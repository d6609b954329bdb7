import { CellReader, type CellSyntax } from './cells.ts'

/**
 * Tells records whose cells are all empty (`;;;;`, blanks, `""`), as csv-parse's `skip_records_with_empty_values` does:
 * a cell is empty when nothing is left of it after `trim`. A record that holds only the end-of-file byte of DOS is blank, too.
 */
export class BlankTest {
  /** 0: a record with this byte is not blank. 1: it may be. 2: it may be, but only the cells can tell. */
  readonly #kinds = new Uint8Array(256)
  readonly #cells: CellReader

  constructor(syntax: CellSyntax) {
    this.#cells = new CellReader(syntax)
    // Old systems end their files with the last one.
    for (const byte of [0x09, 0x0a, 0x0b, 0x0c, 0x0d, 0x20, 0x1a]) this.#kinds[byte] = 1
    // First and further bytes of the white space beyond ASCII.
    for (const byte of [0xc2, 0xe1, 0xe2, 0xe3, 0xef]) this.#kinds[byte] = 2
    for (let byte = 0x80; byte < 0xc0; byte++) this.#kinds[byte] = 2
    for (const byte of Buffer.from(syntax.delimiter, 'utf8')) this.#kinds[byte] = byte < 0x80 ? 1 : 2
    if (syntax.quote !== undefined) this.#kinds[syntax.quote.charCodeAt(0)] = 2
  }

  isBlank(bytes: Buffer): boolean {
    let certain = true
    for (let at = 0; at < bytes.length; at++) {
      const kind = this.#kinds[bytes[at] as number]
      if (kind === 0) return false
      if (kind === 2) certain = false
    }
    return certain || this.#cells.readAll(bytes).every((cell) => cell.trim() === '')
  }
}
