import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { FeedName } from '../lib/brand.ts'
import { systemErrorCode } from '../lib/errors.ts'
import { layoutOf } from './layout.ts'

/** Stands beside each file that was refused whole. */
export const failedReportSuffix = '.report.json'

/** Refused files stay here until somebody takes them out; nothing else removes them. */
export function failedDirOf(dir: string, feed: FeedName): string {
  return join(layoutOf(dir).failedDir, encodeURIComponent(feed))
}

/** Reports are counted: of a file that found no room on the disk only the report is there. */
export async function countFailedFiles(dir: string, feed: FeedName): Promise<number> {
  try {
    return (await readdir(failedDirOf(dir, feed))).filter((name) => name.endsWith(failedReportSuffix)).length
  } catch (error) {
    if (systemErrorCode(error) === 'ENOENT') return 0
    throw error
  }
}
