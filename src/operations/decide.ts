import { isEmailAddress } from '../api/contract/values.ts'
import type { CatalogConfig, FeedKind } from '../config/model.ts'
import { ConsentReader } from '../consents/reader.ts'
import { describeHeld, parseHeld } from '../imports/context.ts'
import type { AcceptSequence, ProductId } from '../lib/brand.ts'
import { ConfigError, StorageError } from '../lib/errors.ts'
import { catalogKeys } from '../outbox/keys.ts'
import { followsDecision } from '../outbox/overview.ts'
import { putDecision } from '../sources/inbox.ts'
import { layoutOf } from '../sources/layout.ts'
import { readManifest } from '../sources/manifest-reader.ts'
import type { Decision, DecisionLine } from '../sources/model.ts'
import { openMirror, stateDirOf } from '../storage.ts'
import { type OperationContext, openWorkHere } from './run-here.ts'

const lookEveryMs = 50
const daemonWithinMs = 60_000

/** Writes an operator's decision down and returns when it has been carried out. */
export async function decide(
  context: OperationContext,
  decision: Decision,
): Promise<{ sequence: AcceptSequence }> {
  const { config, catalog, clock, signal } = context
  const kinds = kindsOf(decision, catalog)
  const dir = stateDirOf(config, catalog.name)
  const request = await putDecision({ inboxDir: layoutOf(dir).inboxDir, decision, clock })
  await using work = await openWorkHere(context, ['watch', 'import'])
  using manifest = await readManifest(dir)
  const giveUpAt = clock.monotonic() + daemonWithinMs
  for (;;) {
    await manifest.refresh()
    const line = manifest.decisions().find((each) => each.request === request)
    const done = kinds.map((kind) => line && isCarriedOut(context, line, kind))
    if (line && (await Promise.all(done)).every(Boolean)) return { sequence: line.sequence }
    if (work.daemon && clock.monotonic() > giveUpAt) throw notCarriedOut(work.daemon.pid)
    await Promise.race([clock.sleep(lookEveryMs, signal), work.failed])
  }
}

async function isCarriedOut(
  { config, catalog, connections }: OperationContext,
  line: DecisionLine,
  kind: FeedKind,
): Promise<boolean> {
  if (kind === 'consents') {
    using consents = ConsentReader.open(stateDirOf(config, catalog.name))
    return consents.applied('*') >= line.sequence
  }
  using mirror = await openMirror(config, catalog)
  if (!mirror.isApplied(line.request)) return false
  const { decision, at } = line
  if ((decision !== 'pause' && decision !== 'resume') || connections.failure) return true
  // The mirror remembers it, and Redis follows: what a command answers has to hold for the next call.
  const access = { connection: connections.commands, keys: catalogKeys(catalog.name) }
  return followsDecision(access, { decision, at })
}

/** Whose imports carry the decision out: each kind goes through the manifest at its own pace. */
function kindsOf(decision: Decision, { consents }: CatalogConfig): FeedKind[] {
  if ('of' in decision && decision.of !== undefined) return [decision.of]
  const isOfAll = decision.decision === 'pause' || decision.decision === 'resume'
  return isOfAll && consents.feeds.size > 0 ? ['products', 'consents'] : ['products']
}

/** Throws a ConfigError when nothing of that import is held. */
export async function requireHeld({ config, catalog }: OperationContext, sequence: number): Promise<string> {
  using mirror = await openMirror(config, catalog)
  const all = [...mirror.held()].flatMap(([feed, text]) =>
    parseHeld(text).map((each) => ({ feed, held: each })),
  )
  const found = all.find((each) => each.held.sequence === sequence)
  if (found) return describeHeld(found.feed, found.held)
  const known = all.map((each) => each.held.sequence)
  throw new ConfigError('nothing-held', `nothing of import ${sequence} is held`, {
    hint: known.length === 0 ? 'Nothing is held at present' : `Held at present: ${known.join(', ')}`,
  })
}

/** Throws a ConfigError when the catalog does not know one of the products. */
export async function requireProducts(
  { config, catalog }: OperationContext,
  ids: readonly string[],
): Promise<void> {
  using mirror = await openMirror(config, catalog)
  const known = mirror.read(ids as ProductId[])
  const unknown = ids.filter((id) => known.get(id as ProductId)?.meta === undefined)
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

function notCarriedOut(pid: number): StorageError {
  return new StorageError(
    'not-carried-out',
    `catalogd (pid ${pid}) has not carried the decision out within a minute`,
    {
      hint: 'It is written down and will be; see catalogd status for what it waits for',
    },
  )
}
