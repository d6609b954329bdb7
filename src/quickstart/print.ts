import { styleText } from 'node:util'
import { safeLine, safeLines } from '../lib/terminal-text.ts'

// All that the quickstart's second stage writes goes through this file.

export function printTitle(text: string): void {
  // Bold where the terminal can and NO_COLOR does not forbid it.
  process.stdout.write(`\n${styleText('bold', safeLine(text), { stream: process.stdout })}\n`)
}

/** Names at the left, texts in one column beside them. */
export function printTable(rows: readonly (readonly [string, string])[]): void {
  const width = Math.max(...rows.map(([name]) => name.length))
  for (const [name, text] of rows) printText(`  ${name.padEnd(width)}  ${text}`)
}

export function printText(text: string): void {
  process.stdout.write(`${safeLines(text)}\n`)
}

export function count(value: number): string {
  return value.toLocaleString('en')
}

/** Tells when nobody reads standard output any more. */
export function onUnread(listener: () => void): void {
  process.stdout.on('error', listener)
}

/** A person watches what comes on standard error. */
export function isWatched(): boolean {
  return process.stderr.isTTY === true
}

/** Why it ends, on standard error. */
export function printFailure(text: string): void {
  process.stderr.write(`${safeLines(text)}\n`)
}
