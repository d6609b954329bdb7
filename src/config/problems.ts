import { distance } from 'fastest-levenshtein'
import { ConfigError } from '../lib/errors.ts'

/** Counted from 1, in UTF-16 units, as editors count. */
export interface Position {
  line: number
  column: number
}

/** A place in the configuration: keys and list indexes from the root. */
export type ConfigPath = readonly (string | number)[]

export interface ConfigProblem extends Position {
  /** As it was given on the command line. */
  file: string
  /** `catalogs.main.delivery.callBytes`; empty for the file as a whole. */
  path: string
  /** What was found, what is expected. Never holds a secret. */
  message: string
}

export class ConfigProblemsError extends ConfigError {
  readonly problems: readonly ConfigProblem[]

  constructor(problems: readonly ConfigProblem[]) {
    const sorted = problems.toSorted((a, b) => a.line - b.line || a.column - b.column)
    super('config-invalid', sorted.map(formatProblem).join('\n'), {
      hint: `Correct ${sorted.length === 1 ? 'it' : `these ${sorted.length} places`} and run "catalogd config check"`,
    })
    this.problems = sorted
  }
}

/** `file:line:column path: what was found, what is expected`. */
export function formatProblem({ file, line, column, path, message }: ConfigProblem): string {
  return `${file}:${line}:${column} ${path === '' ? '' : `${path}: `}${message}`
}

/** `catalogs.main.feeds.stock.files[0]`; keys that are no plain words are quoted. */
export function formatPath(path: ConfigPath): string {
  return path
    .map((part) => {
      if (typeof part === 'number') return `[${part}]`
      return /^[\w-]+$/.test(part) ? `.${part}` : `[${JSON.stringify(part)}]`
    })
    .join('')
    .replace(/^\./, '')
}

/** The known word that was probably meant, or undefined. */
export function suggestWord(word: string, known: readonly string[]): string | undefined {
  const simple = (text: string) => text.replaceAll(/[-_ ]/g, '').toLowerCase()
  const ranked = known
    .map((candidate) => ({ candidate, edits: distance(simple(word), simple(candidate)) }))
    .sort((a, b) => a.edits - b.edits)
  const [best] = ranked
  if (best === undefined) return undefined
  return best.edits <= Math.max(1, Math.floor(best.candidate.length / 3)) ? best.candidate : undefined
}

/** `; did you mean "drop"?`, or what is known when nothing is near. */
export function suggestion(word: string, known: readonly string[]): string {
  const meant = suggestWord(word, known)
  if (meant !== undefined) return `; did you mean "${meant}"?`
  return known.length === 0 ? '' : `, expected one of ${known.join(', ')}`
}
