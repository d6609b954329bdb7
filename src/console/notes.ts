import { randomBytes } from 'node:crypto'
import { type Html, html } from './html.ts'

const notesMax = 100

export interface Note {
  kind: 'done' | 'problem'
  text: Html
}

/** What an action answered, for the page that is shown after it: an address must not say what a page says. */
export class Notes {
  readonly #notes = new Map<string, Note>()

  put(note: Note): string {
    const [oldest] = this.#notes.keys()
    if (this.#notes.size >= notesMax && oldest !== undefined) this.#notes.delete(oldest)
    const key = randomBytes(12).toString('base64url')
    this.#notes.set(key, note)
    return key
  }

  /** Shown once. */
  take(key: string | undefined): Html | undefined {
    const note = this.#notes.get(key ?? '')
    this.#notes.delete(key ?? '')
    return (
      note &&
      html`<p class="note ${note.kind}" role="${note.kind === 'done' ? 'status' : 'alert'}">${note.text}</p>`
    )
  }
}
