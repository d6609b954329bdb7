/** The value of a text of JSON; undefined for what is none. */
export function parsedOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
