/** A sentence in its two halves. */
export interface ProblemWords {
  /** What was found, and what is expected. */
  found: string
  /** What to do. */
  remedy: string
}

interface Details {
  /** Part of the text. */
  remedy?: string | undefined
  value?: unknown
}

/**
 * What is wrong with one value, as a value: every step from cell to field answers with the result, with `undefined`
 * for "empty", or with one of these. `text` never holds a value of a sensitive field.
 */
export class Problem {
  /** Stable, kebab-case; becomes the code of the record's issue. */
  readonly code: string
  /** What was found, what is expected and what to do, without the field's name. */
  readonly text: string
  /** Place inside the field, such as `.EU.price`; empty for the field itself; null where `text` names the place. */
  readonly path: string | null
  /** What to do, as it stands in `text`; undefined where nothing can be said about it. */
  readonly remedy: string | undefined
  /** What was read from the record before anything was made of it; undefined where it is not known or sensitive. */
  readonly value: unknown

  constructor(code: string, words: string | ProblemWords, path: string | null = '', details: Details = {}) {
    this.code = code
    this.text = typeof words === 'string' ? words : `${words.found}; ${words.remedy}`
    this.path = path
    this.remedy = typeof words === 'string' ? details.remedy : words.remedy
    this.value = details.value
  }

  /** The same, found at a place further inside. */
  below(path: string): Problem {
    return this.with({ path: this.path === null ? null : path + this.path })
  }

  /** The same with something said otherwise. */
  with({ text = this.text, path = this.path, value = this.value }: Partial<Problem>): Problem {
    return new Problem(this.code, text, path, { remedy: this.remedy, value })
  }
}
