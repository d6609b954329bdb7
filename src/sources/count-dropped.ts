import type { FeedConfig } from '../config/model.ts'
import { displayName, isTemporaryName } from './entry-name.ts'
import { compileMarkerPattern, compileNames } from './file-patterns.ts'
import { scanIfPresent } from './folder-scan.ts'

const filesMax = 1_000

/** Files of a feed that stand in its drop folder: being written, settling, or not accepted for a reason that notices tell. */
export async function countDropped(
  feed: Pick<FeedConfig, 'name' | 'files' | 'dropDir' | 'settle'>,
): Promise<number> {
  if (feed.dropDir === '') return 0
  const modeOf = compileNames(feed)
  const isMarker = feed.settle.kind === 'marker' ? compileMarkerPattern(feed.settle.pattern) : () => false
  let files = 0
  for await (const { raw, kind } of scanIfPresent(feed.dropDir)) {
    const name = displayName(raw)
    const isOurs = kind === 'file' && modeOf(name) !== undefined && !isTemporaryName(name) && !isMarker(name)
    if (isOurs) files += 1
    if (files >= filesMax) break
  }
  return files
}
