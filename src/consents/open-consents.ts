import { join } from 'node:path'
import type { CatalogName, ConsentId } from '../lib/brand.ts'
import type { Clock } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import { type CatalogKeys, catalogKeys } from '../outbox/keys.ts'
import { OutboxScripts } from '../outbox/scripts.ts'
import type { RedisConnections } from '../redis/connections.ts'
import { CatchUp } from './catch-up.ts'
import { settleConsents } from './dead-letters.ts'
import { ConsentGate } from './gate.ts'
import { ConsentJournal } from './journal.ts'
import { identityOf, journalPath } from './journal-keys.ts'
import { openConsentKey } from './key.ts'
import type { ConsentIntake } from './model.ts'
import type { ConsentPosition } from './position.ts'

export interface OpenConsentsOptions {
  catalog: CatalogName
  stateDir: string
  /** `state/<catalog>`. */
  dir: string
  /** Identity of the manifest, whose sequences are the positions of consents. */
  stateId: string
  connections: RedisConnections
  clock: Clock
  log: Log
  /** Consents may be due for delivery. */
  onDue: () => void
}

/** A catalog's consents in the process that holds the state lock. */
export interface Consents extends AsyncDisposable {
  keys: CatalogKeys
  scripts: OutboxScripts
  gate: ConsentGate
  journal: ConsentJournal
  catchUp: CatchUp
  intake: ConsentIntake
  /** Where calls of consents are written down. */
  callsDir: string
}

export async function openConsents(options: OpenConsentsOptions): Promise<Consents> {
  const { catalog, stateDir, dir, stateId, connections, clock, log, onDue } = options
  const keys = catalogKeys(catalog, 'consents')
  const scripts = await OutboxScripts.read(keys)
  const key = await openConsentKey(stateDir)
  const folder = join(dir, 'consents')
  const identity = identityOf(key.fingerprint, stateId)
  const journal = await ConsentJournal.open({
    path: journalPath(dir),
    identity,
    clock,
    log,
  })
  const connection = connections.commands
  const gate = new ConsentGate(onDue)
  const catchUp = new CatchUp({ connection, keys, scripts, journal })
  const keepKey = async () => {
    if ((await key.keep()) === 'restored') {
      log.warn('consents.key had been removed from the state folder: it was written again')
    }
  }
  const intake: ConsentIntake = {
    hasher: key,
    keepKey,
    keys,
    scripts,
    gate,
    begin: async () => {
      gate.close()
      catchUp.distrust()
      await keepKey()
      const known = await connection.get(keys.journal)
      const isForeign = known !== null && !known.startsWith(`${identity}:`)
      if (isForeign) {
        log.warn('what Redis holds of consents belongs to another state folder: it is removed')
        await connection.unlink(...everyKey(keys))
      }
      await catchUp.follow()
      return isForeign ? 'reset' : 'kept'
    },
    readAcknowledged: (ids) => readAcknowledged({ connection, keys }, ids),
    settleDeadLetters: (how, ids) =>
      settleConsents({ connection, keys, scripts, journal, catchUp, clock }, { how, ids }),
  }
  return {
    ...{ keys, scripts, gate, journal, catchUp, intake },
    callsDir: join(folder, 'calls'),
    [Symbol.asyncDispose]: () => journal[Symbol.asyncDispose](),
  }
}

/** All but the lease, which says who imports. */
function everyKey({ heldIds: _, keyIndex: __, writerLease: ___, ...keys }: CatalogKeys): string[] {
  return Object.values(keys)
}

async function readAcknowledged(
  { connection, keys }: { connection: RedisConnections['commands']; keys: CatalogKeys },
  ids: readonly ConsentId[],
): Promise<ReadonlyMap<ConsentId, ConsentPosition>> {
  const known = new Map<ConsentId, ConsentPosition>()
  if (ids.length === 0) return known
  const positions = await connection.hmget(keys.acknowledgedMeta, ...ids)
  ids.forEach((id, index) => {
    const position = positions[index]
    if (position) known.set(id, position as ConsentPosition)
  })
  return known
}
