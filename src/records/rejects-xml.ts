import type { ParsedRecord, RecordFrame } from './model.ts'
import type { RejectNotes } from './reject-notes.ts'
import type { RejectsFormat } from './rejects-text.ts'
import { rejectsInstruction } from './xml-check.ts'

/**
 * Writes rejected elements as they stood in their file, within the elements that stood around them, each behind a
 * comment with its line, and what is wrong where and what to do. Always UTF-8 with a byte order mark, which counts before any configured encoding.
 */
export class RejectsXml implements RejectsFormat {
  readonly #frame: RecordFrame
  /** Said in the file, for one record alone is hard to tell from what it consists of. */
  readonly #path: string

  constructor(frame: RecordFrame | undefined, path = '') {
    this.#path = path
    this.#frame = frame ?? { version: '1.0', start: [], end: [] }
  }

  get head(): Buffer {
    const { version, start } = this.#frame
    const declaration = `<?xml version="${version}" encoding="UTF-8"?>\n<?${rejectsInstruction} ${this.#path}?>`
    return Buffer.from(`\ufeff${[declaration, ...start].join('\n')}\n`)
  }

  record({ text = '' }: ParsedRecord, { line, notes }: RejectNotes): Buffer {
    const parts = notes.flatMap((note) =>
      (['field', 'value', 'reason', 'remedy'] as const)
        .filter((name) => note[name] !== '')
        .map((name) => `  ${name}: ${commentText(note[name])}\n`),
    )
    return Buffer.from(`<!-- line ${line}\n${parts.join('')}-->\n${text}\n`)
  }

  get tail(): Buffer {
    return Buffer.from(
      [...this.#frame.end]
        .reverse()
        .map((name) => `</${name}>\n`)
        .join(''),
    )
  }
}

/** Comments hold neither two hyphens nor what is no character of XML. */
function commentText(text: string): string {
  return text
    .replace(/[^\t\n\r\u0020-\u007e\u00a0-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, '\ufffd')
    .replaceAll('--', '- -')
}
