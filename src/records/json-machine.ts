import { expectations, followingState, isDigit, isEndOfNumber, type Next, next } from './json-states.ts'
import { depthMax } from './limits.ts'

/** Told about values as they begin and end; `at` is a position in the piece. Depth counts the containers around a value. */
export interface JsonListener {
  key(start: number, end: number, depth: number): void
  begin(at: number, depth: number, kind: 'object' | 'array' | 'scalar'): void
  /** `end` is behind the value's last byte. */
  ended(end: number, depth: number): void
}

const objectMark = 1
const arrayMark = 2
const words = new Map(['true', 'false', 'null'].map((word) => [word.charCodeAt(0), Buffer.from(word)]))
const escapes = new Set(Buffer.from('"\\/bfnrtu'))

/**
 * Checks JSON byte by byte exactly as JSON.parse does, wherever the pieces are cut: it is in one of the states of
 * `next`, with the open objects and arrays on `#open`. Bytes of texts beyond ASCII are taken as they are.
 */
export class JsonMachine {
  readonly #listener: JsonListener
  readonly #open = new Uint8Array(depthMax)
  #depth = 0
  #next: Next = next.value
  #word: Buffer = Buffer.alloc(0)
  #wordAt = 0
  #isKey = false
  #keyStart = 0
  #line = 1
  /** Where the line begins, and how many of its bytes so far only continue a character. */
  #lineStart = 0
  #continued = 0

  constructor(listener: JsonListener) {
    this.#listener = listener
  }

  get line(): number {
    return this.#line
  }

  /** In characters, from 1. */
  columnAt(at: number): number {
    return at - this.#lineStart - this.#continued + 1
  }

  get depth(): number {
    return this.#depth
  }

  get isTooDeep(): boolean {
    return this.#depth === depthMax
  }

  /** Where the key begins that has not ended yet. */
  get openKey(): number | undefined {
    return this.#isKey && this.#next >= next.string && this.#next <= next.hex ? this.#keyStart : undefined
  }

  get isComplete(): boolean {
    return this.#next === next.nothing
  }

  get expected(): string {
    return expectations[this.#next]
  }

  /** All positions lose `start`. */
  shift(start: number): void {
    this.#lineStart -= start
    this.#keyStart -= start
  }

  /** Takes the text from `from` to its end. Returns where the byte stands that is no JSON, or -1. */
  take(text: Buffer, from: number): number {
    for (let at = from; at < text.length; ) {
      const byte = text[at] as number
      if (this.#next === next.string) {
        const stop = this.#inString(text, at)
        if (stop < 0) return -stop - 1
        at = stop
        continue
      }
      if (this.#next < next.string || this.#next === next.nothing) {
        if (byte === 0x20 || byte === 0x09 || byte === 0x0d || byte === 0x0a) {
          at += 1
          if (byte === 0x0a) this.#newLine(at)
          continue
        }
        if (!this.#structure(byte, at)) return at
        at += 1
        continue
      }
      if (this.#next >= next.minus) {
        const consumed = this.#number(byte)
        if (consumed === 'wrong') return at
        if (consumed === 'byte') at += 1
        else this.#ended(at)
        continue
      }
      if (!this.#inside(byte)) return at
      at += 1
      if (this.#next === next.literal && this.#wordAt === this.#word.length) this.#ended(at)
    }
    return -1
  }

  /** The text is over: a number at the root ends. False when it ends too early. */
  end(at: number): boolean {
    if (this.#depth === 0 && isEndOfNumber(this.#next)) this.#ended(at)
    return this.isComplete
  }

  #newLine(start: number): void {
    this.#line += 1
    this.#lineStart = start
    this.#continued = 0
  }

  #structure(byte: number, at: number): boolean {
    switch (this.#next) {
      case next.value:
        return this.#value(byte, at)
      case next.valueOrEnd:
        return byte === 0x5d ? this.#close(byte, at) : this.#value(byte, at)
      case next.keyOrEnd:
        return byte === 0x7d ? this.#close(byte, at) : this.#key(byte, at)
      case next.key:
        return this.#key(byte, at)
      case next.colon:
        this.#next = next.value
        return byte === 0x3a
      case next.commaOrEnd:
        if (byte !== 0x2c) return this.#close(byte, at)
        this.#next = this.#open[this.#depth - 1] === objectMark ? next.key : next.value
        return true
      default:
        return false
    }
  }

  #key(byte: number, at: number): boolean {
    if (byte !== 0x22) return false
    this.#isKey = true
    this.#keyStart = at
    this.#next = next.string
    return true
  }

  #value(byte: number, at: number): boolean {
    if (byte === 0x7b || byte === 0x5b) return this.#openContainer(byte, at)
    const state = this.#scalar(byte)
    if (state === undefined) return false
    this.#listener.begin(at, this.#depth, 'scalar')
    this.#next = state
    return true
  }

  #scalar(byte: number): Next | undefined {
    if (byte === 0x22) {
      this.#isKey = false
      return next.string
    }
    if (byte === 0x2d) return next.minus
    if (byte === 0x30) return next.zero
    if (byte >= 0x31 && byte <= 0x39) return next.whole
    const word = words.get(byte)
    if (word === undefined) return undefined
    this.#word = word
    this.#wordAt = 1
    return next.literal
  }

  #openContainer(byte: number, at: number): boolean {
    if (this.#depth === depthMax) return false
    const isObject = byte === 0x7b
    this.#listener.begin(at, this.#depth, isObject ? 'object' : 'array')
    this.#open[this.#depth++] = isObject ? objectMark : arrayMark
    this.#next = isObject ? next.keyOrEnd : next.valueOrEnd
    return true
  }

  #close(byte: number, at: number): boolean {
    if (this.#depth === 0 || byte !== (this.#open[this.#depth - 1] === objectMark ? 0x7d : 0x5d)) return false
    this.#depth -= 1
    this.#ended(at + 1)
    return true
  }

  #ended(end: number): void {
    this.#next = this.#depth === 0 ? next.nothing : next.commaOrEnd
    this.#listener.ended(end, this.#depth)
  }

  /** Returns where it stopped; a wrong byte at `n` gives `-n - 1`. */
  #inString(text: Buffer, from: number): number {
    for (let at = from; at < text.length; at++) {
      const byte = text[at] as number
      if (byte >= 0x80) {
        if (byte < 0xc0) this.#continued += 1
      } else if (byte === 0x22) {
        if (this.#isKey) {
          this.#next = next.colon
          this.#listener.key(this.#keyStart, at + 1, this.#depth)
        } else this.#ended(at + 1)
        return at + 1
      } else if (byte === 0x5c) {
        this.#next = next.escape
        return at + 1
      } else if (byte < 0x20) return -at - 1
    }
    return text.length
  }

  /** Of an escape or one of the three words. */
  #inside(byte: number): boolean {
    switch (this.#next) {
      case next.escape:
        this.#next = byte === 0x75 ? next.hex : next.string
        this.#wordAt = 0
        return escapes.has(byte)
      case next.hex:
        this.#wordAt += 1
        if (this.#wordAt === 4) this.#next = next.string
        return isDigit(byte) || ((byte | 0x20) >= 0x61 && (byte | 0x20) <= 0x66)
      default:
        return byte === this.#word[this.#wordAt++]
    }
  }

  #number(byte: number): 'byte' | 'end' | 'wrong' {
    const digit = isDigit(byte)
    const following = followingState(this.#next, byte, digit)
    if (following !== undefined) {
      this.#next = following
      return 'byte'
    }
    // A digit behind a leading zero is found to be wrong as what follows the number.
    return isEndOfNumber(this.#next) ? 'end' : 'wrong'
  }
}
