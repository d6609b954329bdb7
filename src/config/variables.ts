/** The environment variables that a process was given. Tests pass their own. */
export type Environment = Readonly<Record<string, string | undefined>>

/**
 * `${NAME}` and `${NAME:-default}` contain characters that mean something in YAML, inside `{ … }` above all. Before
 * parsing, each of those characters is replaced by one private-use character, so that positions stay what they are;
 * afterwards `expandVariables` finds the references again in the scalars that YAML has made of the text.
 */
const reference = /\$\{([^{}\n]*)\}/g
const privateUse = 0xe000
const masked = /[\ue000-\ue07f]/g
// Quotes and backslashes keep their meaning: a reference inside a quoted scalar is escaped like the rest of it.
const unmaskable = new Set(['"', "'", '\\'])

/** Text that YAML can parse, of the same length. */
export function maskReferences(text: string): string {
  return text.replaceAll(reference, (match) =>
    Array.from({ length: match.length }, (_, index) => maskUnit(match.charAt(index))).join(''),
  )
}

function maskUnit(unit: string): string {
  const code = unit.charCodeAt(0)
  return code >= 0x80 || unmaskable.has(unit) ? unit : String.fromCharCode(privateUse + code)
}

/** The text as it stood in the file. */
export function unmaskReferences(text: string): string {
  return text.replaceAll(masked, (unit) => String.fromCharCode(unit.charCodeAt(0) - privateUse))
}

export interface Expansion {
  text: string
  /** Variables whose values stand in the text. */
  used: string[]
  /** Variables that are needed and not set; their references stay in the text. */
  unset: string[]
  /** Variables that added nothing to the text. */
  empty: string[]
  /** References that are none: `${}`, `${a b}`. */
  malformed: string[]
}

/** A reference after `unmaskReferences`; `$${` writes a literal `${`. */
const form = /\$?\$\{([^{}\n]*)\}/g
const body = /^([A-Za-z_][A-Za-z0-9_]*)(?::-(.*))?$/s

/** As a shell would: the default counts for a variable that is unset or empty. */
export function expandVariables(text: string, environment: Environment): Expansion {
  const expansion: Expansion = { text, used: [], unset: [], empty: [], malformed: [] }
  expansion.text = unmaskReferences(text).replaceAll(form, (match, inside: string) => {
    if (match.startsWith('$$')) return match.slice(1)
    const [, name, fallback] = body.exec(inside) ?? []
    if (name === undefined) {
      expansion.malformed.push(match)
      return match
    }
    const value = Object.hasOwn(environment, name) ? environment[name] : undefined
    const isDefault = fallback !== undefined && !value
    const filled = isDefault ? fallback : value
    if (filled === '') expansion.empty.push(name)
    else if (filled !== undefined && !isDefault) expansion.used.push(name)
    if (filled !== undefined) return filled
    expansion.unset.push(name)
    return match
  })
  return expansion
}
