/** Not tabs and the ends of lines, which separate rather than belong to a name. */
const blank = /[^\S\t\r\n\v\f\u2028\u2029]/g
const address = /^https?:/i
const several = /\shttps?:/i

/** An address as browsers read it, which write blanks inside as `%20`; several of them in one text stay what they are. */
export function encodeBlanks(text: string): string {
  const trimmed = text.trim()
  if (!address.test(trimmed) || several.test(trimmed)) return text
  return trimmed.replace(blank, encodeURIComponent)
}
