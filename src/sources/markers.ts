import { removeIfPresent } from '../lib/durable.ts'
import { displayName, entryPath, type RawName } from './entry-name.ts'
import { compileMarkerPattern, markersOf } from './file-patterns.ts'
import { lstatIfPresent, scanFolder } from './folder-scan.ts'
import type { ObservedFile } from './settling.ts'

interface Marker {
  raw: RawName
  ctimeMs: number
}

/**
 * A marker that is older than its file may belong to an earlier file of that name: then the file has to be quiet for so
 * long as well. (A crash between accepting a file and removing its marker leaves such a marker.)
 */
export const oldMarkerQuietMs = 60_000

/** The done-markers of a drop folder (`done: "*.done"`). */
export class Markers {
  readonly #dir: string
  readonly #pattern: string
  readonly #matches: (name: string) => boolean
  /** By name as people read it. */
  #markers = new Map<string, Marker>()

  constructor({ dir, pattern }: { dir: string; pattern: string }) {
    this.#dir = dir
    this.#pattern = pattern
    this.#matches = compileMarkerPattern(pattern)
  }

  isMarker(name: string): boolean {
    return this.#matches(name)
  }

  async scan(): Promise<void> {
    const markers = new Map<string, Marker>()
    for await (const { raw, kind } of scanFolder(this.#dir)) {
      const name = displayName(raw)
      if (kind !== 'file' || !this.isMarker(name)) continue
      const stats = await lstatIfPresent(entryPath(this.#dir, raw))
      if (stats) markers.set(name, { raw, ctimeMs: stats.ctimeMs })
    }
    this.#markers = markers
  }

  isMarked(raw: RawName): boolean {
    return this.#of(raw).length > 0
  }

  isReady(file: ObservedFile): boolean {
    const isQuiet = file.seenMs - file.sinceMs >= oldMarkerQuietMs
    return this.#of(file.raw).some((marker) => isQuiet || marker.ctimeMs >= file.ctimeMs)
  }

  /** Removes the markers of accepted files, unless files that are still there need them or they were written again. */
  async remove(accepted: readonly RawName[], remaining: readonly RawName[]): Promise<void> {
    const needed = new Set(remaining.flatMap((raw) => this.#of(raw)))
    for (const marker of new Set(accepted.flatMap((raw) => this.#of(raw)))) {
      if (needed.has(marker)) continue
      const path = entryPath(this.#dir, marker.raw)
      if ((await lstatIfPresent(path))?.ctimeMs !== marker.ctimeMs) continue
      await removeIfPresent(path)
      this.#markers.delete(displayName(marker.raw))
    }
  }

  #of(raw: RawName): Marker[] {
    return markersOf(this.#pattern, displayName(raw)).flatMap((name) => this.#markers.get(name) ?? [])
  }
}
