import { isEmailAddress } from '../api/contract/values.ts'
import { consentCommandName } from '../config/consent-feed-checks.ts'
import { ConsentReader } from '../consents/reader.ts'
import type { ConsentLetter } from '../consents/row.ts'
import type { ConsentId, FeedName } from '../lib/brand.ts'
import { ConfigError, StorageError } from '../lib/errors.ts'
import { putText } from '../sources/inbox.ts'
import { stateDirOf } from '../storage.ts'
import { type TakingIn, takeIn } from './load-files.ts'

interface RecordOptions extends Omit<TakingIn, 'feed' | 'put' | 'isDelivered'> {
  email: string
  consent: boolean
}

interface ConsentState {
  /** What stands for the address in logs and lists. */
  id: ConsentId
  /** `waiting`: not delivered yet. `refused`: among the dead letters. */
  state: 'delivered' | 'waiting' | 'refused'
  refusal: Pick<ConsentLetter, 'reason' | 'status' | 'at'> | null
}

export interface RecordedConsent extends ConsentState {
  consent: boolean
  /** Of the import that took it in. */
  sequence: number
}

/** Takes one consent in as a file of one record and follows it. Nothing that is thrown shows the address. */
export async function recordConsent(options: RecordOptions): Promise<RecordedConsent> {
  const { config, catalog, clock, consent } = options
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
  const dir = stateDirOf(config, catalog.name)
  const text = `${JSON.stringify({ email, consent })}\n`
  const [report] = await takeIn({
    ...options,
    feed,
    put: async (inboxDir) => [
      await putText({ inboxDir, feed: feed.name, mode: 'delta', name: 'consent.ndjson', text, clock }),
    ],
    isDelivered: () => readState(dir, email)?.state !== 'waiting',
  })
  const taken = readState(dir, email)
  if (report?.outcome !== 'imported' || report.rejected > 0 || !taken) {
    const problem = `the consent was not taken in: ${report?.reason ?? 'see the log'}`
    throw new StorageError('consent-not-taken-in', problem)
  }
  return { ...taken, consent, sequence: report.sequence }
}

/** Undefined: the address was never taken in. */
function readState(dir: string, email: string): ConsentState | undefined {
  using consents = ConsentReader.open(dir)
  const row = consents.find(consents.idOf(email))
  if (!row) return undefined
  const refusal = row.letter ? (JSON.parse(row.letter) as ConsentLetter) : null
  return { id: row.id, state: refusal ? 'refused' : row.lane === null ? 'delivered' : 'waiting', refusal }
}
