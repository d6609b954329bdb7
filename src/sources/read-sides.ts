import { constants } from 'node:fs'
import { open } from 'node:fs/promises'
import type { SideKind } from '../config/model.ts'
import { removeIfPresent } from '../lib/durable.ts'
import { SourceError, systemErrorCode } from '../lib/errors.ts'
import { displayName, entryPath, type RawName } from './entry-name.ts'
import { type FileCalls, pooledCalls } from './file-calls.ts'
import { parseSide, sideNamesOf } from './file-patterns.ts'
import { lstatIfPresent } from './folder-scan.ts'
import type { Expectation } from './model.ts'

/** One that stood beside a file when it was read. */
export interface SideFile {
  kind: SideKind
  path: Buffer
  ctimeMs: number
  inode: number
}

export interface Sides {
  /** Undefined: there is no side file. */
  expect: Expectation | undefined
  files: SideFile[]
  /** The time when the newest of those that say nothing (yet) changed; undefined: all say something. */
  unreadableSinceMs: number | undefined
  /** The name of the file is so long that no side file of this kind can stand beside it. */
  unnameable: SideKind[]
}

const sideBytesMax = 64 * 1024

/** Reads the side files of one file. Throws system errors, and a SourceError for one that is no regular file. */
export async function readSides(dir: string, raw: RawName, calls = pooledCalls): Promise<Sides> {
  const sides: Sides = { expect: undefined, files: [], unreadableSinceMs: undefined, unnameable: [] }
  const name = displayName(raw)
  // Only ASCII is added to the name or taken from it: the raw form of the one is the raw form of the other.
  const names = sideNamesOf(raw)
  const all = await Promise.all(names.map((side) => readSide(entryPath(dir, side.name), side.kind, calls)))
  for (const [place, side] of names.entries()) {
    const found = all[place]
    if (found === 'unnameable') sides.unnameable.push(side.kind)
    if (typeof found !== 'object' || found.file.kind in (sides.expect ?? {})) continue
    sides.files.push(found.file)
    sides.expect ??= {}
    const value = parseSide(side.kind, found.bytes, name)
    if (value === undefined) {
      sides.expect.unreadable = side.kind
      sides.unreadableSinceMs = Math.max(sides.unreadableSinceMs ?? 0, found.file.ctimeMs)
    } else Object.assign(sides.expect, { [side.kind]: value })
  }
  return sides
}

/** Removes side files of an accepted file, but for those that were written anew meanwhile: they are of the next file. */
export async function removeSides(files: readonly SideFile[]): Promise<void> {
  for (const { path, ctimeMs, inode } of files) {
    const stats = await lstatIfPresent(path)
    if (stats?.ctimeMs !== ctimeMs || stats.ino !== inode) continue
    await removeIfPresent(path)
  }
}

async function readSide(
  path: Buffer,
  kind: SideKind,
  calls: FileCalls,
): Promise<{ file: SideFile; bytes: Buffer } | 'unnameable' | undefined> {
  try {
    // Mostly there is none.
    await calls.lstat(path)
    await using handle = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
    const stats = await handle.stat()
    if (!stats.isFile()) throw irregular(path)
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(sideBytesMax), 0, sideBytesMax, 0)
    const file = { kind, path, ctimeMs: stats.ctimeMs, inode: stats.ino }
    return { file, bytes: buffer.subarray(0, bytesRead) }
  } catch (error) {
    const code = systemErrorCode(error)
    if (code === 'ENOENT') return undefined
    if (code === 'ENAMETOOLONG') return 'unnameable'
    throw code === 'ELOOP' || code === 'ENXIO' ? irregular(path) : error
  }
}

function irregular(path: Buffer): SourceError {
  return new SourceError('side-file', `${path.toString('utf8')} is no regular file`, {
    hint: 'Put the checksum or the number of records there as a regular file, or remove it',
  })
}
