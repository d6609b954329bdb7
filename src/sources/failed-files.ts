import { readdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { FeedName } from '../lib/brand.ts'
import { systemErrorCode } from '../lib/errors.ts'
import { layoutOf } from './layout.ts'
import type { ClaimId } from './model.ts'

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

/** Removes a refused file, with its report, of which the rest has come meanwhile. Safe to repeat. */
export async function removeFailedFile(
  folder: string,
  { claim, name }: { claim: ClaimId; name: string },
): Promise<void> {
  for (const candidate of [name, `${claim}-${name}`]) {
    const path = join(folder, candidate)
    if (!(await isReportOf(`${path}${failedReportSuffix}`, claim))) continue
    // The report last: without it nobody would know whose file it was.
    for (const suffix of ['', '.zst', failedReportSuffix]) await rm(`${path}${suffix}`, { force: true })
  }
}

async function isReportOf(path: string, claim: ClaimId): Promise<boolean> {
  try {
    const report: unknown = JSON.parse(await readFile(path, 'utf8'))
    return typeof report === 'object' && report !== null && 'claim' in report && report.claim === claim
  } catch {
    return false
  }
}
