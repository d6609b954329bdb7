import type { Lane } from '../catalog/model.ts'
import { StorageError } from '../lib/errors.ts'
import type { MirrorIdentity } from '../mirror/loop-model.ts'
import { type GuardState, type MirrorPlace, passOf } from './guard.ts'
import { outboxVersion } from './keys.ts'

export const lanes = ['urgent', 'new', 'deferred'] as const satisfies readonly Lane[]

export interface Compared {
  catalog: string
  guard: GuardState | undefined
  /** Of this connection. */
  runId: string
  beat: number
  positions: Readonly<Record<Lane, number>>
  identity: MirrorIdentity
  /** As the configuration names it. */
  endpoint: string
  isStartingOver: boolean
  /** Of this process. */
  place: MirrorPlace
  /** Earlier runs of an embedded server that lost nothing: each ended in good order, before the next began. */
  cleanRuns: readonly string[]
}

/**
 * `whole`: Redis holds all that the mirror believes it holds. `restarted`: the same, by another run of a server that was
 * closed in good order. `updated`: the same, written by scripts of an older version. `lost`: Redis forgot something, or
 * never knew the mirror. `start-over`: that was decided, and is not done yet.
 */
export type Comparison = 'whole' | 'restarted' | 'updated' | 'lost' | 'start-over'

/** Whether Redis, mirror and endpoint belong together. Throws where only the operator can tell. Pure. */
export function compare(compared: Compared): Comparison {
  const { guard, identity, place, isStartingOver, beat } = compared
  // A mirror that began anew does not know where the one before it, in this very place, has sent.
  const known = guard && isOfPlace(guard, place) ? guard.endpoint : undefined
  checkEndpoint({ ...compared, identity: { ...identity, endpoint: identity.endpoint ?? known } })
  if (guard) checkVersion(guard, compared.catalog)
  // Redis may have been emptied since.
  if (identity.behindSinceMs !== undefined) throw oldMirror(compared)
  if (isStartingOver) {
    if (guard) checkTaken(guard, compared)
    return 'start-over'
  }
  if (!guard) return 'lost'
  const isOwn = guard.generation === identity.generation
  if (!isOwn) checkOwner(guard, compared)
  if (!isOwn || identity.repairing !== undefined) return 'lost'
  checkAge(compared)
  if (!guard.isOpen || !(beat >= identity.beat)) return 'lost'
  const runs = compareRuns(guard, compared)
  return runs !== 'lost' && guard.version < outboxVersion ? 'updated' : runs
}

/** The mirror's memory is durable; what the guard shows may be of before. */
function compareRuns(guard: GuardState, compared: Compared): Comparison {
  const { runId, identity, beat, cleanRuns } = compared
  if (passOf(guard, runId) !== passOf(ownerOf(compared), runId)) return 'lost'
  const known = [identity.runId, guard.runId]
  if (known.every((each) => each === runId)) return 'whole'
  const isClean = (each: string | undefined) => each !== undefined && [...cleanRuns, runId].includes(each)
  return known.every(isClean) && beat === identity.beat ? 'restarted' : 'lost'
}

export function ownerOf({ identity, endpoint }: Pick<Compared, 'identity' | 'endpoint'>) {
  return { mirrorId: identity.mirrorId, generation: identity.generation, endpoint }
}

/** Throws when the catalog was sent to another endpoint before. */
export function checkEndpoint({
  catalog,
  identity,
  endpoint,
}: Pick<Compared, 'catalog' | 'identity' | 'endpoint'>): void {
  if (identity.endpoint === undefined || identity.endpoint === endpoint) return
  throw new StorageError(
    'other-endpoint',
    `the catalog ${catalog} has been sent to ${identity.endpoint}, and the configuration names ${endpoint}`,
    {
      hint: `Correct api.url, or run "catalogd adopt" to send every product to the new endpoint`,
    },
  )
}

/** Older ones are repaired, which shuts out the processes that deliver with them. */
function checkVersion({ version }: GuardState, catalog: string): void {
  if (version <= outboxVersion) return
  throw new StorageError(
    'redis-other-version',
    `Redis holds the outbox of the catalog ${catalog} in version ${version}, and this catalogd knows version ${outboxVersion}`,
    { hint: 'Update this catalogd' },
  )
}

/** Starting over replaces what an earlier mirror in this very place has left, and others only where that was decided. */
function checkTaken(guard: GuardState, compared: Compared): void {
  const { identity, place, catalog } = compared
  if (
    guard.mirrorId === identity.mirrorId ||
    isOfPlace(guard, place) ||
    identity.former.includes(guard.generation)
  )
    return
  throw otherMirror(guard, catalog)
}

function isOfPlace(guard: GuardState, { host, folder }: MirrorPlace): boolean {
  return guard.host === host && guard.folder === folder
}

/** An earlier generation of this mirror is a Redis that fell back; others are a later one, or another mirror's. */
function checkOwner(guard: GuardState, compared: Compared): void {
  const { catalog, identity } = compared
  if (identity.former.includes(guard.generation)) return
  throw guard.mirrorId === identity.mirrorId ? oldMirror(compared) : otherMirror(guard, catalog)
}

function checkAge(compared: Compared): void {
  const { identity, beat, positions } = compared
  const isAhead = lanes.some((lane) => positions[lane] > identity.last[lane])
  if (isAhead || beat > identity.beat + 1) throw oldMirror(compared)
}

function otherMirror({ host, folder }: GuardState, catalog: string): StorageError {
  return new StorageError(
    'redis-other-mirror',
    `this Redis serves another catalog that is called ${catalog}: its state is in ${folder} on ${host}`,
    {
      hint: 'Rename one of both catalogs, or give it a Redis of its own; if that state folder is gone for good, run "catalogd adopt"',
    },
  )
}

const oldMirrorCode = 'mirror-old'

/** Redis knows of more than this mirror does. */
export function isOldMirror(error: unknown): boolean {
  return error instanceof StorageError && error.code === oldMirrorCode
}

function oldMirror({ catalog }: Compared): StorageError {
  return new StorageError(
    oldMirrorCode,
    `the state of the catalog ${catalog} is older than what Redis knows of it: it comes from a backup or a copy`,
    {
      hint: 'Run "catalogd restore" with the backup, or "catalogd adopt" to go on with this state and send every product again',
    },
  )
}
