import { writeSync } from 'node:fs'
import { MirrorStore } from '../../../src/mirror/store.ts'

// Loaded before the daemon, in each of its threads: says on standard error, whatever becomes of the error, that a commit of
// the mirror that carries products failed, with the result of SQLite.

const { commit } = MirrorStore.prototype
MirrorStore.prototype.commit = function (next, nowMs) {
  try {
    commit.call(this, next, nowMs)
  } catch (error) {
    const cause = error instanceof Error ? error.cause : undefined
    const result = cause instanceof Error && 'errcode' in cause ? Number(cause.errcode) : error
    writeSync(2, `\na commit of products failed: ${String(result)}\n`)
    throw error
  }
}
