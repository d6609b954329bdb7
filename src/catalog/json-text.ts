import { parsedOf } from '../lib/parsed-of.ts'
import { Problem } from './problem.ts'

/** The text of a JSON value, or the texts of its list, one a line; undefined where there is none. What is no JSON stays. */
export function jsonText(value: unknown, describe: (value: unknown) => string): unknown {
  if (typeof value !== 'string' || !/^\s*(?:["[{]|null\s*$)/.test(value)) return value
  const parsed = parsedOf(value)
  if (parsed === undefined) return value
  const texts = [parsed].flat().filter((element) => element !== null)
  if (texts.some((element) => typeof element === 'object')) {
    const found = `found ${describe(value)}, whose JSON holds more than texts`
    return new Problem('not-text', { found, remedy: 'take out what you need with pattern' })
  }
  return (
    texts
      .map((element) => String(element).trim())
      .filter((text) => text !== '')
      .join('\n') || undefined
  )
}
