import { displayName, type RawName } from './entry-name.ts'
import { ownersOf, parseSideName } from './side-files.ts'

/** A writer may send the side file long before the file, or after the file was accepted. */
const keptMs = 3_600_000

/** Side files of a drop folder to which no file belongs: those that have lain there for an hour are to be removed. */
export class OrphanSides {
  #sinceMs = new Map<RawName, number>()
  #found: RawName[] = []
  #temporary: string[] = []

  /** One side file of a scan. */
  add(raw: RawName): void {
    this.#found.push(raw)
  }

  /** A file of a scan that its writer has not finished: its side files may be there already. */
  addTemporary(name: string): void {
    if (this.#temporary.length < 1000) this.#temporary.push(name)
  }

  /** Ends a scan of the whole folder. `isThere`: whether a file of that name waits to be accepted. */
  endScan(isThere: (raw: RawName) => boolean, nowMs: number): RawName[] {
    const sinceMs = new Map<RawName, number>()
    for (const raw of this.#found) {
      const side = parseSideName(raw)
      if (!side || ownersOf(side).some(isThere)) continue
      const stem = displayName(side.stem)
      if (this.#temporary.some((name) => name.includes(stem))) continue
      sinceMs.set(raw, this.#sinceMs.get(raw) ?? nowMs)
    }
    this.drop()
    this.#sinceMs = sinceMs
    return [...sinceMs].filter(([, since]) => nowMs - since >= keptMs).map(([raw]) => raw)
  }

  /** After a scan that failed half-way. */
  drop(): void {
    this.#found = []
    this.#temporary = []
  }
}
