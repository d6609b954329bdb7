import { enableCompileCache } from 'node:module'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { readEnvironment } from '../config/environment.ts'

/**
 * Compiled code is kept from one start to the next: half of what a short command costs is compiling. In the user's own
 * folder, since whoever may write there decides what runs. Where it cannot be written, every start compiles.
 */
export function cacheCode(): void {
  enableCompileCache(codeFolder())
}

export function codeFolder(): string {
  return join(readEnvironment().XDG_CACHE_HOME || join(homedir(), '.cache'), 'catalogd')
}
