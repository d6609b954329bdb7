/** A piece of markup, from its `<` to behind its `>`. */
export interface XmlToken {
  kind: 'start' | 'end' | 'comment' | 'cdata' | 'instruction' | 'doctype'
  start: number
  /** -1: the text ends before the token does. */
  end: number
}

const comment = { kind: 'comment', from: Buffer.from('<!--'), until: Buffer.from('-->') } as const
const cdata = { kind: 'cdata', from: Buffer.from('<![CDATA['), until: Buffer.from(']]>') } as const
const instructionEnd = Buffer.from('?>')

const [bang, slash, greater, question, doubleQuote, singleQuote] = [0x21, 0x2f, 0x3e, 0x3f, 0x22, 0x27]

/**
 * The token that begins at `start`, where a `<` stands in well-formed content. Undefined: the text ends before it shows
 * of what kind it is. Whoever calls has the text checked by an XML parser first: anything that begins like a
 * declaration but is neither comment nor CDATA is called a DOCTYPE. `seen`: up to where the text was searched in vain.
 */
export function readToken(text: Buffer, start: number, seen = start): XmlToken | undefined {
  switch (text[start + 1]) {
    case undefined:
      return undefined
    case slash: {
      const at = text.indexOf(greater, Math.max(start + 2, seen))
      return { kind: 'end', start, end: at < 0 ? -1 : at + 1 }
    }
    case question: {
      const at = text.indexOf(instructionEnd, Math.max(start + 2, seen - 1))
      return { kind: 'instruction', start, end: at < 0 ? -1 : at + 2 }
    }
    case bang:
      return readDeclaration(text, start, seen)
    default:
      return { kind: 'start', start, end: endOfStartTag(text, start) }
  }
}

function readDeclaration(text: Buffer, start: number, seen: number): XmlToken | undefined {
  for (const { kind, from, until } of [comment, cdata]) {
    const length = Math.min(from.length, text.length - start)
    if (from.compare(text, start, start + length, 0, length) !== 0) continue
    if (length < from.length) return undefined
    const at = text.indexOf(until, Math.max(start + from.length, seen - 2))
    return { kind, start, end: at < 0 ? -1 : at + until.length }
  }
  return { kind: 'doctype', start, end: -1 }
}

/** Attribute values may hold `>`, but no quote of their own kind. */
function endOfStartTag(text: Buffer, start: number): number {
  // A tag of megabytes that has not ended is looked at anew with every chunk: quickly.
  if (text.indexOf(greater, start + 1) < 0) return -1
  for (let at = start + 1; at < text.length; at++) {
    const byte = text[at]
    if (byte === greater) return at + 1
    if (byte !== doubleQuote && byte !== singleQuote) continue
    at = text.indexOf(byte, at + 1)
    if (at < 0) return -1
  }
  return -1
}
