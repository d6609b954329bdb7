import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import type { Lane } from '../catalog/model.ts'
import { StorageError } from '../lib/errors.ts'
import { type Database, fileIdentity } from './database.ts'
import { readFact, readFacts, removeFacts, writeFact } from './facts.ts'
import { lanes } from './lanes.ts'
import type { MirrorIdentity } from './loop-model.ts'

export function readIdentity(database: Database): MirrorIdentity {
  const facts = readFacts<string, string | number>(database, 'identity')
  const text = (name: string): string | undefined => facts.get(name)?.toString()
  const lastLossMs = facts.get('lastLossMs')
  const positions = readFacts<Lane, number>(database, 'position')
  return {
    mirrorId: text('mirrorId') ?? '',
    generation: Number(facts.get('generation') ?? 1),
    endpoint: text('endpoint'),
    beat: Number(facts.get('beat') ?? 0),
    runId: text('runId'),
    repairing: text('repairing'),
    lastLossMs: lastLossMs === undefined ? undefined : Number(lastLossMs),
    positions: Object.fromEntries(lanes.map((lane) => [lane, positions.get(lane) ?? 0])) as Record<
      Lane,
      number
    >,
  }
}

/** Inside a transaction. */
export function writeIdentity(
  database: Database,
  { positions, ...change }: Partial<Omit<MirrorIdentity, 'mirrorId'>>,
): void {
  for (const [name, value] of Object.entries(change)) writeFact(database, 'identity', name, value)
  for (const lane of lanes) if (positions) writeFact(database, 'position', lane, positions[lane])
}

/** Notes which file the mirror stands in: at its making, and where a copy is to become the mirror. */
export function writeFile(database: Database, isNew: boolean): void {
  database.transaction(() => {
    if (isNew) writeFact(database, 'identity', 'mirrorId', randomUUID())
    writeFact(database, 'identity', 'file', fileIdentity(database.file))
  })
}

/** A copy holds what was true of the original then; nobody has said which of the two goes on. */
export function checkFile(database: Database): void {
  const own = readFact<string>(database, 'identity', 'file')
  if (own === fileIdentity(database.file)) return
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
  if (existsSync(file) && fileIdentity(file) === identity) return
  throw new StorageError(
    'mirror-replaced',
    `${file} was moved, removed or replaced while catalogd had it open`,
    {
      hint: 'Stop catalogd, put the file back or run catalogd restore <folder>, and start it again',
    },
  )
}

/** Begins a new generation; what was counted for the Redis of the old one means nothing any more. */
export function beginGeneration(database: Database, endpoint: string | undefined): void {
  const { generation } = readIdentity(database)
  writeIdentity(database, { generation: generation + 1, ...(endpoint === undefined ? {} : { endpoint }) })
  writeFact(database, 'identity', 'startOver', 0)
  removeFacts(database, 'position')
}
