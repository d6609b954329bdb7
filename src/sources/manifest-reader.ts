import { closeSync, fstatSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { systemErrorCode } from '../lib/errors.ts'
import { manifestFileName } from './manifest.ts'
import { ManifestIndex, type ManifestView } from './manifest-index.ts'
import { readManifestLines } from './manifest-reading.ts'

export interface ManifestReader extends ManifestView, Disposable {
  /** Takes up what its writer has appended since. */
  refresh(): Promise<void>
}

/** Reads the manifest of `state/<catalog>` without a lock. A torn end is ignored; a manifest that is not there is empty. */
export async function readManifest(dir: string): Promise<ManifestReader> {
  const source = new ManifestFile(join(dir, manifestFileName))
  const reader = new Reader(source)
  try {
    await reader.refresh()
  } catch (error) {
    source.close()
    throw error
  }
  return reader
}

class Reader extends ManifestIndex implements ManifestReader {
  readonly #source: ManifestFile
  #position = { end: 0, line: 0 }

  constructor(source: ManifestFile) {
    super(source)
    this.#source = source
  }

  async refresh(): Promise<void> {
    if (!this.#source.open() || fstatSync(this.#source.fd).size <= this.#position.end) return
    this.#position = await readManifestLines(this.#source, this, this.#position)
  }

  [Symbol.dispose](): void {
    this.#source.close()
  }
}

/** The file may come into being after the command that looks for it. */
class ManifestFile {
  readonly path: string
  fd = -1

  constructor(path: string) {
    this.path = path
  }

  open(): boolean {
    if (this.fd >= 0) return true
    try {
      this.fd = openSync(this.path, 'r')
      return true
    } catch (error) {
      if (systemErrorCode(error) === 'ENOENT') return false
      throw error
    }
  }

  close(): void {
    if (this.fd >= 0) closeSync(this.fd)
    this.fd = -1
  }
}
