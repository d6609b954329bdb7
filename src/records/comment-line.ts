const mostBytes = 2 ** 16
const quoted = /"(?:[^"]|"")*"/g

/** A first line that only says what the columns below it are for, as templates of Meta have it: all cells begin with `# `. */
export function isCommentLine(line: Buffer, delimiter: string): boolean {
  if (line.length > mostBytes || !/^"?# /.test(line.toString('latin1', 0, 3))) return false
  const cells = line
    .toString('utf8')
    .replace(quoted, (cell) => cell.slice(1, -1).replaceAll(delimiter, ' '))
    .split(delimiter)
    .filter((cell) => cell.trim() !== '')
  return cells.length > 1 && cells.every((cell) => cell.startsWith('# '))
}
