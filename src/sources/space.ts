import { statfs } from 'node:fs/promises'
import { SourceError, systemErrorCode } from '../lib/errors.ts'
import { pooledCalls } from './file-calls.ts'

const mb = 1024 * 1024

/** Left free for the manifest and the folders when files are accepted. */
export const spareBytes = 16 * mb

const fullCode = 'disk-full'

export async function freeBytes(dir: string, calls = pooledCalls): Promise<number> {
  const stats = await calls.statfs(dir)
  return stats.bavail * stats.bsize
}

/** Of the whole disk, and what is left of it, in bytes. */
export interface Space {
  totalBytes: number
  freeBytes: number
}

export async function readSpace(dir: string): Promise<Space> {
  const { blocks, bavail, bsize } = await statfs(dir)
  return { totalBytes: blocks * bsize, freeBytes: bavail * bsize }
}

export function isFull(error: unknown): boolean {
  const code = systemErrorCode(error)
  if (code === 'ENOSPC' || code === 'EDQUOT' || code === fullCode) return true
  return error instanceof SourceError && error.cause !== undefined && isFull(error.cause)
}

interface FullDisk {
  /** To be free before anything is accepted again; undefined: not known, as of a quota. */
  neededBytes?: number
  /** Not in what the daemon reports: it would be another notice whenever a figure changes. */
  space?: Space
  cause?: unknown
}

export function fullError(dir: string, { neededBytes, space, cause }: FullDisk): SourceError {
  const figures = [
    ...(space ? [`${wholeMb(space.freeBytes)} of ${wholeMb(space.totalBytes)} MB free`] : []),
    ...(neededBytes === undefined ? [] : [`${Math.ceil(neededBytes / mb)} MB are needed`]),
  ]
  const shown = figures.length === 0 ? '' : ` (${figures.join(', ')})`
  return new SourceError(fullCode, `The disk of ${dir} is full${shown}; files stay in their drop folders`, {
    hint: 'Free some space there; accepting goes on by itself',
    cause,
  })
}

function wholeMb(bytes: number): number {
  return Math.floor(bytes / mb)
}
