import type { ImportReport } from '../../imports/report.ts'
import type { ImportEntry } from '../../operations/list-imports.ts'
import { bytes, count, moment, plural, table } from '../format.ts'
import { type Content, foreign, type Html, html } from '../html.ts'
import { linkTo, type Page, type View } from '../page.ts'
import { heldOf } from './held.ts'

export const importPage: Page = {
  path: '/imports/:id',
  title: ({ id }) => `Import ${id}`,
  everyMs: 2_000,
  async render(view) {
    const { thread, catalog, id, nowMs } = view
    const entry = await thread.read('import', catalog.name, Number(id))
    const { sequence, feed, file, mode, acceptedAt, report } = entry
    const status = await view.status()
    const own = status.catalogs
      .find((one) => one.catalog === catalog.name)
      ?.feeds.find((one) => one.feed === feed)
    const held = own?.held.find((one) => one.sequence === sequence)
    const sample = held && (await thread.read('heldSample', catalog.name, feed, sequence))
    return html`<h1>Import ${sequence}</h1>
<p>${foreign(file)}, ${mode} file of feed ${foreign(feed)}, ${bytes(entry.bytes)}, accepted ${moment(acceptedAt, nowMs)}: <strong>${outcomeOf(entry)}</strong></p>
${held && heldOf(view, held, sample)}
${!held && report?.reason !== undefined && html`<p><strong>${report.reason}</strong>. ${report.hint}</p>`}
${report ? reportOf(view, entry, report) : html`<p class="empty">It is not imported yet.</p>`}
<p><a href="${linkTo(view, '/feeds')}">All imports</a></p>`
  },
}

export function outcomeOf({ outcome, decision }: ImportEntry): string {
  return decision === null ? outcome : `${outcome}, ${decision === 'approve' ? 'approved' : 'discarded'}`
}

export function changesOf({ changes }: ImportReport): number {
  return changes.added + changes.changed + changes.missing
}

function reportOf(view: View, { sequence }: ImportEntry, report: ImportReport): Html {
  const { seconds, problems, warnings, rejectsFile, kind } = report
  const download = (part: string) => linkTo(view, `/imports/${sequence}/${part}`)
  return html`<dl class="tiles">${countsOf(report).map(([name, value]) => html`<div><dt>${name}</dt><dd><strong>${count(value)}</strong></dd></div>`)}</dl>
<p class="quiet">Read as ${report.dialect ?? 'nothing'}, in ${seconds} s.</p>
${warnings.length > 0 && html`<ul class="facts">${warnings.map((warning) => html`<li>${warning}</li>`)}</ul>`}
<p class="buttons"><a href="${download('report.json')}" download>Report (JSON)</a>
${rejectsFile !== undefined && kind === undefined && html` <a href="${download('rejects')}" download>Rejected records, to correct and drop again</a>`}</p>
<section aria-labelledby="problems"><h2 id="problems">What was wrong with records</h2>${problemsOf(problems)}</section>`
}

function countsOf(report: ImportReport): [string, number][] {
  const { records, rejected, unchanged, changes, skipped } = report
  const { added, changed, missing, urgent, superseded } = changes
  const all: [string, number][] = [
    ...([
      ['Records', records],
      ['Rejected', rejected],
      ['Unchanged', unchanged],
    ] as [string, number][]),
    ...([
      ['Added', added],
      ['Changed', changed],
      ['Missing', missing],
    ] as [string, number][]),
    ...([
      ['Urgent', urgent],
      ['Replaced by a later record', superseded],
    ] as [string, number][]),
  ]
  return skipped === undefined ? all : [...all, ['Skipped as known', skipped.records]]
}

function problemsOf(problems: ImportReport['problems']): Content {
  const examplesOf = (examples: ImportReport['problems'][number]['examples']) =>
    examples.map(({ line, message }) => html`<li>line ${line}: ${foreign(message)}</li>`)
  return table({
    label: 'Problems',
    head: ['Problem', 'Field', 'How often', 'What becomes of the record', 'Examples'],
    rows: problems.map(({ code, field, severity, count: times, examples }) => [
      code,
      field === undefined ? '–' : foreign(field),
      plural(times, 'time'),
      severity === 'reject' ? 'rejected' : 'applied',
      html`<ul class="facts">${examplesOf(examples)}</ul>`,
    ]),
    empty: 'Nothing.',
  })
}
