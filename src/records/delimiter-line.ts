const mostBytes = 16

/** The delimiter that a first line `sep=;` names: Excel reads such a line, and exports made for it begin with one. */
export function delimiterLine(line: Buffer): string | undefined {
  if (line.length > mostBytes) return undefined
  return /^"?sep=([^\r\n"'])"?$/iu.exec(line.toString('utf8'))?.[1]
}
