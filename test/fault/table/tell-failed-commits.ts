import { writeSync } from 'node:fs'
import { MirrorStore } from '../../../src/mirror/store.ts'

// Loaded before the daemon, in each of its threads: says on standard error, whatever becomes of the error, that a commit of
// an import failed, whether it carried products, and the result of SQLite.

const { commit } = MirrorStore.prototype
MirrorStore.prototype.commit = function (next, nowMs) {
  let products = 0
  const counted = () => {
    const chunk = next()
    products += chunk?.writes.length ?? 0
    return chunk
  }
  try {
    commit.call(this, counted, nowMs)
  } catch (error) {
    const cause = error instanceof Error ? error.cause : undefined
    const result = cause instanceof Error && 'errcode' in cause ? Number(cause.errcode) : error
    writeSync(2, `\na commit of ${products > 0 ? 'products' : 'no product'} failed: ${String(result)}\n`)
    throw error
  }
}
