import { readdirSync, rmSync } from 'node:fs'
import { enableCompileCache, getCompileCacheDir } from 'node:module'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { readEnvironment } from '../config/environment.ts'

/**
 * Compiled code is kept from one start to the next: half of what a short command costs is compiling. In the user's own
 * folder, since whoever may write there decides what runs. Where it cannot be written, every start compiles.
 */
export function cacheCode(): void {
  enableCompileCache(codeFolder())
}

/** An installation has some 1,500 files of code. Where there are more, others have left theirs. */
const filesMax = 10_000

/**
 * Removes what other versions of Node have left, and all where it is too much: nothing else does. Not at every start,
 * since a short command shall be short. A folder that NODE_COMPILE_CACHE names is not ours to empty.
 */
export function trimCode(): void {
  const used = getCompileCacheDir()
  if (used === undefined || dirname(used) !== codeFolder()) return
  try {
    for (const name of readdirSync(codeFolder())) {
      const folder = join(codeFolder(), name)
      // Each set of flags has a folder of its own: a daemon's is another than that of a short command.
      const isOwn = name.startsWith(`${process.version}-`)
      const isKept = isOwn ? readdirSync(folder).length <= filesMax : !/^v\d+\./.test(name)
      if (!isKept) rmSync(folder, { recursive: true, force: true })
    }
  } catch {
    // Another's, or being emptied by another: it costs room, nothing else.
  }
}

export function codeFolder(): string {
  return join(readEnvironment().XDG_CACHE_HOME || join(homedir(), '.cache'), 'catalogd')
}
