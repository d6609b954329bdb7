import type { LoopAccess } from './loop-access.ts'
import type { RedisState } from './redis-state.ts'

/** What `limit.lua` remembers of refusals for their size; an operator's `resume` forgets it. */
export const limitFields = ['', 'At', 'ChangedAt', 'Taken', 'Needed'].map((part) => `bodyBytes${part}`)

/** Redis has the operator's pause as the mirror says, whatever it has forgotten. */
export async function followCalls(
  { connection, keys, scripts, mirror }: LoopAccess,
  { pause, resumedAt }: Pick<RedisState, 'pause' | 'resumedAt'>,
): Promise<void> {
  const calls = mirror.calls()
  if (calls?.decision === 'pause' && pause.operator === undefined) {
    const text = JSON.stringify({ since: calls.at, hint: 'catalogd resume lets calls begin again' })
    await scripts.write(connection, 'pause', ['HSETNX', 'operator', text])
  }
  if (calls?.decision !== 'resume' || resumedAt === calls.at) return
  const older = Object.entries(pause).filter(([reason, text]) => {
    return reason === 'operator' || (reason === 'refuses-everything' && sinceOf(text) <= calls.at)
  })
  if (older.length > 0) await connection.hdel(keys.pause, ...older.map(([reason]) => reason))
  await connection.hdel(keys.pace, ...limitFields)
  await scripts.write(connection, 'pace', ['HSET', 'resumedAt', calls.at])
}

function sinceOf(text: string): string {
  const { since = '' } = JSON.parse(text) as { since?: string }
  return since
}
