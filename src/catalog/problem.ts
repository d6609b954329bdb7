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

  constructor(code: string, text: string, path: string | null = '') {
    this.code = code
    this.text = text
    this.path = path
  }

  /** The same, found at a place further inside. */
  below(path: string): Problem {
    return new Problem(this.code, this.text, this.path === null ? null : path + this.path)
  }
}
