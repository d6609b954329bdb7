import { type ProductField, productFields } from '../api/contract/product.ts'
import { type ChangeEntry, decodeChange } from '../catalog/change-entry.ts'
import type { ProductState } from '../catalog/model.ts'
import { decodeOrigins, type FeedOrigins, originOf, type RecordOrigin } from '../catalog/origins.ts'
import { type FieldRanks, rankFields } from '../catalog/ranks.ts'
import { shortValue, shownDocument } from '../catalog/show-value.ts'
import { decodeState } from '../catalog/stored-form.ts'
import type { AcceptSequence, FeedName, ProductId } from '../lib/brand.ts'
import type { StoredStory } from '../mirror/read-story.ts'
import type { ManifestView } from '../sources/manifest-index.ts'
import { type CallEntry, listCalls } from './list-calls.ts'
import type {
  DeliveryTimes,
  FeedStory,
  FieldStory,
  ImportOrigin,
  KnownStory,
  ProductStory,
  RecordPlace,
  StoryChange,
} from './story.ts'
import { blocksOf, isoOf, type StoryOptions, stateOf } from './story-state.ts'

const nearIdsMax = 4
const callsMax = 10
const lookMaxDefault = 5_000

/** What is known of a product, and why it is so: of mirror and manifest alone, which need neither feed nor endpoint. */
export function readStory(productId: ProductId, options: StoryOptions): ProductStory {
  const { catalog, mirror, manifest, underWay, nowMs, lookMax = lookMaxDefault } = options
  const stored = mirror.story(productId)
  const named = { productId, catalog: catalog.name }
  if (!stored) return { kind: 'unknown', ...named, nearIds: mirror.nearIds(productId, nearIdsMax) }
  const told = { ...options, stored, state: decodeState(stored), origins: decodeOrigins(stored.origins) }
  const entries = stored.history.map(decodeChange)
  const { calls, looked } = listCalls(mirror, { productId }, { callsMax, lookMax })
  const changes = entries.map((entry) => changeOf(entry, calls, manifest))
  return {
    kind: 'known',
    ...named,
    readAt: isoOf(nowMs),
    state: stateOf(told, calls),
    blocks: blocksOf(options),
    endpoint: stored.endpoint,
    document: stored.document ? shownDocument(stored.document) : null,
    fields: fieldsOf(told),
    feeds: feedsOf(told),
    absentSince: stored.absentMs === undefined ? null : isoOf(stored.absentMs),
    announced: announcedOf(told.state),
    delivery: changes[0]?.delivery ?? firstDelivery(told, calls),
    changes,
    calls,
    callsLookedThrough: looked,
    redis: underWay ? 'asked' : 'away',
  }
}

interface Told extends StoryOptions {
  stored: StoredStory
  state: ProductState
  origins: ReadonlyMap<FeedName, FeedOrigins>
}

function fieldsOf(told: Told): FieldStory[] {
  const { stored, state, catalog } = told
  const document: Readonly<Record<string, unknown>> = stored.document
    ? JSON.parse(stored.document.toString('utf8'))
    : state.fields
  const ranks = rankFields(catalog.feeds)
  return productFields.flatMap((field): FieldStory[] => {
    const [sent, value] = [document[field], state.fields[field]]
    const hides = hidersOf(field, told, ranks)
    if (field === 'product_id' || (sent === undefined && hides.length === 0)) return []
    const feed = state.writers[field]
    const origin = feed === undefined ? undefined : originOf(told.origins.get(feed), field)
    const isMarked = JSON.stringify(sent) !== JSON.stringify(value)
    return [
      {
        field,
        value: shortValue(field, sent),
        feed: feed ?? null,
        from: placeOf(origin, told.manifest),
        because: reasonOf(field, { feed, hides, ranks }),
        hides,
        ...(isMarked ? { insteadOf: shortValue(field, value) } : {}),
      },
    ]
  })
}

function hidersOf(field: ProductField, { origins, manifest, state }: Told, ranks: FieldRanks) {
  return [...origins].flatMap(([feed, known]): FieldStory['hides'] => {
    if (!(field in known.hidden) || state.writers[field] === feed) return []
    const value = shortValue(field, known.hidden[field])
    const isWriter = ranks.writer(field) === feed
    return [{ feed, value, from: placeOf(originOf(known, field), manifest), isWriter }]
  })
}

/** `feed` has written the value. */
function reasonOf(
  field: ProductField,
  { feed, hides, ranks }: { feed: FeedName | undefined; hides: FieldStory['hides']; ranks: FieldRanks },
): FieldStory['because'] {
  const isEarlier = feed !== undefined && ranks.rank(field, feed) === Number.POSITIVE_INFINITY
  if (isEarlier || hides.some(({ isWriter }) => isWriter)) return 'earlier'
  const overlap = ranks.overlaps.find((each) => each.field === field)
  if (!overlap) return 'only'
  return overlap.isOwned && feed === ranks.writer(field) ? 'owns' : 'first'
}

function feedsOf({ stored, state, origins, catalog, manifest }: Told): FeedStory[] {
  const named = [...state.feeds].filter((feed) => catalog.feeds.has(feed))
  const names = new Set([...named, ...state.missingFrom, ...Object.values(state.writers)])
  return [...names].flatMap((feed): FeedStory[] => {
    if (feed === undefined) return []
    const known = origins.get(feed)
    const isMissing = state.missingFrom.has(feed)
    const isNamed = state.feeds.has(feed) && catalog.feeds.has(feed)
    return [
      {
        feed,
        standing: isMissing ? 'missing' : isNamed ? 'named' : 'gone',
        lastRecord: placeOf(known?.records[0], manifest),
        missingSince:
          isMissing && known?.missingIn !== undefined ? importOf(known.missingIn, manifest) : null,
        isRemovalHeld: stored.heldBy.includes(feed),
      },
    ]
  })
}

function announcedOf({ later }: ProductState): KnownStory['announced'] {
  return [...(later ?? [])].flatMap(([feed, patches]) =>
    patches.map(({ at, set, clear }) => {
      const fields = [...Object.entries(set), ...clear.map((field) => [field, undefined] as const)]
      return {
        feed,
        at: isoOf(at),
        fields: fields.map(([field, value]) => ({ field, value: shortValue(field, value) })),
      }
    }),
  )
}

function importOf(number: number, manifest: ManifestView): ImportOrigin {
  const accept = manifest.file(number as AcceptSequence)
  const asOf = manifest.outcome(number as AcceptSequence)?.asOf ?? accept?.asOf
  const { feed = null, name: file = null, acceptedAt = null } = accept ?? {}
  return { import: number, feed, file, acceptedAt, asOf: asOf ?? null }
}

function placeOf(origin: RecordOrigin | undefined, manifest: ManifestView): RecordPlace | null {
  return origin ? { ...importOf(origin.import, manifest), line: origin.line } : null
}

function changeOf(entry: ChangeEntry, calls: readonly CallEntry[], manifest: ManifestView): StoryChange {
  const { cause, lane, fields, more, atMs } = entry
  const from =
    cause.kind === 'record'
      ? placeOf(cause, manifest)
      : cause.kind === 'missing'
        ? importOf(cause.import, manifest)
        : null
  return {
    at: isoOf(atMs),
    cause: cause.kind,
    from,
    lane,
    fields: fields.map(({ field, before, after }) => {
      return { field, before: shortValue(field, before), after: shortValue(field, after) }
    }),
    more,
    delivery: timesOf({ acceptedAt: from?.acceptedAt ?? null, queuedMs: atMs, calls }),
  }
}

/** Of a product that has not changed since it came: when it was written down is not kept. */
function firstDelivery(
  { origins, manifest, stored, state }: Told,
  calls: readonly CallEntry[],
): DeliveryTimes {
  // A record whose values are all hidden brought nothing that was sent.
  const imports = productFields.flatMap((field) => {
    const feed = state.writers[field]
    return feed === undefined ? [] : (originOf(origins.get(feed), field)?.import ?? [])
  })
  const newest = imports.length === 0 ? undefined : importOf(Math.max(...imports), manifest)
  return timesOf({ acceptedAt: newest?.acceptedAt ?? null, queuedMs: stored.place?.sinceMs, calls })
}

interface Travel {
  acceptedAt: string | null
  queuedMs: number | undefined
  /** Newest first. */
  calls: readonly CallEntry[]
}

/** The first acknowledged call that began when the change was written down carried it, or a newer one. */
function timesOf({ acceptedAt, queuedMs, calls }: Travel): DeliveryTimes {
  const fromMs = queuedMs ?? (acceptedAt === null ? 0 : Date.parse(acceptedAt))
  const later = calls.filter(({ beganAt }) => Date.parse(beganAt) >= fromMs).toReversed()
  const call = later.find(({ outcome }) => outcome === 'acknowledge')
  const sentAt = (call ?? later[0])?.beganAt ?? null
  const queuedAt = queuedMs === undefined ? null : isoOf(queuedMs)
  const acknowledgedAt = call?.endedAt ?? null
  return {
    ...{ acceptedAt, queuedAt, sentAt, acknowledgedAt, call: call ?? null },
    acceptedToQueuedMs: between(acceptedAt, queuedAt),
    queuedToSentMs: between(queuedAt, sentAt),
    sentToAcknowledgedMs: between(sentAt, acknowledgedAt),
  }
}

function between(from: string | null, to: string | null): number | null {
  return from === null || to === null ? null : Date.parse(to) - Date.parse(from)
}
