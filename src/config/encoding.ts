import type { Encoding } from './model.ts'

/** Labels as people write them; Latin-1 means Windows-1252 here as on the web, which differs only in control codes. */
const encodings: ReadonlyMap<string, Encoding> = new Map([
  ['utf-8', 'utf-8'],
  ['utf8', 'utf-8'],
  ['utf-16le', 'utf-16le'],
  ['utf-16be', 'utf-16be'],
  ['windows-1252', 'windows-1252'],
  ['cp1252', 'windows-1252'],
  ['iso-8859-1', 'windows-1252'],
  ['latin1', 'windows-1252'],
])

export const encodingNames: readonly string[] = [...new Set(encodings.values())]

export function encodingOf(label: string): Encoding | undefined {
  return encodings.get(label.toLowerCase())
}
