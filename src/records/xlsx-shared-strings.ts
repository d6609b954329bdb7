import { NumberList } from '../lib/number-list.ts'
import { type FileSource, fileRefusal } from './read-file.ts'
import { damagedWorkbook, type PartHandler } from './xlsx-part.ts'
import { plainText } from './xlsx-text.ts'
import type { ZipMember } from './zip-member.ts'

const blockBytes = 2 ** 20
/** Excel itself allows 32,767 characters in a cell. */
const stringBytesMax = 2 ** 18
/** Held in memory as a whole, since cells refer to them in any order. */
const totalBytesMax = 64 * 2 ** 20
const countMax = 4_000_000
/** Of its XML: what becomes more texts than are held is refused before it is parsed, which takes seconds. */
const partBytesMax = 96 * 2 ** 20
/** Each text stands there once, so that it compresses less than anything else. */
const ratioMax = 50
const suspiciousBytes = 16 * 2 ** 20

/** The texts that cells refer to by number: UTF-8 in blocks outside of the heap, none of them across two blocks. */
export class SharedStrings implements PartHandler {
  readonly #source: FileSource
  readonly #blocks: Buffer[] = []
  #used = blockBytes
  readonly #places = new NumberList((length) => new Uint32Array(length))
  readonly #lengths = new NumberList((length) => new Uint32Array(length))
  #count = 0
  #longest = 0
  #text: string | undefined
  #isReading = false
  #phonetic = 0

  constructor(source: FileSource) {
    this.#source = source
  }

  get longest(): number {
    return this.#longest
  }

  /** Throws FileRefusedError for what is better not read, by what the archive says of it. */
  check({ bytes, compressedBytes }: Pick<ZipMember, 'bytes' | 'compressedBytes'>): void {
    const isBomb = bytes > suspiciousBytes && bytes > ratioMax * compressedBytes
    if (isBomb) throw this.#tooMuch(`${bytes} bytes of texts in ${compressedBytes}`)
    if (bytes > partBytesMax) throw this.#tooMuch('more than 96 MB of texts with their tags')
  }

  /** Throws FileRefusedError when there is no such text. */
  get(index: number): string {
    if (!(Number.isInteger(index) && index >= 0 && index < this.#count)) {
      throw damagedWorkbook(this.#source, `a cell refers to text ${index} of ${this.#count}`)
    }
    const place = this.#places.get(index)
    const start = place % blockBytes
    const block = this.#blocks[Math.floor(place / blockBytes)] as Buffer
    return block.toString('utf8', start, start + this.#lengths.get(index))
  }

  open(name: string): void {
    if (name === 'si') this.#text = ''
    if (name === 'rPh') this.#phonetic += 1
    this.#isReading = name === 't' && this.#phonetic === 0
  }

  text(text: string): void {
    if (this.#isReading && this.#text !== undefined) this.#text += text
    if ((this.#text?.length ?? 0) > stringBytesMax)
      throw this.#tooMuch('a text with more than 260,000 characters')
  }

  close(name: string): void {
    this.#isReading = false
    if (name === 'rPh') this.#phonetic -= 1
    if (name !== 'si' || this.#text === undefined) return
    this.#add(Buffer.from(plainText(this.#text), 'utf8'))
    this.#text = undefined
  }

  #add(bytes: Buffer): void {
    if (bytes.length > blockBytes) throw this.#tooMuch('a text with more than 1 MB')
    // Also where an empty text comes first.
    if (this.#blocks.length === 0 || this.#used + bytes.length > blockBytes) {
      if ((this.#blocks.length + 1) * blockBytes > totalBytesMax)
        throw this.#tooMuch('more than 64 MB of texts')
      this.#blocks.push(Buffer.allocUnsafeSlow(blockBytes))
      this.#used = 0
    }
    if (this.#count >= countMax) throw this.#tooMuch('more than 4,000,000 texts')
    const block = this.#blocks.length - 1
    bytes.copy(this.#blocks[block] as Buffer, this.#used)
    this.#places.set(this.#count, block * blockBytes + this.#used)
    this.#lengths.set(this.#count, bytes.length)
    this.#longest = Math.max(this.#longest, bytes.length)
    this.#used += bytes.length
    this.#count += 1
  }

  #tooMuch(found: string): Error {
    return fileRefusal({
      name: this.#source.name,
      code: 'spreadsheet-too-large',
      found: `the spreadsheet holds ${found}`,
      hint: 'Export CSV, which may be of any size, or several smaller spreadsheets',
    })
  }
}
