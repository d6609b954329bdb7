import { StorageError } from './errors.ts'

const damaged = {
  code: 'database-damaged',
  hint: 'Check the disk, then put the last backup back: catalogd restore <folder>',
}

const fullDisk = 13
/** SQLITE_IOERR_SHMSIZE: the log's index cannot grow. */
const indexCannotGrow = 4874

/** Results of SQLite by their primary codes. */
const failures: Readonly<Record<number, { code: string; found: string; hint: string }>> = {
  1: { ...damaged, found: 'does not hold the tables that were made in it' },
  5: {
    code: 'database-busy',
    found: 'is used by another process',
    hint: 'End the process that holds it open; two catalogd must not share a state folder',
  },
  8: {
    code: 'database-read-only',
    found: 'cannot be written',
    hint: 'Let the user that runs catalogd write the file and its folder; if it may, the file is damaged: catalogd restore <folder>',
  },
  10: {
    code: 'database-unreadable',
    found: 'cannot be read or written',
    hint: 'Look after the disk; what was committed is on it, and catalogd goes on when it is started again',
  },
  11: { ...damaged, found: 'is damaged' },
  [fullDisk]: {
    code: 'disk-full',
    found: 'cannot grow, because the disk is full',
    hint: 'Free space on the disk of the state folder; nothing is lost, and catalogd goes on from there',
  },
  14: {
    code: 'database-unreadable',
    found: 'cannot be opened',
    hint: 'Let the user that runs catalogd read and write the file and its folder',
  },
  26: { ...damaged, found: 'is no database' },
}

/** An error of SQLite as an operating failure; any other as it is. */
function asStorageError(error: unknown, file: string): unknown {
  if (!(error instanceof Error) || !('errcode' in error)) return error
  const result = error.errcode === indexCannotGrow ? fullDisk : Number(error.errcode) & 0xff
  const failure = failures[result]
  // With the general code: our statements are fixed, so what they name is gone; anything else is a bug.
  if (!failure || (result === 1 && !/no such (table|column)|unsupported file format/.test(error.message)))
    return error
  const { code, found, hint } = failure
  return new StorageError(code, `${file} ${found} (${error.message})`, { hint, cause: error })
}

/** Waiting helps: nothing was changed, and the next attempt may find room. */
export function isDiskFull(error: unknown): boolean {
  return error instanceof StorageError && error.code === 'disk-full'
}

/** Waiting does not help: the operator puts a backup back. */
export function isDamaged(error: unknown): boolean {
  return error instanceof StorageError && error.code === damaged.code
}

/** Runs `work` and makes StorageErrors of what the disk or the file is to blame for. */
export function explained<T>(file: string, work: () => T): T {
  try {
    return work()
  } catch (error) {
    throw asStorageError(error, file)
  }
}

/** For what may also be done later: with a full disk it changes nothing, and is tried again. */
export function unlessFull(work: () => unknown): void {
  try {
    work()
  } catch (error) {
    if (!isDiskFull(error)) throw error
  }
}
