import { parentPort, workerData } from 'node:worker_threads'
import type { CatalogName } from './lib/brand.ts'
import { systemClock as clock } from './lib/clock.ts'
import { giveWay } from './lib/give-way.ts'
import { type RunningLoop, serveMirror, type ThreadOptions } from './mirror/thread.ts'
import { catalogKeys } from './outbox/keys.ts'
import { type LoopOptions, OutboxLoop } from './outbox/loop.ts'
import { drainAfterMs, newAfterMs } from './outbox/model.ts'
import { OutboxScripts } from './outbox/scripts/scripts.ts'
import type { RedisAddress } from './redis/connection-options.ts'
import { RedisConnections } from './redis/connections.ts'

// The thread of one catalog's mirror: the only writer of its file, and the loop between it and the outbox.

export interface MirrorThreadData extends ThreadOptions {
  redis: RedisAddress
  outbox: Pick<
    LoopOptions,
    'endpoint' | 'place' | 'delivery' | 'deferredAfterMs' | 'isDelivering' | 'pendingBytes' | 'cleanRuns'
  > & {
    catalog: CatalogName
  }
}

if (!parentPort) throw new Error('this file runs in a thread of its own')
// Calls and the console go first.
giveWay(3)
const { redis, outbox, ...options } = workerData as MirrorThreadData
await serveMirror(parentPort, options, async ({ store, log, tell, onFatal }): Promise<RunningLoop> => {
  const connections = new RedisConnections({ address: redis, clock, log, isQuiet: true })
  const keys = catalogKeys(outbox.catalog)
  const loop = new OutboxLoop({
    ...{ ...outbox, mirror: store, keys, scripts: await OutboxScripts.read(keys), newAfterMs, clock, log },
    drainAfterMs,
    connect: () => connections.openWriter(),
    onOffered: (offered) => tell({ kind: 'offered', ...offered }),
    onNewCalls: (answer) => tell({ kind: 'newCalls', answer }),
    onCompared: () => tell({ kind: 'compared' }),
    onFatal,
  })
  await loop.start()
  return {
    get isWaiting() {
      return loop.isWaiting
    },
    wake: () => loop.wake(),
    // An open connection would keep the thread from ending.
    async [Symbol.asyncDispose]() {
      await loop[Symbol.asyncDispose]()
      await connections[Symbol.asyncDispose]()
    },
  }
})
