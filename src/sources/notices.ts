import type { Log } from '../lib/log.ts'

/**
 * What the operator should know now, by key; logged once when it is raised or changes. Several places (feeds) may
 * raise one key; it is cleared when the last of them clears it.
 */
export class NoticeBoard {
  readonly #parts = new Map<string, Map<string, string>>()
  readonly #log: Log
  readonly #onNotice: (key: string, text: string | undefined) => void

  constructor({ log, onNotice }: { log: Log; onNotice: (key: string, text: string | undefined) => void }) {
    this.#log = log
    this.#onNotice = onNotice
  }

  /** Raises the notice, or clears it when there is no text. */
  show(key: string, place: string, text: string | undefined): void {
    if (text === undefined) this.clear(key, place)
    else this.raise(key, place, text)
  }

  raise(key: string, place: string, text: string): void {
    const parts = this.#parts.get(key) ?? new Map<string, string>()
    if (parts.get(place) === text) return
    parts.set(place, text)
    this.#parts.set(key, parts)
    this.#log.warn({ notice: key }, text)
    this.#tell(key)
  }

  clear(key: string, place: string): void {
    const parts = this.#parts.get(key)
    if (!parts?.delete(place)) return
    if (parts.size === 0) this.#parts.delete(key)
    this.#log.info({ notice: key }, 'cleared')
    this.#tell(key)
  }

  #tell(key: string): void {
    const texts = new Set(this.#parts.get(key)?.values())
    this.#onNotice(key, texts.size === 0 ? undefined : [...texts].join('; '))
  }
}
