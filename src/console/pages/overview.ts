import type { CatalogStatus, FeedStatus } from '../../operations/read-status.ts'
import type { Sample } from '../figures.ts'
import { bytes, count, moment, plural, rate, span, table } from '../format.ts'
import { type Content, foreign, type Html, html } from '../html.ts'
import { button, linkTo, type Page, type View } from '../page.ts'
import type { ConsoleStatus } from '../reads.ts'
import { judge, type Verdict } from '../verdict.ts'

const lanes = ['urgent', 'new', 'deferred'] as const
/** So many samples are a minute. */
const minute = 12

export const overviewPage: Page = {
  path: '/',
  nav: 'Overview',
  title: () => 'Overview',
  everyMs: 1_000,
  samples: ({ figures, catalog }) => figures.samples(catalog.name),
  async render(view) {
    const status = await view.status()
    const own = status.catalogs.find(({ catalog }) => catalog === view.catalog.name)
    const verdict = judge(status, view.config)
    if (!own) return html`<h1>Overview</h1>${verdictOf(view, verdict)}`
    return html`<h1>Overview</h1>
${verdictOf(view, verdict)}
${headline(view, own, verdict)}
${tiles(view, own)}
<section aria-labelledby="lanes"><h2 id="lanes">What waits</h2>${lanesOf(own)}${callsOf(view, own)}</section>
<section aria-labelledby="charts"><h2 id="charts">The last half hour</h2>${chartsOf()}</section>
<section aria-labelledby="feeds"><h2 id="feeds">Feeds</h2>${feedsOf(view, own)}</section>
<section aria-labelledby="host"><h2 id="host">Redis and disk</h2>${hostOf(view, status)}</section>`
  },
}

function verdictOf(view: View, { state, text, matters }: Verdict): Html {
  return html`<p class="verdict ${state}" role="status">${text}</p>
${matters.length > 0 && html`<ul class="matters">${matters.map(({ text, hint, page, severity, catalog = '' }) => html`<li class="${severity}"><strong>${text}</strong>${hint && html` – ${hint}`}${page && html` <a href="${linkTo(view, page, view.catalogs.length > 1 ? { catalog } : {})}">${page === '/feeds' ? 'Show feeds' : 'Show dead letters'}</a>`}</li>`)}</ul>`}`
}

/** The one number that tells whether prices flow. */
function headline(
  { nowMs, figures, catalog }: View,
  { overview, calls }: CatalogStatus,
  { state }: Verdict,
): Html {
  const { waiting, oldestMs } = overview.lanes.urgent
  // The calls tell of the time before this process, the counters also of hosts without the mirror.
  const known = calls.lastAcknowledgedAt === null ? 0 : Date.parse(calls.lastAcknowledgedAt)
  const last = Math.max(figures.lastAcknowledgedMs(catalog.name) ?? 0, known)
  const below =
    waiting === 0
      ? html`Every price and availability change that was accepted is acknowledged.`
      : html`${plural(waiting, 'price or availability change')} not acknowledged yet.`
  return html`<div class="headline ${state === 'stopped' ? 'stopped' : ''}">
<p class="what">Oldest unacknowledged urgent change</p>
<p class="number">${waiting === 0 ? 'none' : span(oldestMs)}</p>
<p>${below} Last acknowledgement: ${last === 0 ? 'none that is known' : moment(last, nowMs)}.</p></div>`
}

function tiles({ figures, catalog }: View, { overview }: CatalogStatus): Html {
  const last = figures.samples(catalog.name).slice(-minute)
  const mean = (of: (sample: Sample) => number) =>
    last.length === 0 ? 0 : last.reduce((sum, sample) => sum + of(sample), 0) / last.length
  const filled = last.flatMap(({ fill }) => (fill === null ? [] : [fill]))
  const fill = filled.length === 0 ? undefined : filled.reduce((sum, one) => sum + one, 0) / filled.length
  const errors = last.reduce((sum, sample) => sum + sample.errors, 0)
  const all: readonly (readonly [string, Content, string])[] = [
    [
      'Delivered',
      `${rate(mean(({ productsPerSecond }) => productsPerSecond))} /s`,
      'products, over the last minute',
    ],
    ['Calls', `${rate(mean(({ callsPerSecond }) => callsPerSecond))} /s`, 'over the last minute'],
    ['Fill', fill === undefined ? '–' : `${Math.round(fill * 100)} %`, 'of the bytes that a call may have'],
    ['Errors', count(errors), 'unanswered calls and refused products, last minute'],
    [
      'Not delivered',
      count(overview.pending - overview.dead - overview.repeats),
      `of ${plural(overview.products, 'product')}`,
    ],
    ['Incomplete', count(overview.incomplete), 'lack required fields and are not sent'],
  ]
  return html`<dl class="tiles">${all.map(([name, value, what]) => html`<div><dt>${name}</dt><dd><strong>${value}</strong> <span>${what}</span></dd></div>`)}</dl>`
}

function lanesOf({ overview }: CatalogStatus): Html {
  return table({
    label: 'Products that wait, by lane',
    head: ['Lane', 'Waiting', 'Oldest', 'Next due'],
    rows: lanes.map((lane) => {
      const { waiting, oldestMs, dueInMs } = overview.lanes[lane]
      const due = waiting === 0 ? '–' : dueInMs > 0 ? `in ${span(dueInMs)}` : 'now'
      return [lane, count(waiting), oldestMs > 0 ? span(oldestMs) : '–', due]
    }),
    empty: '',
  })
}

function callsOf(view: View, { overview }: CatalogStatus): Html {
  const { inFlight, echoes, holdMs, holdReason, learnedBodyBytes, paused, lastFailure } = overview
  const isPaused = paused.some(({ reason }) => reason !== 'credentials')
  const lines: Content[] = [
    inFlight > 0 && html`<li>${plural(inFlight, 'product')} in a call now</li>`,
    echoes.waiting > 0 &&
      html`<li>${count(echoes.waiting)} to be sent once more, the last in ${span(echoes.dueInMs)}</li>`,
    holdReason && html`<li>The next call starts in ${span(holdMs)}: ${holdReason}</li>`,
    learnedBodyBytes &&
      html`<li>Calls have at most ${bytes(learnedBodyBytes)}, since the endpoint refused larger ones; the limit grows again</li>`,
    lastFailure && html`<li>Last failed call ${moment(lastFailure.at, view.nowMs)}: ${lastFailure.text}</li>`,
  ]
  const pause = { action: 'pause', label: 'Pause calls', fields: {}, kind: 'danger' } as const
  const confirm = 'No call is made until you resume. Files are still taken in.'
  return html`<ul class="facts">${lines}</ul>
${isPaused ? button(view, { action: 'resume', label: 'Resume calls', fields: {} }) : button(view, { ...pause, confirm })}`
}

const lines = ['first', 'second', 'third'] as const
const charts = [
  { name: 'rate', title: 'Per second', keys: ['products', 'calls'] },
  { name: 'lag', title: 'Age of the oldest product in Redis, in seconds', keys: lanes },
  { name: 'fill', title: 'Fill of the calls', keys: ['percent'] },
  { name: 'errors', title: 'Unanswered calls and refused products', keys: ['in 5 s'] },
] as const

/** The script draws them; what they show last stands above in words. */
function chartsOf(): Html {
  return html`<div class="charts">${charts.map(({ name, title, keys }) => {
    const key = keys.map((text, index) => html`<span class="key ${lines[index]}">${text}</span>`)
    return html`<figure><figcaption id="chart-${name}">${title} ${key}</figcaption>
<div class="chart" id="plot-${name}" data-chart="${name}" data-lines="${lines.slice(0, keys.length).join()}" role="img" aria-labelledby="chart-${name}"></div></figure>`
  })}</div>`
}

function feedsOf(view: View, { feeds }: CatalogStatus): Html {
  return table({
    label: 'Feeds',
    head: ['Feed', 'Last file', 'Next expected', 'Now'],
    rows: feeds.map((status) => [
      html`<a href="${linkTo(view, '/feeds')}#feed-${status.feed}">${foreign(status.feed)}</a>`,
      status.lastFile
        ? html`${foreign(status.lastFile.name)}, ${moment(status.lastFile.acceptedAt, view.nowMs)}`
        : 'none yet',
      nextOf(view, status),
      nowOf(status),
    ]),
    empty: 'No feed is configured.',
  })
}

function nextOf({ catalog, nowMs }: View, { feed, pull, lastFile }: FeedStatus): Content {
  if (pull?.nextAt) return html`fetched ${moment(pull.nextAt, nowMs)}`
  const config = [...catalog.feeds.values()].find(({ name }) => name === feed)
  if (config?.expectEveryMs === undefined) return 'any time'
  if (!lastFile) return `every ${span(config.expectEveryMs)}`
  const dueMs = Date.parse(lastFile.acceptedAt) + config.expectEveryMs
  return dueMs < nowMs ? html`overdue, was due ${moment(dueMs, nowMs)}` : moment(dueMs, nowMs)
}

function nowOf({ running, held, waitingFiles, stale, refused }: FeedStatus): Content {
  if (running)
    return html`${running.phase}, ${Math.round((100 * running.bytesRead) / Math.max(1, running.bytes))} %`
  if (held.length > 0) return html`<strong>held</strong>`
  if (refused.files > 0) return html`<strong>${plural(refused.files, 'refused file')}</strong>`
  if (stale) return html`<strong>overdue</strong>`
  return waitingFiles > 0 ? `${plural(waitingFiles, 'file')} waiting` : 'at rest'
}

function hostOf({ config, nowMs }: View, { redis, daemon, freeBytes }: ConsoleStatus): Html {
  const memory = redis.up
    ? `up, ${bytes(redis.info.usedMemoryBytes)}${redis.info.maxMemoryBytes > 0 ? ` of ${bytes(redis.info.maxMemoryBytes)}` : ''}`
    : 'down'
  return html`<dl class="pairs">
<div><dt>Redis</dt><dd>${redis.address}: ${memory}</dd></div>
<div><dt>Disk</dt><dd>${bytes(freeBytes)} free at ${config.stateDir}</dd></div>
<div><dt>Importing process</dt><dd>${daemon ? html`${daemon.pid} on ${daemon.host}, since ${moment(daemon.since, nowMs)}` : 'none'}</dd></div></dl>`
}
