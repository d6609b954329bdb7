import type { ExplainedProduct } from '../operations/explain-product.ts'
import type { CallEntry } from '../operations/list-calls.ts'
import {
  type DeliveryTimes,
  type FieldStory,
  type ImportOrigin,
  type KnownStory,
  type ProductStory,
  type RecordPlace,
  type StoryChange,
  type StoryState,
  whyHidden,
} from '../operations/story.ts'
import { cell, countOf, formatTable, formatTime, shownValue } from './table.ts'

interface Format {
  nowMs: number
  columns: number
}

/** A product's story for a terminal. */
export function formatStory(story: ExplainedProduct, format: Format): string {
  if (story.kind === 'unknown') return [...formatUnknown(story), ...formatRejected(story)].join('\n')
  return [
    ...headOf(story, format),
    ...story.blocks.map(
      ({ text, since }) => `  ! ${text}${since === null ? '' : ` (since ${formatTime(since)})`}`,
    ),
    ...story.feeds.flatMap(formatFeed),
    ...(story.absentSince === null ? [] : [`  no feed names it since ${formatTime(story.absentSince)}`]),
    ...formatRejected(story),
    ...formatFields(story.fields, format),
    ...formatAnnounced(story.announced),
    ...formatDelivery(story),
    ...formatChanges(story, format),
    ...formatLastCalls(story, format),
  ].join('\n')
}

/** A record that came and does not count may be the whole answer. */
function formatRejected({ rejected }: ExplainedProduct): string[] {
  return rejected.map(({ import: number, feed, rejectsFile, line }) => {
    return `  ! a record of import ${number} (feed ${feed}) that names it was rejected: ${rejectsFile} line ${line} says why`
  })
}

function formatUnknown({
  productId,
  catalog,
  nearIds,
}: Extract<ProductStory, { kind: 'unknown' }>): string[] {
  const unknown = `No feed of catalog ${catalog} has named a product ${shownValue(productId)}.`
  if (nearIds.length === 0) return [unknown]
  return [unknown, 'Known ids that resemble it:', ...nearIds.map((id) => `  ${cell(id, 70)}`)]
}

function headOf(story: KnownStory, format: Format): string[] {
  const { productId, document, state, endpoint, catalog } = story
  const name = typeof document?.name === 'string' ? `  ${cell(document.name, format.columns - 30)}` : ''
  return [
    `${cell(productId, 60)}${name}  (catalog ${catalog})`,
    `  ${describeState(story, format)}${heldOf(state, endpoint)}`,
  ]
}

/** What the endpoint has while the newest document is not there. */
function heldOf({ state }: StoryState, endpoint: KnownStory['endpoint']): string {
  if (state === 'at-rest' || state === 'repeated' || state === 'given-up') return ''
  const held = {
    nothing: 'the endpoint has nothing of it',
    newest: 'the endpoint has the newest document',
    older: 'the endpoint has an older document',
    doubtful: 'what the endpoint has is uncertain until it is sent once more',
  }
  return `\n  ${held[endpoint]}`
}

function describeState({ state, redis }: Pick<KnownStory, 'state' | 'redis'>, { nowMs }: Format): string {
  const ago = (at: string) => `${formatTime(at)}, ${formatDuration(nowMs - Date.parse(at))} ago`
  switch (state.state) {
    case 'at-rest': {
      const { acknowledgedAt: at } = state
      return `at rest: the endpoint has the newest document${at === null ? '' : ` (acknowledged ${ago(at)})`}`
    }
    case 'repeated': {
      const when = state.at === null ? '' : ` at ${formatTime(state.at)}`
      return `at rest, and sent once more${when}: the endpoint has the newest document, but an earlier call may still take effect`
    }
    case 'incomplete': {
      const missing = state.missing.map(({ field, feeds }) => {
        return `${field} (${feeds.length === 0 ? 'no feed maps it' : `mapped by ${feeds.join(', ')}`})`
      })
      return `incomplete, so it is not sent: it lacks ${missing.join(', ')}`
    }
    case 'dead-letter': {
      const answer = state.status === null ? '' : ` with ${state.status}`
      return `dead letter: refused${answer} ${ago(state.at)}: ${state.reason}\n  → correct it in the feed, or catalogd dead retry`
    }
    case 'given-up':
      return `given up by the operator (catalogd dead drop) ${ago(state.at)}; a newer document is sent again`
    case 'claimed':
      return `in a call since ${ago(state.since)}`
    case 'due': {
      const offered = state.isOffered ? 'offered to Redis' : 'not yet offered to Redis'
      const where = redis === 'away' ? 'waits for Redis' : offered
      const why = state.isDoubtful ? ', since a call of unknown outcome may have taken effect' : ''
      return `due in lane ${state.lane} since ${ago(state.since)}${why} (${where})`
    }
    case 'deferred':
      return `waits in lane deferred since ${ago(state.since)}; due ${formatTime(state.dueAt)}`
    default:
      return state satisfies never
  }
}

function formatFeed({ feed, standing, missingSince, isRemovalHeld }: KnownStory['feeds'][number]): string[] {
  const lines: string[] = []
  if (standing === 'missing') {
    const where = missingSince === null ? '' : `: ${formatImport(missingSince)} names it no longer`
    lines.push(`  missing from feed ${feed}${where}; it goes out as OutOfStock`)
  }
  if (standing === 'gone') {
    const until = 'until a later file replaces or removes it'
    lines.push(`  feed ${feed} is not configured any more; what it wrote stays ${until}`)
  }
  if (isRemovalHeld)
    lines.push(`  the newest full file of feed ${feed} leaves it out: waits for catalogd approve or discard`)
  return lines
}

/** Under the record that they come from, so that it stands there once. */
function formatFields(fields: readonly FieldStory[], { columns }: Format): string[] {
  const groups = new Map<string, FieldStory[]>()
  for (const field of fields) {
    const head = headOfGroup(field)
    groups.set(head, [...(groups.get(head) ?? []), field])
  }
  const width = Math.min(24, Math.max(0, ...fields.map(({ field }) => field.length)))
  const valueWidth = Math.max(20, columns - width - 6)
  return [...groups].flatMap(([head, group]) => [
    '',
    head,
    ...group.flatMap((each) => [
      `  ${each.field.padEnd(width)}  ${cell(each.value, valueWidth)}`,
      ...notesOf(each).map((note) => `  ${' '.repeat(width)}  ${note}`),
    ]),
  ])
}

function headOfGroup({ feed, from }: FieldStory): string {
  if (feed === null) return 'No feed'
  return from === null
    ? `Feed ${feed}, from a file before this was noted`
    : `Feed ${feed}: ${formatPlace(from)}${from.asOf === null ? '' : `, as of ${formatTime(from.asOf)}`}`
}

function notesOf(field: FieldStory): string[] {
  const { hides, insteadOf } = field
  const notes = hides.map((hidden) => {
    const { feed, value, from } = hidden
    const where = from === null ? '' : ` (${formatPlace(from)})`
    return `hides ${cell(value)} of ${feed}${where}: ${whyHidden(field, hidden)}`
  })
  if (insteadOf !== undefined) notes.push(`instead of ${cell(insteadOf)}, since it is missing from a feed`)
  return notes
}

function formatPlace(place: RecordPlace): string {
  return `${formatImport(place)} line ${place.line}`
}

function formatImport({ import: number, file }: ImportOrigin): string {
  return file === null ? `import ${number}` : `import ${number}, ${file}`
}

function formatAnnounced(announced: KnownStory['announced']): string[] {
  if (announced.length === 0) return []
  return [
    '',
    'Announced for later',
    ...announced.map(({ feed, at, fields }) => {
      const values = fields.map(({ field, value }) => `${field} ${value === null ? '(none)' : cell(value)}`)
      return `  ${formatTime(at)}  ${values.join(', ')}  (feed ${feed})`
    }),
  ]
}

function formatDelivery({ delivery, state }: KnownStory): string[] {
  const steps = stepsOf(delivery)
  if (steps.length === 0) return []
  const missing = delivery.acknowledgedAt === null && state.state === 'at-rest'
  const note = missing ? ['  its call is not among those that are kept'] : []
  return ['', 'Newest document', ...steps.map((step) => `  ${step}`), ...note]
}

function stepsOf(times: DeliveryTimes): string[] {
  const { acceptedAt, queuedAt, sentAt, acknowledgedAt, call } = times
  const step = (what: string, at: string | null, afterMs: number | null) =>
    at === null
      ? []
      : [`${what.padEnd(12)}  ${formatTime(at)}${afterMs === null ? '' : `  +${formatDuration(afterMs)}`}`]
  return [
    ...step('accepted', acceptedAt, null),
    ...step('queued', queuedAt, times.acceptedToQueuedMs),
    ...step('sent', sentAt, times.queuedToSentMs),
    ...step('acknowledged', acknowledgedAt, times.sentToAcknowledgedMs),
    ...(call ? [`in ${describeCall(call)}`] : []),
  ]
}

function describeCall({ number, status, requestId, products }: CallEntry): string {
  const request = requestId === null ? '' : `, request ${requestId}`
  return `call ${number}: ${status ?? 'no answer'}, ${countOf(products, 'product')}${request}`
}

function formatChanges({ changes }: KnownStory, { columns }: Format): string[] {
  if (changes.length === 0) return []
  return ['', 'Last changes', ...changes.flatMap((change) => formatChange(change, columns))]
}

function formatChange(
  { at, cause, from, lane, fields, more, delivery }: StoryChange,
  columns: number,
): string[] {
  const source = {
    record: from && 'line' in from ? formatPlace(from) : 'a record',
    missing: from ? `missing from ${formatImport(from)}` : 'missing',
    announced: 'announced before',
  }[cause]
  const { acknowledgedAt, call } = delivery
  const sent =
    acknowledgedAt === null
      ? ''
      : `, acknowledged after ${formatDuration(Date.parse(acknowledgedAt) - Date.parse(at))}${call ? ` (call ${call.number})` : ''}`
  return [
    `  ${formatTime(at)}  ${source}  ${lane}${sent}`,
    ...fields.map(({ field, before, after }) => {
      const room = Math.max(12, Math.floor((columns - field.length - 10) / 2))
      return `    ${field}: ${shownValue(before, room)} → ${shownValue(after, room)}`
    }),
    ...(more > 0 ? [`    and ${countOf(more, 'further field')}`] : []),
  ]
}

function formatLastCalls({ calls, callsLookedThrough }: KnownStory, { columns }: Format): string[] {
  if (calls.length > 0) return ['', 'Calls', formatCalls(calls, columns, '  ')]
  return callsLookedThrough === 0 ? [] : ['', `In none of the last ${countOf(callsLookedThrough, 'call')}.`]
}

export function formatCalls(calls: readonly CallEntry[], columns: number, indent = ''): string {
  // Their beginning is enough to find one; --json has all of it.
  const isNarrow = columns < 112
  const rows = calls.map((call) => [
    call.number,
    formatTime(call.beganAt),
    formatDuration(call.durationMs),
    call.products,
    call.status === null ? 'none' : String(call.status),
    cell(call.description ?? call.outcome, Math.max(14, columns - (isNarrow ? 67 : 95))),
    cell(call.requestId, isNarrow ? 9 : 36),
  ])
  return formatTable([['call', 'began', 'took', 'products', 'status', 'outcome', 'request'], ...rows], indent)
}

function formatDuration(ms: number): string {
  const seconds = Math.max(0, ms) / 1000
  if (seconds < 1) return `${Math.round(seconds * 1000)} ms`
  if (seconds < 100) return `${seconds.toFixed(1)} s`
  if (seconds < 7200) return `${Math.round(seconds / 60)} min`
  return seconds < 172_800 ? `${Math.round(seconds / 3600)} h` : `${Math.round(seconds / 86_400)} days`
}
