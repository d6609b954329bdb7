import { type ProductField, productFields } from '../api/contract/product.ts'
import type { FeedName } from '../lib/brand.ts'
import type { LaterPatch, ProductPatch, ProductState } from './model.ts'
import { type FieldRanks, mergeFields } from './ranks.ts'

type Later = NonNullable<ProductState['later']>

/**
 * What a feed has said for times to come, after its next record. A record replaces what the feed announced for every
 * field that it speaks of, now or for later; what a delta leaves unsaid stays announced.
 */
export function mergeLater(
  state: ProductState | undefined,
  { patch, feed }: { patch: ProductPatch; feed: FeedName },
): Pick<ProductState, 'later'> {
  const announced = patch.later ?? []
  const before = state?.later?.get(feed) ?? []
  if (announced.length === 0 && before.length === 0) return pick(state?.later)
  const spoken = new Set([patch, ...announced].flatMap(fieldsOf))
  const kept = before.map((each) => without(each, spoken)).filter((each) => fieldsOf(each).length > 0)
  const all = [...announced, ...kept].sort((one, other) => one.at - other.at)
  return pick(withFeed(state?.later, feed, all))
}

/** When the product changes next, in ms since the epoch; undefined: it waits for nothing. */
export function nextSwitch(later: Later | undefined): number | undefined {
  const times = [...(later?.values() ?? [])].flatMap(([first]) => (first ? [first.at] : []))
  return times.length === 0 ? undefined : Math.min(...times)
}

/**
 * The product after everything that was announced up to `nowMs`, as if the feeds had said it now; no feed names the
 * product by that, so missing marks stay.
 */
export function applyDue(
  state: ProductState,
  { nowMs, ranks }: { nowMs: number; ranks: FieldRanks },
): ProductState {
  const due = [...(state.later ?? [])]
    .flatMap(([feed, patches]) => patches.filter(({ at }) => at <= nowMs).map((patch) => ({ feed, patch })))
    .sort((one, other) => one.patch.at - other.patch.at || (one.feed < other.feed ? -1 : 1))
  let { fields, writers, later } = state
  for (const step of due) {
    ;({ fields, writers } = mergeFields({ fields, writers }, { ...step, ranks }))
    const rest = later?.get(step.feed)?.filter((patch) => patch !== step.patch) ?? []
    later = withFeed(later, step.feed, rest)
  }
  const { feeds, missingFrom } = state
  return { fields, writers, feeds, missingFrom, ...pick(later) }
}

/** As it is stored: feeds in the order of their names, so that the same announcements give the same text. */
export function encodeLater(later: Later): Readonly<Record<string, readonly LaterPatch[]>> {
  return Object.fromEntries([...later].sort(([one], [other]) => (one < other ? -1 : 1)))
}

/** Of what `encodeLater` gave. */
export function decodeLater(stored: unknown): Pick<ProductState, 'later'> {
  if (stored === undefined) return {}
  return pick(new Map(Object.entries(stored as Record<string, LaterPatch[]>)) as unknown as Later)
}

function withFeed(later: Later | undefined, feed: FeedName, patches: readonly LaterPatch[]): Later {
  const next = new Map(later)
  if (patches.length > 0) next.set(feed, patches)
  else next.delete(feed)
  return next
}

/** Absent instead of empty: most products have none. */
function pick(later: Later | undefined): Pick<ProductState, 'later'> {
  return later && later.size > 0 ? { later } : {}
}

function fieldsOf({ set, clear }: Pick<ProductPatch, 'set' | 'clear'>): ProductField[] {
  return productFields.filter((field) => set[field] !== undefined || clear.includes(field))
}

function without(patch: LaterPatch, fields: ReadonlySet<ProductField>): LaterPatch {
  const set = Object.fromEntries(
    Object.entries(patch.set).filter(([field]) => !fields.has(field as ProductField)),
  )
  return { ...patch, set, clear: patch.clear.filter((field) => !fields.has(field)) }
}
