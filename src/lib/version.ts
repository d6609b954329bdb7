import { readFileSync } from 'node:fs'

/** The version in package.json, from a checkout and from the built package alike. */
export function readVersion(): string {
  const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8')
  return (JSON.parse(text) as { version: string }).version
}
