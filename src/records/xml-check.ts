import { StringDecoder } from 'node:string_decoder'
import { SaxesParser, type SaxesTagNS } from 'saxes'
import { depthMax } from './limits.ts'
import { fileRefusal } from './read-file.ts'
import { atomKeyOf, XmlItem, type XmlObject } from './xml-items.ts'

const attributesMax = 1000

/**
 * Reads a whole document with an XML parser, piece by piece: finds it well-formed or refuses the file, and builds the
 * records at the path, so that the first pass knows their ids.
 */
export class XmlCheck {
  readonly #name: string
  readonly #path: string
  readonly #parser = new SaxesParser({ xmlns: true })
  readonly #decoder = new StringDecoder('utf8')
  readonly #ampersands = new StrayAmpersand()
  readonly #keys: string[] = []
  #depth = 0
  #attributes = 0
  #item: XmlItem | undefined
  #itemDepth = 0
  #items: (XmlObject | Error)[] = []
  /** What the text ends with: a document cut off lacks the end tag of its root. */
  #tail = ''
  #root = ''

  constructor(name: string, path: string) {
    this.#name = name
    this.#path = path
    const parser = this.#parser
    // Six at most: with a seventh V8 keeps the parser as a hash table, and it takes four times as long.
    parser.on('error', (error) => {
      throw this.#notWellFormed(error.message)
    })
    parser.on('attribute', () => this.#countAttribute())
    parser.on('opentag', (tag) => this.#open(tag))
    parser.on('text', (text) => this.#item?.text(text))
    parser.on('cdata', (text) => this.#item?.text(text))
    parser.on('closetag', () => this.#close())
    // The text comes without its byte order mark, and the parser would drop another one.
    parser.write('\ufeff')
  }

  write(piece: Buffer): void {
    this.#write(this.#ampersands.take(this.#decoder.write(piece)))
  }

  /** `unfinished` names what never ends. */
  end(unfinished: string | undefined): void {
    this.#write(this.#ampersands.take(this.#decoder.end()))
    this.#write(this.#ampersands.end())
    const complete = this.#root !== '' && this.#tail.trimEnd().endsWith(`</${this.#root}>`)
    if (this.#depth === 0 && unfinished === undefined) {
      this.#parser.close()
      return
    }
    const open = this.#keys.at(-1)
    const found = unfinished ?? `the element ${open} is never closed`
    throw fileRefusal({
      name: this.#name,
      code: complete ? 'not-well-formed' : 'truncated',
      found: `${this.#place}: the XML ends, but ${found}`,
      hint: complete
        ? 'Correct the XML, or export it again with an XML library: nothing of a broken file is applied'
        : 'The file was cut off: export it again and rename it into place when it is complete',
    })
  }

  /** The records that have ended since the last call, in order. An error: the record is rejected. */
  takeItems(): (XmlObject | Error)[] {
    const items = this.#items
    this.#items = []
    return items
  }

  get #place(): string {
    const { line, column } = this.#parser
    return `line ${line}, column ${line === 1 ? column - 1 : column}`
  }

  #write({ text, isStray }: { text: string; isStray: boolean }): void {
    if (text !== '') this.#parser.write(text)
    if (isStray) {
      this.#parser.column += 1
      throw this.#notWellFormed('found & where no entity begins')
    }
    this.#tail = (this.#tail + text.slice(-500)).slice(-500)
  }

  #countAttribute(): void {
    this.#attributes += 1
    if (this.#attributes > attributesMax)
      throw this.#tooMuch(`an element has more than ${attributesMax} attributes`)
  }

  #open(tag: SaxesTagNS): void {
    this.#attributes = 0
    if (this.#depth === 0) this.#root = tag.name
    this.#depth += 1
    if (this.#depth > depthMax) throw this.#tooMuch(`more than ${depthMax} elements lie in each other`)
    this.#keys.push(atomKeyOf(tag))
    if (this.#item !== undefined) {
      this.#item.open(tag)
    } else if (this.#keys.join('/') === this.#path) {
      this.#item = new XmlItem(tag)
      this.#itemDepth = this.#depth
    }
  }

  #close(): void {
    this.#item?.close()
    if (this.#item !== undefined && this.#depth === this.#itemDepth) {
      this.#items.push(this.#item.item as XmlObject | Error)
      this.#item = undefined
    }
    this.#keys.pop()
    this.#depth -= 1
  }

  #tooMuch(found: string): Error {
    return fileRefusal({
      name: this.#name,
      code: 'too-deep',
      found: `${this.#place}: ${found}`,
      hint: 'No product feed needs that: check where the file comes from',
    })
  }

  #notWellFormed(message: string): Error {
    const what = message.replace(/^\d+:\d+: /, '').replace(/\.$/, '')
    return fileRefusal({
      name: this.#name,
      code: 'not-well-formed',
      found: `${this.#place}: ${what}`,
      hint: hintFor(what),
    })
  }
}

function hintFor(what: string): string {
  const prefix = /^unbound namespace prefix: "(.*)"/.exec(what)?.[1]
  const again = 'Correct the XML, or export it again with an XML library: nothing of a broken file is applied'
  if (what.startsWith('found &')) return 'Write &amp; where an ampersand is meant, or put the text into CDATA'
  if (prefix === undefined) return again
  const address = prefix === 'g' ? 'http://base.google.com/ns/1.0' : '…'
  return `Declare the prefix in the root element: xmlns:${prefix}="${address}"`
}

const openings = /&|<!--|<!\[CDATA\[|<\?/g
const reference = /^&[^\s<>&;"'=/?%+]{1,1000};/
/** What a text may end with that further text completes to an opening or a reference. */
const unfinished = /(?:&[^\s<>&;"'=/?%+]{0,1000}|<(?:!(?:-|\[(?:C(?:D(?:A(?:T(?:A)?)?)?)?)?)?)?)$/

const closings: Readonly<Record<string, string>> = { '<!--': '-->', '<![CDATA[': ']]>', '<?': '?>' }

/**
 * Finds an `&` that begins no reference, the most frequent error of hand-made XML: parsers go on to the next semicolon
 * and name the wrong place. Outside of comments, CDATA and instructions, where it is a character like any other.
 */
class StrayAmpersand {
  #held = ''
  /** What ends the comment, CDATA or instruction that the text is in. */
  #closing: string | undefined

  /** The text to parse next; `isStray`: behind it stands such an `&`. */
  take(piece: string): { text: string; isStray: boolean } {
    const text = this.#held + piece
    this.#held = ''
    for (let at = 0; ; ) {
      if (this.#closing !== undefined) {
        const end = text.indexOf(this.#closing, at)
        if (end < 0) return this.#hold(text, Math.max(at, text.length - this.#closing.length + 1))
        at = end + this.#closing.length
        this.#closing = undefined
      }
      openings.lastIndex = at
      const opening = openings.exec(text)
      const found = opening?.index ?? text.length
      const tail = unfinished.exec(text.slice(Math.max(at, text.length - 1002)))
      const held = tail === null ? text.length : text.length - tail[0].length
      if (held <= found) return this.#hold(text, held)
      if (opening?.[0] === '&') {
        const length = reference.exec(text.slice(found, found + 1003))?.[0].length
        if (length === undefined) return { text: text.slice(0, found), isStray: true }
        at = found + length
      } else {
        this.#closing = closings[opening?.[0] ?? '']
        at = found + (opening?.[0].length ?? 0)
      }
    }
  }

  /** What was held back for a further piece. */
  end(): { text: string; isStray: boolean } {
    const isStray = this.#closing === undefined && this.#held.startsWith('&')
    return { text: isStray ? '' : this.#held, isStray }
  }

  #hold(text: string, from: number): { text: string; isStray: boolean } {
    this.#held = text.slice(from)
    return { text: text.slice(0, from), isStray: false }
  }
}
