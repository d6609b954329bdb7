import { SaxesParser, type SaxesTagNS } from 'saxes'
import { Repeated } from '../../src/records/repeated.ts'

interface Element {
  tag: SaxesTagNS
  children: Element[]
  text: string
}

interface Name {
  uri: string
  prefix: string
  local: string
}

const google = [
  'http://base.google.com/ns/1.0',
  'https://base.google.com/ns/1.0',
  'http://base.google.com/ns/1.0/',
]
const atom = 'http://www.w3.org/2005/Atom'

/** The records of a document by one parser over the whole of it; undefined where it is not well-formed or has a DOCTYPE. */
export function readXmlWhole(text: string, path: string): unknown[] | undefined {
  const root = treeOf(text)
  return root && elementsAt(root, path.split('/')).map((element) => objectOf(element, isAtom(element.tag)))
}

function treeOf(text: string): Element | undefined {
  const parser = new SaxesParser({ xmlns: true })
  const open: Element[] = []
  let root: Element | undefined
  parser.on('error', (error) => {
    throw error
  })
  parser.on('doctype', () => {
    throw new Error('it has a DOCTYPE')
  })
  parser.on('opentag', (tag) => {
    const element = { tag, children: [], text: '' }
    open.at(-1)?.children.push(element)
    root ??= element
    open.push(element)
  })
  parser.on('closetag', () => {
    open.pop()
  })
  const take = (piece: string) => {
    const element = open.at(-1)
    if (element) element.text += piece
  }
  parser.on('text', take)
  parser.on('cdata', take)
  try {
    // The parser drops one byte order mark, which the text is without.
    parser.write(`\ufeff${text}`).close()
    return root
  } catch {
    return undefined
  }
}

function elementsAt(element: Element, [name, ...rest]: readonly string[]): Element[] {
  if (nameOf(element.tag, true) !== name) return []
  return rest.length === 0 ? [element] : element.children.flatMap((child) => elementsAt(child, rest))
}

function isAtom({ uri }: Name): boolean {
  return uri === atom
}

function nameOf({ uri, prefix, local }: Name, inAtom: boolean): string {
  if (google.includes(uri)) return `g:${local}`
  return prefix === '' || (inAtom && uri === atom) ? local : `${prefix}:${local}`
}

function objectOf({ tag, children, text }: Element, inAtom: boolean): Record<string, unknown> {
  const values: [string, unknown][] = [
    ...Object.values(tag.attributes)
      .filter(({ name }) => name !== 'xmlns' && !name.startsWith('xmlns:'))
      .map((attribute): [string, unknown] => [`@${nameOf(attribute, inAtom)}`, attribute.value]),
    ...children.map((child): [string, unknown] => [nameOf(child.tag, inAtom), contentOf(child, inAtom)]),
  ]
  if (children.length === 0 || /[^ \t\r\n]/.test(text)) values.push(['#text', text])
  const found = new Map<string, unknown[]>()
  for (const [key, value] of values) found.set(key, [...(found.get(key) ?? []), value])
  return Object.fromEntries(
    [...found].map(([key, all]) => [key, all.length === 1 ? all[0] : Repeated.from(all)]),
  )
}

/** An element with nothing but text is its text. */
function contentOf(element: Element, inAtom: boolean): unknown {
  const isPlain =
    element.children.length === 0 &&
    Object.values(element.tag.attributes).every(({ name }) => name === 'xmlns' || name.startsWith('xmlns:'))
  return isPlain ? element.text : objectOf(element, inAtom)
}
