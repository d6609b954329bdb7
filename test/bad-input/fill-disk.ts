import { execFileSync } from 'node:child_process'
import { open, rm } from 'node:fs/promises'
import { join } from 'node:path'

/** Mounts a small file system in memory on a folder; disposal unmounts it. Only root may. */
export function mountSmallDisk(folder: string, megabytes: number): Disposable {
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m`, 'tmpfs', folder])
  return {
    // Lazily: a process that was just ended may still hold a file there.
    [Symbol.dispose]: () => void execFileSync('umount', ['-l', folder]),
  }
}

/** Takes all the space that is left; the returned function gives it back. */
export async function fillDisk(folder: string): Promise<() => Promise<void>> {
  const path = join(folder, 'fills-the-disk')
  const file = await open(path, 'w')
  try {
    for (const size of [2 ** 20, 2 ** 12, 1]) {
      const bytes = Buffer.alloc(size)
      for (let isFull = false; !isFull; ) {
        isFull = await file.write(bytes).then(
          ({ bytesWritten }) => bytesWritten < size,
          () => true,
        )
      }
    }
  } finally {
    await file.close()
  }
  return () => rm(path)
}
