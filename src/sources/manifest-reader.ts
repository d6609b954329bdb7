import { closeSync, existsSync, fstatSync, openSync } from 'node:fs'
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

  [Symbol.dispose](): void {
    if (this.#file.fd >= 0) closeSync(this.#file.fd)
    this.#file.fd = -1
  }
}
