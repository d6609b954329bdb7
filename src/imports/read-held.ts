import type { StepContext } from './context.ts'
import { type Held, parseHeld } from './held.ts'

/** What the feed holds, in accept order. */
export async function readHeld({ book, feed }: StepContext): Promise<Held[]> {
  return parseHeld(await book.held(feed.name))
}
