import {
  chmodSync,
  closeSync,
  fstatSync,
  fsync,
  lstatSync,
  openSync,
  renameSync,
  type Stats,
  statfsSync,
} from 'node:fs'
import { chmod, lstat, open, rename, statfs } from 'node:fs/promises'
import { promisify } from 'node:util'

interface OpenFile extends AsyncDisposable {
  stat(): Promise<Stats>
  sync(): Promise<void>
}

/** By which a file is taken. */
export interface FileCalls {
  open(path: Buffer, flags: number): Promise<OpenFile>
  lstat(path: string | Buffer): Promise<Stats>
  rename(from: Buffer, to: string): Promise<void>
  chmod(path: string, mode: number): Promise<void>
  statfs(dir: string): Promise<{ bavail: number; bsize: number }>
}

/** Nothing waits for the disk. */
export const pooledCalls: FileCalls = { open, lstat, rename, chmod, statfs }

/**
 * For a sole file on the file system of the state folder, which is a quick one: each of these takes some microseconds, and
 * the way to another thread and back some milliseconds while a large file is imported. Syncing is left to others.
 */
export const directCalls: FileCalls = {
  open: async (path, flags) => {
    const file = openSync(path, flags)
    return {
      stat: async () => fstatSync(file),
      sync: () => syncNumber(file),
      [Symbol.asyncDispose]: async () => closeSync(file),
    }
  },
  lstat: async (path) => lstatSync(path),
  rename: async (from, to) => renameSync(from, to),
  chmod: async (path, mode) => chmodSync(path, mode),
  statfs: async (dir) => statfsSync(dir),
}

const syncNumber = promisify(fsync)
