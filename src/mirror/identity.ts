import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { Database } from '../lib/database.ts'
import { fileIdentity, isSameFile } from '../lib/database-file.ts'
import { StorageError } from '../lib/errors.ts'
import { readFact, readFacts, writeFact } from './facts.ts'
import type { MirrorIdentity } from './loop-model.ts'

export function readIdentity(database: Database): Omit<MirrorIdentity, 'last' | 'offered'> {
  const facts = readFacts<string, string | number>(database, 'identity')
  const text = (name: string): string | undefined => facts.get(name)?.toString()
  const number = (name: string): number | undefined => {
    const value = facts.get(name)
    return value === undefined ? undefined : Number(value)
  }
  return {
    mirrorId: text('mirrorId') ?? '',
    generation: text('generation') ?? '',
    former: JSON.parse(text('former') ?? '[]') as string[],
    endpoint: text('endpoint'),
    beat: number('beat') ?? 0,
    runId: text('runId'),
    repairing: text('repairing'),
    lastLossMs: number('lastLossMs'),
    behindSinceMs: number('behindSinceMs'),
    startOver: number('startOver'),
  }
}

/** Inside a transaction. */
export function writeIdentity(
  database: Database,
  change: Readonly<Record<string, string | number | undefined>>,
): void {
  for (const [name, value] of Object.entries(change)) writeFact(database, 'identity', name, value)
}

/** Notes which file the mirror stands in: at its making, and where a copy is to become the mirror. */
export function writeFile(database: Database, isNew: boolean): void {
  database.transaction(() => {
    if (isNew) writeIdentity(database, { mirrorId: randomUUID(), generation: randomUUID() })
    writeFact(database, 'identity', 'file', fileIdentity(database.file))
  })
}

/** Whether the mirror was written under this name as another file. */
export function isCopy(file: string): boolean {
  using database = Database.open({ file, access: 'read' })
  return !isOwnFile(database)
}

function isOwnFile(database: Database): boolean {
  const own = readFact<string>(database, 'identity', 'file')
  return own !== undefined && isSameFile(own, fileIdentity(database.file))
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

/** What other processes read under this name must be what this one writes. */
export function checkInPlace(file: string, identity: string): void {
  if (existsSync(file) && isSameFile(fileIdentity(file), identity)) return
  throw new StorageError(
    'mirror-replaced',
    `${file} was moved, removed or replaced while catalogd had it open`,
    {
      hint: 'Stop catalogd, put the file back or run catalogd restore <folder>, and start it again',
    },
  )
}

/** Inside a transaction. */
export function beginGeneration(
  database: Database,
  { endpoint, former = [] }: { endpoint?: string; former?: readonly string[] },
): void {
  const { generation, former: before } = readIdentity(database)
  writeIdentity(database, {
    ...(endpoint === undefined ? {} : { endpoint }),
    generation: randomUUID(),
    former: JSON.stringify([...new Set([...before, generation, ...former])]),
    behindSinceMs: undefined,
    startOver: 0,
  })
}
