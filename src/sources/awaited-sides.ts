import type { SideKind } from '../config/model.ts'
import type { Clock } from '../lib/clock.ts'
import type { Candidate, DropPlace } from './claim-candidate.ts'
import type { BatchResult } from './drop-acceptor.ts'
import { displayName, type RawName } from './entry-name.ts'
import { parseSideName } from './file-patterns.ts'
import type { NoticeBoard } from './notices.ts'

interface AwaitedOptions {
  place: DropPlace
  clock: Clock
  notices: NoticeBoard
}

/** So long after its file a side file comes as a rule. */
const usualMs = 60_000
const examplesMax = 3

/** Files of a drop folder that wait for their side file, and what the operator is told of them. */
export class AwaitedSides {
  readonly #options: AwaitedOptions
  readonly #waiting = new Map<RawName, { sinceMs: number; for: SideKind }>()

  constructor(options: AwaitedOptions) {
    this.#options = options
  }

  /** What became of the files of a batch. */
  note(batch: readonly Candidate[], { waiting, considered }: BatchResult): void {
    const nowMs = this.#options.clock.monotonic()
    const awaited = new Map(waiting.map((file) => [file.raw, file.for]))
    for (const { raw } of batch.slice(0, considered)) {
      const kind = awaited.get(raw)
      if (kind === undefined) this.#waiting.delete(raw)
      else this.#waiting.set(raw, { sinceMs: this.#waiting.get(raw)?.sinceMs ?? nowMs, for: kind })
    }
  }

  /** Whether an entry of the folder may be what a file waits for. */
  mayEndBy(name: string): boolean {
    return this.#waiting.size > 0 && parseSideName(name) !== undefined
  }

  /** After a scan: what somebody took away waits no longer. */
  keep(names: ReadonlySet<RawName>): void {
    for (const raw of this.#waiting.keys()) if (!names.has(raw)) this.#waiting.delete(raw)
  }

  /** Raises the notice of those that have waited for long, or clears it. */
  tell(): void {
    const { place, clock, notices } = this.#options
    const { feed, dropDir } = place
    const long = [...this.#waiting].filter(([, { sinceMs }]) => clock.monotonic() - sinceMs >= usualMs)
    const names = long
      .slice(0, examplesMax)
      .map(([raw, { for: kind }]) => `${displayName(raw)} for ${displayName(raw)}.${kind}`)
    const more = long.length > names.length ? ` and ${long.length - names.length} more` : ''
    const text = `Waiting in ${dropDir}: ${names.join(', ')}${more}. Put the side file there; or, where the exporter writes none, take verify out of the feed's configuration and remove an empty side file`
    notices.show(`waiting:${feed}`, '', long.length === 0 ? undefined : text)
  }
}
