import type { RedisConnection } from '../redis/connection.ts'
import { type CatalogKeys, outboxVersion } from './keys.ts'

/** Whose keys they are. */
export interface GuardOwner {
  /** Of the mirror; random. */
  mirrorId: string
  generation: string
  /** Normalised URL, with the account where the configuration names one. */
  endpoint: string
}

/** Where the mirror is, for people. */
export interface MirrorPlace {
  host: string
  folder: string
}

export interface GuardState extends GuardOwner, MirrorPlace {
  /** Calls may begin. */
  isOpen: boolean
  version: number
  /** Of the Redis whose losses were repaired. */
  runId: string
  /** Of the process that drains and offers now. */
  session: string | undefined
}

/** What every claim carries: the guard is one comparison. */
export function passOf({ mirrorId, generation, endpoint }: GuardOwner, runId: string): string {
  return [mirrorId, generation, outboxVersion, runId, endpoint].join(' ')
}

/** Fields and values that `open` sets. */
export function guardFields(owner: GuardOwner & MirrorPlace, runId: string): string[] {
  const { mirrorId: mirror, generation, endpoint, host, folder } = owner
  const named = { mirror, generation, endpoint, host, folder }
  return Object.entries({ ...named, runId, version: `${outboxVersion}`, pass: passOf(owner, runId) }).flat()
}

/** Undefined: the keys belong to nobody yet, or Redis was emptied. */
export async function readGuard(
  connection: RedisConnection,
  { guard }: CatalogKeys,
): Promise<GuardState | undefined> {
  return parseGuard(await connection.hgetall(guard))
}

export function parseGuard(fields: Readonly<Record<string, string>>): GuardState | undefined {
  const { mirror: mirrorId, generation = '', endpoint = '', runId = '', host = '', folder = '' } = fields
  if (mirrorId === undefined) return undefined
  const { version = 0, open, session } = fields
  const owner = { mirrorId, generation, endpoint, host, folder }
  return { ...owner, version: Number(version), runId, isOpen: open === '1', session }
}
