import { isEmailAddress } from '../api/contract/values.ts'
import type { CatalogConfig, FeedKind } from '../config/model.ts'
import { ConsentReader } from '../consents/reader.ts'
import { describeHeld, parseHeld } from '../imports/held.ts'
import type { AcceptSequence, FeedName } from '../lib/brand.ts'
import { ConfigError, StorageError } from '../lib/errors.ts'
import { catalogKeys } from '../outbox/keys.ts'
import { putDecision } from '../sources/inbox.ts'
import { layoutOf } from '../sources/layout.ts'
import { readManifest } from '../sources/manifest-reader.ts'
import type { Decision } from '../sources/model.ts'
import { stateDirOf } from '../storage.ts'
import { type OperationContext, openWorkHere } from './run-here.ts'

const lookEveryMs = 50
const daemonWithinMs = 60_000

/** Writes an operator's decision down and returns when it has been carried out. */
export async function decide(
  context: OperationContext,
  decision: Decision,
): Promise<{ sequence: AcceptSequence }> {
  const { config, catalog, connections, clock, signal } = context
  const kinds = kindsOf(decision, catalog)
  const dir = stateDirOf(config, catalog.name)
  const request = await putDecision({ inboxDir: layoutOf(dir).inboxDir, decision, clock })
  await using work = await openWorkHere(context, ['watch', 'import'])
  using manifest = await readManifest(dir)
  const giveUpAt = clock.monotonic() + daemonWithinMs
  const carriedOut = async () => {
    for (;;) {
      await manifest.refresh()
      const line = manifest.decisions().find((each) => each.request === request)
      const scope = line && scopeOf(decision, manifest)
      const isApplied = async (kind: FeedKind) => {
        if (!line || !scope) return false
        if (kind === 'products') {
          const { applied } = catalogKeys(catalog.name)
          return Number(await connections.commands.hget(applied, scope)) >= line.sequence
        }
        using consents = ConsentReader.open(dir)
        return consents !== undefined && consents.applied(scope) >= line.sequence
      }
      if (line && (await Promise.all(kinds.map(isApplied))).every(Boolean)) return line
      if (work.daemon && clock.monotonic() > giveUpAt) throw notCarriedOut(work.daemon.pid)
      await clock.sleep(lookEveryMs, signal)
    }
  }
  const { sequence } = await Promise.race([carriedOut(), work.failed])
  return { sequence }
}

/** Whose imports carry the decision out: each kind goes through the manifest at its own pace. */
function kindsOf(decision: Decision, { consents }: CatalogConfig): FeedKind[] {
  if ('of' in decision && decision.of !== undefined) return [decision.of]
  const isOfAll = decision.decision === 'pause' || decision.decision === 'resume'
  return isOfAll && consents.feeds.size > 0 ? ['products', 'consents'] : ['products']
}

/** Throws a ConfigError when nothing of that import is held. */
export async function requireHeld(
  { catalog, connections }: OperationContext,
  sequence: number,
): Promise<string> {
  const held = await connections.commands.hgetall(catalogKeys(catalog.name).held)
  const all = Object.entries(held).flatMap(([feed, text]) =>
    parseHeld(text).map((each) => ({ feed, held: each })),
  )
  const found = all.find((each) => each.held.sequence === sequence)
  if (found) return describeHeld(found.feed as FeedName, found.held)
  const known = all.map((each) => each.held.sequence)
  throw new ConfigError('nothing-held', `nothing of import ${sequence} is held`, {
    hint: known.length === 0 ? 'Nothing is held at present' : `Held at present: ${known.join(', ')}`,
  })
}

/** Throws a ConfigError when the catalog does not know one of the products. */
export async function requireProducts(
  { catalog, connections }: OperationContext,
  ids: readonly string[],
): Promise<void> {
  const { meta } = catalogKeys(catalog.name)
  const known = await Promise.all(ids.map((id) => connections.commands.hexists(meta, id)))
  const unknown = ids.filter((_, index) => known[index] === 0)
  if (unknown.length === 0) return
  const shown = unknown.slice(0, 5).map((id) => JSON.stringify(id))
  const more = unknown.length > shown.length ? ` and ${unknown.length - shown.length} more` : ''
  const isAddress = unknown.some((id) => isEmailAddress(id))
  if (isAddress) throw consentsStay()
  throw new ConfigError(
    'product-unknown',
    `catalog ${catalog.name} has no product ${shown.join(', ')}${more}`,
    { hint: 'Nothing was done; check the ids' },
  )
}

/** Why `resync` knows no consents. */
export function consentsStay(): ConfigError {
  return new ConfigError(
    'resync-consents',
    'consents are never sent again: what was true when a consent was acknowledged may be revoked elsewhere by now',
    { hint: 'Record what the customer wants now with catalogd consent <email> true|false' },
  )
}

function scopeOf(
  decision: Decision,
  manifest: { file(sequence: AcceptSequence): { feed: string } | undefined },
) {
  if (decision.decision === 'approve' || decision.decision === 'discard')
    return manifest.file(decision.import)?.feed
  return '*'
}

function notCarriedOut(pid: number): StorageError {
  return new StorageError(
    'not-carried-out',
    `catalogd (pid ${pid}) has not carried the decision out within a minute`,
    {
      hint: 'It is written down and will be; see catalogd status for what it waits for',
    },
  )
}
