import { execFileSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'

/** Whether file systems can be mounted here. */
export const canMount = process.platform === 'linux' && process.getuid?.() === 0

/** A file system of its own in memory, of so many MB. */
export function mountSmallDisk(path: string, megabytes: number): AsyncDisposable {
  mkdirSync(path, { recursive: true })
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m`, 'tmpfs', path])
  return {
    [Symbol.asyncDispose]: async () => {
      execFileSync('umount', [path])
    },
  }
}

/** The same folder under a second path: one device, but nothing can be renamed between the two. */
export function mountAgain(from: string, path: string): AsyncDisposable {
  mkdirSync(path, { recursive: true })
  execFileSync('mount', ['--bind', from, path])
  return {
    [Symbol.asyncDispose]: async () => {
      execFileSync('umount', [path])
    },
  }
}
