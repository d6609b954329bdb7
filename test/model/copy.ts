import type { Mirror, Redis } from './state.ts'

export function copyMirror(mirror: Mirror): Mirror {
  return {
    ...mirror,
    rows: new Map([...mirror.rows].map(([id, row]) => [id, { ...row }])),
    last: { ...mirror.last },
    offered: { ...mirror.offered },
    former: [...mirror.former],
  }
}

/** Values are never changed in place, so that only the collections are copied. */
export function copyRedis(redis: Redis): Redis {
  return {
    ...redis,
    positions: { ...redis.positions },
    documents: new Map(redis.documents),
    pending: new Map(redis.pending),
    queued: new Map(redis.queued),
    counted: new Map(redis.counted),
    echoes: new Map(redis.echoes),
    requests: new Set(redis.requests),
    claimed: new Map(redis.claimed),
    leases: new Map(redis.leases),
    acknowledged: new Map(redis.acknowledged),
    dead: new Map(redis.dead),
    refusals: new Map(redis.refusals),
    refusedInARow: [...redis.refusedInARow],
    paused: new Map(redis.paused),
  }
}
