import type { Clock } from '../../lib/clock.ts'
import { describeError } from '../../lib/errors.ts'
import type { Log } from '../../lib/log.ts'
import { type KeptParts, removeLeftovers, writeDataFile } from './data-file.ts'

const lookEveryMs = 1000
/** A million products take seconds to write: then it is done that much more seldom. */
const restFactor = 10

interface KeeperOptions {
  path: string
  clock: Clock
  logger: Log | undefined
  /** Whether the file holds what the parts hold. */
  isWritten: boolean
}

/**
 * Keeps the file up with the parts: soon after a change, and when it is disposed of. A write that fails is tried again
 * with the next look; the last one throws.
 */
export async function openDataKeeper(parts: KeptParts, options: KeeperOptions): Promise<AsyncDisposable> {
  const { path, clock, logger, isWritten } = options
  const closing = new AbortController()
  let written = isWritten ? revisionOf(parts) : undefined

  const write = async () => {
    const revision = revisionOf(parts)
    if (revision === written) return
    await writeDataFile(path, parts)
    written = revision
  }
  const watch = async () => {
    for (let restMs = lookEveryMs; !closing.signal.aborted; ) {
      await clock.sleep(restMs, closing.signal).catch(() => undefined)
      if (closing.signal.aborted) return
      const beganMs = clock.monotonic()
      await write().catch((error: unknown) => logger?.error({ error: describeError(error) }, 'data not kept'))
      restMs = Math.max(lookEveryMs, restFactor * (clock.monotonic() - beganMs))
    }
  }
  await removeLeftovers(path)
  // A place that cannot be written to shows at once rather than at the end.
  await write()
  const watching = watch()
  return {
    [Symbol.asyncDispose]: async () => {
      closing.abort()
      await watching
      await write()
    },
  }
}

function revisionOf({ store, consents, stack }: KeptParts): string {
  return `${store.revision} ${consents.revision} ${stack.revision}`
}
