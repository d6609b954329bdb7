import { isEmailAddress } from '../api/contract/values.ts'
import { consentCommandName } from '../config/consent-fields.ts'
import { openConsentKey } from '../consents/key.ts'
import type { ConsentId, FeedName } from '../lib/brand.ts'
import { ConfigError, StorageError } from '../lib/errors.ts'
import { type DeadLetter, readDeadLetter } from '../outbox/dead-letters.ts'
import { catalogKeys } from '../outbox/keys.ts'
import { putText } from '../sources/inbox.ts'
import { type LoadProgress, takeIn } from './load-files.ts'
import type { OperationContext } from './run-here.ts'

interface RecordOptions extends OperationContext {
  email: string
  consent: boolean
  /** Until the endpoint has acknowledged it; otherwise only until it is taken in. */
  waits: boolean
  onProgress: (progress: LoadProgress) => void
}

export interface RecordedConsent {
  /** What stands for the address in logs and lists. */
  id: ConsentId
  consent: boolean
  /** Of the import that took it in. */
  sequence: number
  /** `waiting`: not delivered yet. `refused`: among the dead letters. */
  state: 'delivered' | 'waiting' | 'refused'
  refusal: Pick<DeadLetter, 'reason' | 'status' | 'at'> | null
}

/** Takes one consent in as a file of one record and follows it. Nothing that is thrown shows the address. */
export async function recordConsent(options: RecordOptions): Promise<RecordedConsent> {
  const { config, catalog, connections, clock, consent } = options
  const email = options.email.trim()
  if (!isEmailAddress(email)) {
    throw new ConfigError('usage', 'the first argument is no e-mail address (not shown)', {
      hint: 'Give one address, without blanks or a name around it',
    })
  }
  const feed = catalog.consents.feeds.get(consentCommandName as FeedName)
  if (!feed) {
    throw new ConfigError('consents-off', `catalog ${catalog.name} has no token for consents`, {
      hint: `Set catalogs.${catalog.name}.api.emailToken, or emailTokenFile`,
    })
  }
  const id = (await openConsentKey(config.stateDir)).idOf(email)
  const connection = connections.commands
  const keys = catalogKeys(catalog.name, 'consents')
  const isPending = async () => (await connection.hexists(keys.pending, id)) === 1
  const findRefusal = () => readDeadLetter({ connection, keys }, id)
  const text = `${JSON.stringify({ email, consent })}\n`
  const [report] = await takeIn({
    ...options,
    feed,
    put: async (inboxDir) => [
      await putText({ inboxDir, feed: feed.name, mode: 'delta', name: 'consent.ndjson', text, clock }),
    ],
    isDelivered: async () => !(await isPending()) || (await findRefusal()) !== undefined,
  })
  if (report?.outcome !== 'imported' || report.rejected > 0) {
    throw new StorageError(
      'consent-not-taken-in',
      `the consent was not taken in: ${report?.reason ?? 'see the log'}`,
    )
  }
  const refusal = await findRefusal()
  const state = refusal ? 'refused' : (await isPending()) ? 'waiting' : 'delivered'
  return { id, consent, sequence: report.sequence, state, refusal: refusal ?? null }
}
