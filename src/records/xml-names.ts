import { SaxesParser } from 'saxes'

/** What an element inherits from those around it. Elements with the same surroundings share one object. */
export interface XmlScope {
  /** Of the XML declaration: XML 1.1 allows and normalises other characters. */
  version: string
  /** Addresses of the namespaces by prefix; `""` is the default one. */
  namespaces: Readonly<Record<string, string>>
}

/** The parts of a saxes tag or attribute that name it. */
export interface XmlName {
  prefix: string
  local: string
  uri: string
}

const googleNamespace = /^https?:\/\/base\.google\.com\/ns\/1\.0\/?$/
const atomNamespace = 'http://www.w3.org/2005/Atom'

/** Google's names always begin with `g:`, names without a prefix have none, others keep the file's prefix. */
export function keyOf({ prefix, local, uri }: XmlName): string {
  if (googleNamespace.test(uri)) return `g:${local}`
  return prefix === '' ? local : `${prefix}:${local}`
}

/** Atom's own names have no prefix either: of the elements around the records, and inside of an Atom entry. */
export function atomKeyOf(name: XmlName): string {
  return isAtom(name) ? name.local : keyOf(name)
}

export function isAtom({ uri }: Pick<XmlName, 'uri'>): boolean {
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
