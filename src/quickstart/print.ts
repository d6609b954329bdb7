import { styleText } from 'node:util'

export function printTitle(text: string): void {
  // Bold where the terminal can and NO_COLOR does not forbid it.
  printText(`\n${styleText('bold', text, { stream: process.stdout })}`)
}

/** Names at the left, texts in one column beside them. */
export function printTable(rows: readonly (readonly [string, string])[]): void {
  const width = Math.max(...rows.map(([name]) => name.length))
  for (const [name, text] of rows) printText(`  ${name.padEnd(width)}  ${text}`)
}

export function printText(text: string): void {
  process.stdout.write(`${text}\n`)
}
