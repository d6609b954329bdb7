import { join } from 'node:path'
import { openConsentCalls } from '../api/consent-calls.ts'
import type { CatalogConfig } from '../config/model.ts'
import type { ConsentStore } from '../consents/store.ts'
import type { Clock } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import { ReleaseStack } from '../lib/release-stack.ts'
import { readVersion } from '../lib/version.ts'
import { CallLog } from './call-log.ts'
import { ConsentSlots } from './consent-slots.ts'
import type { DeliveryProgress } from './context.ts'

/** Of one file of the call log: calls of consents are small and many. */
const rotateMegabytes = 4
const gatherMs = 100

interface ConsentDeliveryOptions {
  store: ConsentStore
  catalog: Pick<CatalogConfig, 'api' | 'consents'>
  /** `state/<catalog>`. */
  dir: string
  processName: string
  clock: Clock
  log: Log
  progress: DeliveryProgress
  onFatal: (error: unknown) => void
}

/** Delivers a catalog's consents from the process that holds the state lock. */
export function openConsentDelivery(options: ConsentDeliveryOptions): AsyncDisposable {
  const { store, catalog, dir, processName, clock, progress, onFatal } = options
  const { api, consents: config } = catalog
  const log = options.log.child({ kind: 'consents' })
  // Asked for now, so that a variable that is not set ends the start with a clear message instead of the first call.
  api.url.value()
  api.emailToken.value()
  const stack = new ReleaseStack()
  const calls = stack.use(
    'consent API client',
    openConsentCalls({
      url: () => api.url.value(),
      token: () => api.emailToken.value(),
      path: config.path,
      timeoutMs: config.timeoutMs,
      connections: config.concurrency,
      version: readVersion(),
    }),
  )
  const { concurrency, callsPerSecond, horizonMs } = config
  const files = { dir: join(dir, 'consents', 'calls'), processName, rotateMegabytes, gatherMs }
  const callLog = stack.use('call log', new CallLog({ ...files, horizonMs, clock, log }))
  stack.use(
    'consent slots',
    new ConsentSlots({
      ...{ store, calls, callLog, concurrency, callsPerSecond, horizonMs, clock, log, progress, onFatal },
    }),
  )
  return stack
}
