import { closeSync, existsSync, fstatSync, openSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { manifestFileName } from './manifest.ts'
import { ManifestIndex, type ManifestView } from './manifest-index.ts'
import { readManifestLines } from './manifest-reading.ts'

export interface ManifestReader extends ManifestView, Disposable {
  /** Takes up what its writer has appended since. */
  refresh(): Promise<void>
}

/** Reads the manifest of `state/<catalog>` without a lock. A torn end is ignored; a manifest that is not there is empty. */
export async function readManifest(dir: string): Promise<ManifestReader> {
  const reader = new Reader({ path: join(dir, manifestFileName), fd: -1 })
  try {
    await reader.refresh()
  } catch (error) {
    reader[Symbol.dispose]()
    throw error
  }
  return reader
}

export type ReadManifest = typeof readManifest

/**
 * Manifests for who reads them often: what was taken up is not read again, which at 40,000 files takes 0.3 s. Whoever
 * disposes one leaves it open.
 */
export class KeptManifests implements Disposable {
  readonly #readers = new Map<string, KeptReader>()
  #turn: Promise<unknown> = Promise.resolve()

  read: ReadManifest = (dir) => {
    const turn = this.#turn.then(() => this.#refreshed(join(dir, manifestFileName)))
    this.#turn = turn.catch(() => undefined)
    return turn
  };

  [Symbol.dispose](): void {
    for (const reader of this.#readers.values()) reader.close()
  }

  async #refreshed(path: string): Promise<ManifestReader> {
    let reader = this.#readers.get(path)
    if (reader?.isOutdated) {
      reader.close()
      reader = undefined
    }
    reader ??= new KeptReader({ path, fd: -1 })
    this.#readers.set(path, reader)
    await reader.refresh()
    return reader
  }
}

/** The file may come into being after the command that looks for it: until then its descriptor is -1. */
class Reader extends ManifestIndex implements ManifestReader {
  readonly #file: { readonly path: string; fd: number }
  #position = { end: 0, line: 0 }

  constructor(file: { readonly path: string; fd: number }) {
    super(file)
    this.#file = file
  }

  async refresh(): Promise<void> {
    const { path, fd } = this.#file
    if (fd < 0 && !existsSync(path)) return
    if (fd < 0) this.#file.fd = openSync(path, 'r')
    if (fstatSync(this.#file.fd).size <= this.#position.end) return
    this.#position = await readManifestLines(this.#file, this, this.#position)
  }

  /** Another file stands under its name: it was restored. */
  get isOutdated(): boolean {
    const { path, fd } = this.#file
    return fd >= 0 && statSync(path, { throwIfNoEntry: false })?.ino !== fstatSync(fd).ino
  }

  close(): void {
    if (this.#file.fd >= 0) closeSync(this.#file.fd)
    this.#file.fd = -1
  }

  [Symbol.dispose](): void {
    this.close()
  }
}

class KeptReader extends Reader {
  override [Symbol.dispose](): void {}
}
