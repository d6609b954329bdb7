import type { CallKind } from '../api/classify.ts'
import { openConsentCalls } from '../api/consent-calls.ts'
import type { CatalogConfig, DeliveryConfig } from '../config/model.ts'
import { ConsentOutbox } from '../consents/consent-outbox.ts'
import type { Consents } from '../consents/open-consents.ts'
import type { Clock } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import { ReleaseStack } from '../lib/release-stack.ts'
import { readVersion } from '../lib/version.ts'
import type { RedisConnection } from '../redis/connection.ts'
import { CallLog } from './call-log.ts'
import { ConsentCallLog, recoverCalls } from './consent-call-log.ts'
import { ConsentSender } from './consent-sender.ts'
import type { DeliveryProgress } from './context.ts'
import { PathRefusals } from './path-refusals.ts'
import type { TicketQueue } from './tickets.ts'
import { type Delivery, openDelivery } from './worker.ts'

const consentCalls: CallKind = {
  group: 'consent',
  tokenAdvice: 'Check the Email token of this catalog (`api.emailToken`)',
  addressAdvice: 'Check `api.url` and `consents.path` of this catalog',
}
/** Of one file of the call log: calls of consents are small and many. */
const rotateMegabytes = 4
/** Nothing but the address counts, and no body is sent. */
const callBytes = 65_536

export interface ConsentDeliveryOptions {
  consents: Consents
  catalog: Pick<CatalogConfig, 'api' | 'consents'>
  connection: RedisConnection
  tickets: TicketQueue
  processName: string
  clock: Clock
  log: Log
  progress: DeliveryProgress
}

/**
 * Delivers a catalog's consents from the process that holds the state lock. Calls that a former process left behind are
 * written into the journal first.
 */
export async function openConsentDelivery(options: ConsentDeliveryOptions): Promise<Delivery> {
  const { consents, catalog, tickets, processName, clock, progress } = options
  const { api, consents: config } = catalog
  const log = options.log.child({ kind: 'consents' })
  const delivery: DeliveryConfig = { ...config, callBytes }
  // Asked for now, so that a variable that is not set ends the start with a clear message instead of the first call.
  api.url.value()
  api.emailToken.value()
  const stack = new ReleaseStack()
  try {
    const calls = stack.use(
      'consent API client',
      openConsentCalls({
        url: () => api.url.value(),
        token: () => api.emailToken.value(),
        path: config.path,
        timeoutMs: config.timeoutMs,
        connections: config.concurrency + 1,
        version: readVersion(),
      }),
    )
    const dir = consents.callsDir
    const files = stack.use(
      'call log',
      new CallLog({ dir, processName, horizonMs: config.horizonMs, clock, log, rotateMegabytes }),
    )
    const recovered = await recoverCalls({ dir, journal: consents.journal, log: files })
    if (recovered > 0) log.warn({ calls: recovered }, 'consent calls ended without their outcome being known')
    const outbox = openConsentOutbox(options, { delivery, log, onSettled: (token) => callLog.settled(token) })
    const callLog = new ConsentCallLog(files, (token) => outbox.positionOf(token))
    const client = new ConsentSender({ calls, outbox })
    const worker = await openDelivery({
      ...{ outbox, client, tickets, processName, clock, log, callLog, progress },
      calls: consentCalls,
      config: delivery,
      pathRefusals: new PathRefusals(() => outbox.takeBackRefused()),
    })
    stack.push('what Redis does not know yet', () => outbox.flush())
    stack.use('delivery', worker)
    return { wake: () => worker.wake(), [Symbol.asyncDispose]: () => stack[Symbol.asyncDispose]() }
  } catch (error) {
    await stack[Symbol.asyncDispose]()
    throw error
  }
}

function openConsentOutbox(
  { consents, connection, clock, progress }: ConsentDeliveryOptions,
  { delivery, log, onSettled }: { delivery: DeliveryConfig; log: Log; onSettled: (token: string) => void },
): ConsentOutbox {
  const { keys, scripts, gate, journal, catchUp } = consents
  return new ConsentOutbox({
    ...{ connection, keys, scripts, delivery, gate, journal, catchUp, clock, log, onSettled },
    deferred: { afterMs: 0, atMostMs: 0 },
    waiting: () => progress.waiting(),
  })
}
