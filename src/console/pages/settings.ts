import { moment, table } from '../format.ts'
import { foreign, type Html, html } from '../html.ts'
import type { Page, Settings } from '../page.ts'

const entriesMax = 50

export const settingsPage: Page = {
  path: '/settings',
  nav: 'Settings',
  title: () => 'Settings',
  everyMs: 5_000,
  async render({ settings, audit, nowMs }) {
    const [current, entries] = await Promise.all([settings(), audit.newest(entriesMax)])
    return html`<h1>Settings</h1>
${differenceOf(current)}
<section aria-labelledby="running"><h2 id="running">What runs, with the environment and defaults filled in</h2>
<pre tabindex="0" aria-labelledby="running">${current.running}</pre></section>
<section aria-labelledby="audit"><h2 id="audit">Who did what on these pages</h2>
${table({
  label: 'Actions, newest first',
  head: ['When', 'Who', 'From', 'What', 'About', 'Outcome'],
  rows: entries.map(({ at, who, from, action, catalog, what, outcome, reason }) => [
    moment(at, nowMs),
    who,
    from,
    action,
    html`${catalog && html`${foreign(catalog)}: `}${what && foreign(what)}`,
    html`${outcome}${reason && html`: ${foreign(reason)}`}`,
  ]),
  empty: 'Nobody did anything yet.',
})}
<p class="quiet">All of it stands in <code>audit.ndjson</code> of the state folder.</p></section>`
  },
}

function differenceOf({ running, inFile, problem }: Settings): Html {
  if (inFile === undefined) {
    return html`<p class="verdict attention" role="status">The file has changed since the start, and cannot be used: a start would fail.</p><pre tabindex="0" aria-label="What is wrong with the file">${problem}</pre>`
  }
  const [before, after] = [running.split('\n'), inFile.split('\n')]
  const gone = before.filter((line) => !after.includes(line))
  const come = after.filter((line) => !before.includes(line))
  if (running === inFile)
    return html`<p class="verdict ok" role="status">The daemon runs with what the file says.</p>`
  return html`<p class="verdict attention" role="status">Changed since the start: the file says something else than what runs.</p>
<pre tabindex="0" aria-label="What differs">${gone.map((line) => `- ${line}\n`)}${come.map((line) => `+ ${line}\n`)}</pre>`
}
