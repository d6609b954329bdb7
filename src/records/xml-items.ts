import type { SaxesAttributeNS, SaxesTagNS } from 'saxes'
import { columnsMax as partsMax } from './limits.ts'
import { Repeated } from './repeated.ts'
import { atomKeyOf, isAtom, keyOf, type XmlName } from './xml-names.ts'

export type XmlObject = Record<string, unknown>

interface OpenElement {
  key: string
  /** Undefined while there is nothing but text. */
  object: XmlObject | undefined
  hasChildren: boolean
  text: string
}

/**
 * Builds the object of a record from a parser's events. Child elements become keys, attributes `@name`; an element
 * with neither becomes its text, else its text is `#text`; elements of one name become a `Repeated`.
 */
export class XmlItem {
  readonly #nameOf: (name: XmlName) => string
  readonly #open: OpenElement[] = []
  #parts = 0
  #item: XmlObject | Error | undefined

  constructor(tag: SaxesTagNS) {
    this.#nameOf = isAtom(tag) ? atomKeyOf : keyOf
    this.open(tag)
  }

  /** The whole record, after its end tag; an error when it has too many parts. */
  get item(): XmlObject | Error | undefined {
    return this.#item
  }

  open(tag: SaxesTagNS): void {
    const element: OpenElement = { key: this.#nameOf(tag), object: undefined, hasChildren: false, text: '' }
    this.#open.push(element)
    if (!this.#count()) return
    for (const attribute of Object.values(tag.attributes)) this.#addAttribute(element, attribute)
  }

  text(text: string): void {
    const element = this.#open.at(-1)
    if (element !== undefined) element.text += text
  }

  close(): void {
    const element = this.#open.pop()
    if (element === undefined) return
    const parent = this.#open.at(-1)
    if (parent === undefined) {
      this.#item = this.#isTooLarge ? tooManyParts() : objectOf(element)
    } else if (!this.#isTooLarge) {
      parent.object ??= {}
      parent.hasChildren = true
      addValue(parent.object, element.key, contentOf(element))
    }
  }

  get #isTooLarge(): boolean {
    return this.#parts > partsMax
  }

  #count(): boolean {
    this.#parts += 1
    return !this.#isTooLarge
  }

  #addAttribute(element: OpenElement, attribute: SaxesAttributeNS): void {
    if (attribute.prefix === 'xmlns' || attribute.name === 'xmlns' || !this.#count()) return
    element.object ??= {}
    addValue(element.object, `@${this.#nameOf(attribute)}`, attribute.value)
  }
}

function tooManyParts(): Error {
  return new Error(`has more than ${partsMax} elements and attributes`)
}

function contentOf(element: OpenElement): unknown {
  return element.object === undefined ? element.text : objectOf(element)
}

/** The white space between child elements is no text. */
function objectOf({ object = {}, hasChildren, text }: OpenElement): XmlObject {
  if (!hasChildren || /[^ \t\r\n]/.test(text)) addValue(object, '#text', text)
  return object
}

function addValue(object: XmlObject, key: string, value: unknown): void {
  if (!Object.hasOwn(object, key)) {
    // A plain assignment to `__proto__` would change what the object inherits.
    Object.defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true })
    return
  }
  const found = object[key]
  if (found instanceof Repeated) found.push(value)
  else object[key] = Repeated.of(found, value)
}
