/** Not in the host, where a blank is no name of a server's. */
const address = /^(https?:\/\/[^\s/?#\\]+)([/?#].*)$/is
const several = /\shttps?:/i

/**
 * An address as browsers read it, which write spaces inside as `%20`; several of them in one text stay what they are.
 * Only the space separators of Unicode: tabs and the ends of lines separate, and marks without a width are damage.
 */
export function encodeBlanks(text: string): string {
  if (!/\s/.test(text)) return text
  const [, host, rest] = address.exec(text.trim()) ?? []
  if (host === undefined || rest === undefined || several.test(rest)) return text
  return host + rest.replace(/\p{Zs}/gu, encodeURIComponent)
}
