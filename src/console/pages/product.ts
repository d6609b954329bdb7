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
} from '../../operations/story.ts'
import { count, moment, table } from '../format.ts'
import { type Content, foreign, type Html, html } from '../html.ts'
import { button, linkTo, type Page, type View } from '../page.ts'
import { callTable } from './calls.ts'

/** The story of one product: where it stands, why it says what it says, and how it went out. */
export const productPage: Page = {
  path: '/product',
  title: ({ query }) => query.id ?? 'Product',
  everyMs: 2_000,
  async render(view) {
    const id = view.query.id ?? ''
    const story = await view.thread.read('story', view.catalog.name, id)
    return story.kind === 'known' ? knownOf(view, story) : unknownOf(view, story)
  },
}

function unknownOf(view: View, { productId, nearIds }: Extract<ProductStory, { kind: 'unknown' }>): Html {
  return html`<h1>${foreign(productId)}</h1>
<p>No feed has named such a product. Its record may have been rejected: see the <a href="${linkTo(view, '/feeds')}">imports</a>.</p>
${nearIds.length > 0 && html`<p>Known ids that resemble it:</p><ul class="facts">${nearIds.map((id) => html`<li>${productLink(view, id)}</li>`)}</ul>`}`
}

function productLink(view: View, id: string): Html {
  return html`<a href="${linkTo(view, '/product', { id })}">${foreign(id)}</a>`
}

function knownOf(view: View, story: KnownStory): Html {
  const { productId, document, blocks, fields, announced, changes, calls, callsLookedThrough } = story
  const name = typeof document?.name === 'string' ? document.name : ''
  const about = { ids: JSON.stringify([productId]) }
  const isDead = story.state.state === 'dead-letter'
  return html`<h1>${foreign(productId)}</h1>
${name !== '' && html`<p>${foreign(name)}</p>`}
<p class="verdict ${severityOf(story.state)}" role="status">${stateOf(view, story)}</p>
${blocks.length > 0 && html`<ul class="matters">${blocks.map(({ text, since }) => html`<li class="stopped"><strong>${text}</strong>${since !== null && html`, since ${moment(since, view.nowMs)}`}</li>`)}</ul>`}
<ul class="facts">${standingOf(view, story).map((text) => html`<li>${text}</li>`)}</ul>
<div class="buttons">${isDead ? html`${button(view, { action: 'retry-dead', label: 'Retry', fields: about })}${button(view, { action: 'drop-dead', label: 'Drop', kind: 'danger', fields: about })}` : button(view, { action: 'resync', label: 'Send once more', fields: about })}</div>
<section aria-labelledby="fields"><h2 id="fields">What goes out, and where it comes from</h2>${fieldTable(view, fields)}</section>
${announced.length > 0 && html`<section aria-labelledby="announced"><h2 id="announced">Announced for later</h2><ul class="facts">${announced.map(({ feed, at, fields }) => html`<li>${moment(at, view.nowMs)}: ${fields.map(({ field, value }) => html`${field} ${shown(value)} `)}(feed ${foreign(feed)})</li>`)}</ul></section>`}
<section aria-labelledby="way"><h2 id="way">The newest document on its way</h2>${wayOf(view, story.delivery)}</section>
<section aria-labelledby="changes"><h2 id="changes">Last changes</h2>${changeTable(view, changes)}</section>
<section aria-labelledby="calls"><h2 id="calls">Calls that carried it</h2>${calls.length > 0 ? callTable(view, calls) : html`<p class="empty">None of the last ${count(callsLookedThrough)} calls. <a href="${linkTo(view, '/calls', { product: productId })}">Look further</a></p>`}</section>`
}

function severityOf({ state }: StoryState): string {
  if (state === 'at-rest') return 'ok'
  return state === 'dead-letter' || state === 'incomplete' ? 'stopped' : 'attention'
}

function whereOffered(redis: KnownStory['redis'], isOffered: boolean): string {
  if (redis === 'away') return 'waits for Redis'
  return isOffered ? 'offered to Redis' : 'not offered to Redis yet'
}

function stateOf({ nowMs }: View, { state, redis }: KnownStory): Content {
  switch (state.state) {
    case 'at-rest':
      return state.acknowledgedAt === null
        ? 'At rest: the endpoint has the newest document.'
        : html`At rest: the endpoint acknowledged the newest document ${moment(state.acknowledgedAt, nowMs)}.`
    case 'repeated':
      return html`At rest, and sent once more${state.at !== null && html` ${moment(state.at, nowMs)}`}: the endpoint has the newest document, but an earlier call may still take effect.`
    case 'incomplete': {
      const missing = state.missing.map(({ field, feeds }) =>
        feeds.length === 0 ? `${field} (no feed maps it)` : `${field} (mapped by ${feeds.join(', ')})`,
      )
      return html`Incomplete, so it is not sent: it lacks ${foreign(missing.join(', '))}.`
    }
    case 'dead-letter':
      return html`Dead letter: refused${state.status !== null && ` with ${state.status}`} ${moment(state.at, nowMs)}: ${foreign(state.reason)}`
    case 'given-up':
      return html`Given up by an operator ${moment(state.at, nowMs)}; a newer document is sent again.`
    case 'claimed':
      return html`In a call that began ${moment(state.since, nowMs)}.`
    case 'due':
      return html`Due in lane ${state.lane} since ${moment(state.since, nowMs)}${state.isDoubtful && ', since a call of unknown outcome may have taken effect'}, ${whereOffered(redis, state.isOffered)}.`
    case 'deferred':
      return html`Waits in lane deferred since ${moment(state.since, nowMs)}; due ${moment(state.dueAt, nowMs)}.`
    default:
      return state satisfies never
  }
}

function standingOf(view: View, { feeds, absentSince, redis }: KnownStory): Content[] {
  const lines: Content[] = feeds.flatMap(({ feed, standing, missingSince, isRemovalHeld }) => [
    ...(standing === 'missing'
      ? [
          html`Missing from feed ${foreign(feed)}${missingSince && html`: ${importLink(view, missingSince)} names it no longer`}; it goes out as OutOfStock`,
        ]
      : []),
    ...(standing === 'gone'
      ? [
          html`Feed ${foreign(feed)} is not configured any more; what it wrote stays until a later file replaces or removes it`,
        ]
      : []),
    ...(isRemovalHeld
      ? [
          html`The newest full file of feed ${foreign(feed)} leaves it out, which <a href="${linkTo(view, '/feeds')}">waits for a decision</a>`,
        ]
      : []),
  ])
  if (absentSince !== null) lines.push(html`No feed names it since ${moment(absentSince, view.nowMs)}`)
  if (redis === 'away') lines.push('Redis could not be asked: what stands here is what the mirror knows')
  return lines
}

function importLink(view: View, { import: number, file }: ImportOrigin): Html {
  return html`<a href="${linkTo(view, `/imports/${number}`)}">import ${number}</a>${file !== null && html`, ${foreign(file)}`}`
}

function placeOf(view: View, place: RecordPlace | null): Content {
  if (place === null) return 'a file before this was noted'
  const { asOf, line } = place
  return html`${importLink(view, place)}, line ${line}${asOf !== null && html`, as of ${moment(asOf, view.nowMs)}`}`
}

function shown(value: string | number | boolean | null): Content {
  return value === null ? html`<span class="quiet">none</span>` : foreign(String(value))
}

function fieldTable(view: View, fields: readonly FieldStory[]): Html {
  return table({
    label: 'Fields',
    head: ['Field', 'Value', 'Feed', 'From', 'Hides'],
    rows: fields.map((each) => [
      each.field,
      html`${shown(each.value)}${each.insteadOf !== undefined && html` <span class="quiet">instead of ${shown(each.insteadOf)}, since it is missing from a feed</span>`}`,
      each.feed === null ? '–' : foreign(each.feed),
      each.feed === null ? '–' : placeOf(view, each.from),
      each.hides.length === 0
        ? '–'
        : html`<ul class="facts">${each.hides.map((hidden) => html`<li>${shown(hidden.value)} of ${foreign(hidden.feed)} (${placeOf(view, hidden.from)}): ${foreign(whyHidden(each, hidden))}</li>`)}</ul>`,
    ]),
    empty: 'No field is known.',
  })
}

/** Of one change, with the delays between. */
function wayOf(view: View, times: DeliveryTimes): Html {
  const steps = [
    ['Accepted', times.acceptedAt, null],
    ['Queued', times.queuedAt, times.acceptedToQueuedMs],
    ['Sent', times.sentAt, times.queuedToSentMs],
    ['Acknowledged', times.acknowledgedAt, times.sentToAcknowledgedMs],
  ] as const
  const known = steps.filter(([, at]) => at !== null)
  if (known.length === 0) return html`<p class="empty">Nothing of it is kept any more.</p>`
  return html`<dl class="tiles">${known.map(([name, at, delayMs]) => html`<div><dt>${name}</dt><dd><strong>${moment(at, view.nowMs)}</strong>${delayMs !== null && html` <span>${count(delayMs)} ms later</span>`}</dd></div>`)}</dl>`
}

function changeTable(view: View, changes: readonly StoryChange[]): Html {
  return table({
    label: 'Changes, newest first',
    head: ['When', 'From', 'Lane', 'What', 'Acknowledged'],
    rows: changes.map(({ at, cause, from, lane, fields, more, delivery }) => {
      const { acknowledgedAt, call } = delivery
      const afterMs = acknowledgedAt === null ? 0 : Date.parse(acknowledgedAt) - Date.parse(at)
      return [
        moment(at, view.nowMs),
        sourceOf(view, cause, from),
        lane,
        html`<ul class="facts">${fields.map(({ field, before, after }) => html`<li>${foreign(field)}: ${shown(before)} → ${shown(after)}</li>`)}${more > 0 && html`<li>and ${count(more)} more</li>`}</ul>`,
        acknowledgedAt === null
          ? '–'
          : html`after ${count(afterMs)} ms${call && html`, <a href="${linkTo(view, `/calls/${call.number}`)}">call ${call.number}</a>`}`,
      ]
    }),
    empty: 'It has not changed since it came.',
  })
}

function sourceOf(view: View, cause: StoryChange['cause'], from: StoryChange['from']): Content {
  if (from === null) return cause === 'announced' ? 'announced before' : cause
  if ('line' in from) return placeOf(view, from)
  return html`missing from ${importLink(view, from)}`
}
