import { randomUUID } from 'node:crypto'
import { readSync } from 'node:fs'
import { type FileHandle, mkdir, open, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { StorageError, systemErrorCode } from '../lib/errors.ts'
import { privateFileMode, privateFolderMode } from '../lib/private-modes.ts'

/**
 * A file for what does not fit into memory. Without a name from the beginning: what nobody can open again needs no
 * tidying, and is gone however the process ends. Throws a StorageError when the disk does not take it; `what` is what
 * is written.
 */
export class UnnamedFile implements AsyncDisposable {
  readonly #file: FileHandle
  readonly #place: { dir: string; what: string }

  private constructor(file: FileHandle, place: { dir: string; what: string }) {
    this.#file = file
    this.#place = place
  }

  static async open(place: { dir: string; what: string }): Promise<UnnamedFile> {
    const file = await written(place, async () => {
      await mkdir(place.dir, { recursive: true, mode: privateFolderMode })
      const path = join(place.dir, randomUUID())
      const created = await open(path, 'wx+', privateFileMode)
      await unlink(path)
      return created
    })
    return new UnnamedFile(file, place)
  }

  /** Where this process can open it again, as long as it is not disposed of. */
  get path(): string {
    return `/dev/fd/${this.#file.fd}`
  }

  /** Await each call before the next. */
  async append(bytes: Buffer): Promise<void> {
    await written(this.#place, () => this.#file.writeFile(bytes))
  }

  /** At once: what was written lately needs no disk. How many bytes were read. */
  read(into: Buffer, from: number, position: number): number {
    return readSync(this.#file.fd, into, from, into.length - from, position)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#file.close()
  }
}

async function written<T>({ dir, what }: { dir: string; what: string }, write: () => Promise<T>): Promise<T> {
  try {
    return await write()
  } catch (cause) {
    const code = systemErrorCode(cause) ?? String(cause)
    throw new StorageError('spill-not-written', `cannot write ${what} to ${dir} (${code})`, {
      hint: 'Make room on the disk and check that the folder can be written',
      cause,
    })
  }
}
