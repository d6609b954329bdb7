import { randomUUID } from 'node:crypto'
import { systemClock } from '../lib/clock.ts'
import { Database } from '../lib/database.ts'
import { fileIdentity, isSameFile } from '../lib/database-file.ts'
import { StorageError } from '../lib/errors.ts'
import { damaged } from './digest.ts'
import { readFact, readIdentityFact, writeFact } from './facts.ts'
import type { MirrorIdentity } from './loop-model.ts'

type Remembered = Omit<MirrorIdentity, 'last' | 'offered'>

export function readIdentity(database: Database): Remembered {
  return { ...nothingRemembered, ...readIdentityFact<Partial<Remembered>>(database, 'mirror') }
}

const nothingRemembered: Remembered = {
  ...{ mirrorId: '', generation: '', former: [], endpoint: undefined, beat: 0, runId: undefined },
  ...{ repairing: undefined, lastLossMs: undefined, behindSinceMs: undefined, startOver: undefined },
  ...{ callsFromMs: undefined, isMoving: undefined },
}

/** Inside a transaction. What is undefined is forgotten. */
export function writeIdentity(database: Database, change: Partial<Remembered>): void {
  writeFact(database, 'identity', 'mirror', JSON.stringify({ ...readIdentity(database), ...change }))
}

/** Notes which file the mirror stands in, and since when: at its making, and where a copy is to become the mirror. */
export function writeFile(database: Database, isNew: boolean): void {
  database.transaction(() => {
    if (isNew) writeIdentity(database, { mirrorId: randomUUID(), generation: randomUUID() })
    writeFact(database, 'identity', 'file', fileIdentity(database.file))
    writeFact(database, 'identity', 'made', systemClock.now())
  })
}

/** Whether the mirror was written under this name as another file. */
export function isCopy(file: string): boolean {
  using database = Database.open({ file, access: 'read' })
  return !isOwnFile(database)
}

function isOwnFile(database: Database): boolean {
  const own = readFact<string>(database, 'identity', 'file')
  if (own === undefined) return false
  // A damaged disk may have turned the text into something else.
  if (typeof own !== 'string') throw damaged(database.file)
  return isSameFile(own, fileIdentity(database.file))
}

/** A copy holds what was true of the original then; nobody has said which of the two goes on. */
export function checkFile(database: Database): void {
  if (isOwnFile(database)) return
  throw new StorageError(
    'mirror-copied',
    `${database.file} is a copy of a mirror, not the one that was written here`,
    {
      hint: 'Where it comes from a backup, put that back with catalogd restore <folder>; where the state folder was moved as a whole and the old one is gone, run catalogd adopt',
    },
  )
}

/** Inside a transaction. */
export function beginGeneration(
  database: Database,
  { endpoint, former = [] }: { endpoint?: string; former?: readonly string[] },
): void {
  const { generation, former: before, endpoint: last } = readIdentity(database)
  const isMoving = last !== undefined && endpoint !== last
  writeIdentity(database, {
    ...(endpoint === undefined ? {} : { endpoint, isMoving }),
    generation: randomUUID(),
    former: [...new Set([...before, generation, ...former])],
    behindSinceMs: undefined,
    startOver: 0,
  })
}
