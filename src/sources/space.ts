import { statfs } from 'node:fs/promises'
import { SourceError, systemErrorCode } from '../lib/errors.ts'

/** Left free for the manifest and the folders when files are accepted. */
export const spareBytes = 16 * 1024 * 1024

export async function freeBytes(dir: string): Promise<number> {
  const stats = await statfs(dir)
  return stats.bavail * stats.bsize
}

export function isFull(error: unknown): boolean {
  const code = systemErrorCode(error instanceof SourceError ? error.cause : error)
  return code === 'ENOSPC' || code === 'EDQUOT'
}

export function fullError(dir: string, cause?: unknown): SourceError {
  return new SourceError('disk-full', `The disk of ${dir} is full; files stay in their drop folders`, {
    hint: 'Free some space there; accepting goes on by itself',
    cause,
  })
}
