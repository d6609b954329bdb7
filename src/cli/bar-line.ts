import type { TextStream } from '../lib/terminal-text.ts'

/**
 * The last line of a terminal, which changes. Nothing else about the terminal does (cursor, wrapping), so that nothing
 * is to be put back, however the process ends.
 */
export class BarLine {
  readonly #stream: TextStream
  #shown = ''

  constructor(stream: TextStream = process.stderr) {
    this.#stream = stream
  }

  get columns(): number {
    return this.#stream.columns ?? 80
  }

  /** A text that fits. */
  show(line: string): void {
    if (line !== this.#shown) this.#stream.write(`\r${line}\u001b[K`)
    this.#shown = line
  }

  clear(): void {
    if (this.#shown !== '') this.#stream.write('\r\u001b[K')
    this.#shown = ''
  }

  /** A stream of the same terminal: what is written there stands above the line. */
  above(stream: TextStream): TextStream {
    return {
      write: (text) => {
        this.clear()
        return stream.write(text)
      },
      isTTY: stream.isTTY === true,
      get columns() {
        return stream.columns ?? 80
      },
    }
  }
}
