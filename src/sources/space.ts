import { SourceError, systemErrorCode } from '../lib/errors.ts'
import { pooledCalls } from './file-calls.ts'

/** Left free for the manifest and the folders when files are accepted. */
export const spareBytes = 16 * 1024 * 1024

const fullCode = 'disk-full'

export async function freeBytes(dir: string, calls = pooledCalls): Promise<number> {
  const stats = await calls.statfs(dir)
  return stats.bavail * stats.bsize
}

export function isFull(error: unknown): boolean {
  const code = systemErrorCode(error)
  if (code === 'ENOSPC' || code === 'EDQUOT' || code === fullCode) return true
  return error instanceof SourceError && error.cause !== undefined && isFull(error.cause)
}

export function fullError(dir: string, cause?: unknown): SourceError {
  return new SourceError(fullCode, `The disk of ${dir} is full; files stay in their drop folders`, {
    hint: 'Free some space there; accepting goes on by itself',
    cause,
  })
}
