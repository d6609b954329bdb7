import type { FeedContext } from './context.ts'
import { type Held, parseHeld } from './held.ts'

/** What the feed holds, in accept order. */
export async function readHeld({ connection, keys, feed }: FeedContext): Promise<Held[]> {
  return parseHeld(await connection.hget(keys.held, feed.name))
}
