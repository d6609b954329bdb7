import type { FeedStatus } from '../../operations/read-status.ts'
import { bytes, count, moment, plural, span, table } from '../format.ts'
import type { HeldSample } from '../held-samples.ts'
import { type Content, foreign, type Html, html } from '../html.ts'
import { linkTo, type Page, type View } from '../page.ts'
import { heldOf } from './held.ts'
import { changesOf, outcomeOf } from './import.ts'

const importsMax = 30

export const feedsPage: Page = {
  path: '/feeds',
  nav: 'Feeds',
  title: () => 'Feeds and imports',
  everyMs: 2_000,
  async render(view) {
    const { thread, catalog } = view
    const [status, imports] = await Promise.all([
      view.status(),
      thread.read('imports', catalog.name, importsMax),
    ])
    const feeds = status.catalogs.find((one) => one.catalog === catalog.name)?.feeds ?? []
    const samples = new Map<number, HeldSample>()
    for (const { feed, held } of feeds) {
      for (const { sequence } of held)
        samples.set(sequence, await thread.read('heldSample', catalog.name, feed, sequence))
    }
    return html`<h1>Feeds and imports</h1>
${feeds.map((feed) => feedOf(view, feed, samples))}
<section aria-labelledby="imports"><h2 id="imports">Imports, newest first</h2>
${table({
  label: 'Imports',
  head: ['Import', 'Feed', 'File', 'Accepted', 'Outcome', 'Records', 'Rejected', 'Changes'],
  rows: imports.map((entry) => [
    html`<a href="${linkTo(view, `/imports/${entry.sequence}`)}">${entry.sequence}</a>`,
    foreign(entry.feed),
    foreign(entry.file),
    moment(entry.acceptedAt, view.nowMs),
    outcomeOf(entry),
    entry.report ? count(entry.report.records) : '–',
    entry.report ? count(entry.report.rejected) : '–',
    entry.report ? count(changesOf(entry.report)) : '–',
  ]),
  empty: 'No file was taken in yet.',
})}</section>`
  },
}

function feedOf(view: View, status: FeedStatus, samples: ReadonlyMap<number, HeldSample>): Html {
  const { feed, kind, running, held, waitingFiles } = status
  return html`<section class="card" id="feed-${feed}" aria-labelledby="name-${feed}"><h2 id="name-${feed}">${foreign(feed)} ${kind === 'consents' && html`<span class="quiet">consents</span>`}</h2>
<ul class="facts">${factsOf(view, status).map((fact) => html`<li>${fact}</li>`)}</ul>
${running && progressOf(feed, running)}
${waitingFiles > 1 && html`<p>${plural(waitingFiles, 'accepted file')} not imported yet.</p>`}
${held.map((one) => heldOf(view, one, samples.get(one.sequence)))}</section>`
}

function progressOf(feed: string, running: NonNullable<FeedStatus['running']>): Html {
  const { phase, file, bytes: all, bytesRead, records, sequence } = running
  const percent = Math.round((100 * bytesRead) / Math.max(1, all))
  return html`<p id="progress-${feed}">${phase} ${foreign(file)} (import ${sequence}): ${percent} % of ${bytes(all)}, ${plural(records, 'record')}</p>
<progress max="100" value="${percent}" aria-labelledby="progress-${feed}">${percent} %</progress>`
}

function factsOf({ nowMs }: View, { lastFile, pull, refused, stale }: FeedStatus): Content[] {
  const facts: Content[] = []
  if (lastFile) {
    const { name, acceptedAt, outcome, records, rejected } = lastFile
    const what = records === null ? '' : `, ${plural(records, 'record')}, ${count(rejected ?? 0)} rejected`
    facts.push(
      html`Last file ${foreign(name)}, accepted ${moment(acceptedAt, nowMs)}: ${outcome ?? 'waiting'}${what}`,
    )
  } else facts.push('No file yet')
  if (stale) {
    facts.push(
      html`<strong class="attention">No file for ${span(stale.sinceMs)}</strong>; one is expected every ${span(stale.expectEveryMs)}`,
    )
  }
  if (pull) {
    const { from, schedule, lastAt, nextAt, failure } = pull
    facts.push(
      html`Fetched from ${from} ${schedule}; last asked ${moment(lastAt, nowMs)}, next ${moment(nextAt, nowMs)}`,
    )
    if (failure) {
      const { since, times, text } = failure
      facts.push(
        html`<strong class="attention">Fetching fails</strong> since ${moment(since, nowMs)} (${plural(times, 'time')}): ${text}`,
      )
    }
  }
  if (refused.files > 0) {
    facts.push(
      html`<strong class="attention">${plural(refused.files, 'refused file')}</strong> in ${refused.folder}: the reports beside them say why. Drop a corrected file, then delete them there`,
    )
  }
  return facts
}
