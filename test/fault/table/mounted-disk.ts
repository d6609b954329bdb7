import { execFile } from 'node:child_process'
import { copyFile, mkdir, rm, truncate, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'
import { type TempDir, tempDir } from '../../support/temp-dir.ts'

const run = promisify(execFile)
const imageBytes = 192 * 1024 * 1024

/** Whether this user and this kernel allow to mount file systems. */
export async function canMount(): Promise<boolean> {
  try {
    const disk = await MountedDisk.open()
    await disk[Symbol.asyncDispose]()
    return true
  } catch {
    return false
  }
}

/**
 * A disk of its own: a file system in a file. What was not synced is in the memory of this machine alone and not in that
 * file, so a copy of the file is what a power cut leaves.
 */
export class MountedDisk implements TempDir {
  readonly #outside: TempDir
  readonly path: string
  #image = 'image-1'

  private constructor(outside: TempDir) {
    this.#outside = outside
    this.path = outside.join('disk')
  }

  static async open(): Promise<MountedDisk> {
    const disk = new MountedDisk(await tempDir('disk'))
    try {
      await mkdir(disk.path)
      await writeFile(disk.outside('image-1'), '')
      await truncate(disk.outside('image-1'), imageBytes)
      await run('mkfs.ext4', ['-q', '-m', '0', disk.outside('image-1')])
      await disk.#mount()
      return disk
    } catch (error) {
      await disk.#outside[Symbol.asyncDispose]()
      throw error
    }
  }

  join(...segments: string[]): string {
    return path.join(this.path, ...segments)
  }

  /** Beside the disk. */
  outside(name: string): string {
    return this.#outside.join(name)
  }

  async sync(): Promise<void> {
    await run('sync', ['-f', this.path])
  }

  /** The power goes, and comes back. Nobody may use the disk any more. */
  async cutPower(): Promise<void> {
    const before = this.#image
    this.#image = `image-${Number(before.slice('image-'.length)) + 1}`
    await copyFile(this.outside(before), this.outside(this.#image))
    await run('umount', [this.path])
    await rm(this.outside(before))
    await this.#mount()
  }

  /** Writes until there is no room; resolves with what makes room again. */
  async fill(): Promise<() => Promise<void>> {
    const file = this.join('fill')
    const chunk = Buffer.alloc(1024 * 1024, 1)
    // The last bytes, too.
    for (let bytes = chunk; bytes.length > 0; ) {
      await writeFile(file, bytes, { flag: 'a' }).catch(() => {
        bytes = bytes.subarray(0, Math.floor(bytes.length / 4))
      })
    }
    return () => rm(file, { force: true })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await run('umount', [this.path]).catch(() => run('umount', ['-l', this.path]))
    await this.#outside[Symbol.asyncDispose]()
  }

  /** The file system syncs nothing by itself for as long as a repetition takes. */
  async #mount(): Promise<void> {
    await run('mount', ['-o', 'loop,commit=600', this.outside(this.#image), this.path])
  }
}
