import { mkdtemp, realpath, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'

/** A fresh folder under the system's temporary folder, removed with everything in it when disposed. */
export interface TempDir extends AsyncDisposable {
  readonly path: string
  /** An absolute path inside the folder. */
  join(...segments: string[]): string
}

export async function tempDir(label = 'test', parent = os.tmpdir()): Promise<TempDir> {
  // The real path, because watchers and lock files report paths with symlinks resolved.
  const root = await realpath(await mkdtemp(path.join(parent, `catalogd-${label}-`)))
  return {
    path: root,
    join: (...segments) => path.join(root, ...segments),
    // Retries: a process that was just killed may still create its last file while the folder is being emptied.
    [Symbol.asyncDispose]: () => rm(root, { recursive: true, force: true, maxRetries: 10, retryDelay: 20 }),
  }
}
