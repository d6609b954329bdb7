import { openConsentCalls } from '../api/consent-calls.ts'
import type { CatalogConfig } from '../config/model.ts'
import type { ConsentStore } from '../consents/store.ts'
import type { Clock } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import { ReleaseStack } from '../lib/release-stack.ts'
import { readVersion } from '../lib/version.ts'
import { ConsentSlots } from './consent-slots.ts'

interface ConsentDeliveryOptions {
  store: ConsentStore
  catalog: Pick<CatalogConfig, 'api' | 'consents'>
  clock: Clock
  log: Log
  onFatal: (error: unknown) => void
}

/** Delivers a catalog's consents from the process that holds the state lock. */
export function openConsentDelivery({ catalog, ...options }: ConsentDeliveryOptions): AsyncDisposable {
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
  stack.use('consent slots', new ConsentSlots({ ...options, ...config, calls, log }))
  return stack
}
