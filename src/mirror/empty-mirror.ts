import type { MirrorReader } from './model.ts'

const unknown = { document: undefined, partial: undefined, meta: undefined }

/** What stands where nothing was ever imported. */
export function emptyMirror(): MirrorReader {
  const none = () => []
  const noMap = () => new Map()
  const nothing = () => undefined
  const place = { waiting: 0, sinceMs: undefined }
  const places = { urgent: place, new: place, deferred: place }
  return {
    read: (ids) => new Map(ids.map((id) => [id, unknown])),
    deadDigests: (ids) => ids.map(nothing),
    count: () => ({ products: 0, incomplete: 0, places, dead: 0 }),
    counts: () => ({}),
    repair: () => ({ lastLossMs: undefined, repairing: false }),
    madeAtMs: () => 0,
    isUnsent: () => false,
    isApplied: () => false,
    ...{ keyFields: none, pages: none, switchesDue: none, heldIds: none, applied: none },
    ...{ incomplete: none, deadLetters: none },
    ...{ lookUp: noMap, absentSince: noMap, held: noMap, progress: noMap, notices: noMap },
    ...{ nextSwitch: nothing, fullAsOf: nothing, calls: nothing, deadLetter: nothing },
    [Symbol.dispose]: nothing,
  }
}
