import { type SaxesAttributeNS, SaxesParser, type SaxesTagNS } from 'saxes'
import { columnsMax as partsMax } from './limits.ts'
import { Repeated } from './repeated.ts'

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
    if (key === '__proto__')
      Object.defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true })
    else object[key] = value
    return
  }
  const found = object[key]
  if (found instanceof Repeated) found.push(value)
  else object[key] = Repeated.of(found, value)
}

/** What an element inherits from those around it. Elements with the same surroundings share one object. */
export interface XmlScope {
  /** Of the XML declaration: XML 1.1 allows and normalises other characters. */
  version: string
  /** Addresses of the namespaces by prefix; `""` is the default one. */
  namespaces: Readonly<Record<string, string>>
}

/** The parts of a saxes tag or attribute that name it. */
interface XmlName {
  prefix: string
  local: string
  uri: string
}

const googleNamespace = /^https?:\/\/base\.google\.com\/ns\/1\.0\/?$/
const atomNamespace = 'http://www.w3.org/2005/Atom'

/** Google's names always begin with `g:`, names without a prefix have none, others keep the file's prefix. */
function keyOf({ prefix, local, uri }: XmlName): string {
  if (googleNamespace.test(uri)) return `g:${local}`
  return prefix === '' ? local : `${prefix}:${local}`
}

/** Atom's own names have no prefix either: of the elements around the records, and inside of an Atom entry. */
export function atomKeyOf(name: XmlName): string {
  return isAtom(name) ? name.local : keyOf(name)
}

function isAtom({ uri }: Pick<XmlName, 'uri'>): boolean {
  return uri === atomNamespace
}

/** XML 1.1 has two line ends more; none of these is ever part of a name. */
const startTagName = /^<([^ \t\r\n\u0085\u2028/>]+)/

/** What a start tag is called, and what its children inherit. The tag has been found well-formed. */
export function readStartTag(tag: string, scope: XmlScope): { name: string; key: string; scope: XmlScope } {
  const name = startTagName.exec(tag)?.[1] ?? ''
  const namespaces = tag.includes('xmlns')
    ? { ...scope.namespaces, ...declaredIn(tag, scope) }
    : scope.namespaces
  const colon = name.indexOf(':')
  const prefix = colon < 0 ? '' : name.slice(0, colon)
  const uri = Object.hasOwn(namespaces, prefix) ? namespaces[prefix] : undefined
  const key = atomKeyOf({ prefix, local: name.slice(colon + 1), uri: uri ?? '' })
  return { name, key, scope: namespaces === scope.namespaces ? scope : { ...scope, namespaces } }
}

function declaredIn(tag: string, scope: XmlScope): Readonly<Record<string, string>> {
  const parser = openParser(scope)
  let declared: Readonly<Record<string, string>> = {}
  parser.on('opentag', (opened) => {
    declared = opened.ns
  })
  parser.write(tag)
  return declared
}

/** A parser of elements that stand within `scope`. It throws at the first error. */
export function openParser({ version, namespaces }: XmlScope): SaxesParser<{ xmlns: true }> {
  const defaultXMLVersion = version === '1.0' ? '1.0' : '1.1'
  return new SaxesParser({
    xmlns: true,
    position: false,
    additionalNamespaces: { ...namespaces },
    defaultXMLVersion,
    forceXMLVersion: true,
  })
}
