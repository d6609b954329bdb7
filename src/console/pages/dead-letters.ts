import { count, moment, plural, table } from '../format.ts'
import { foreign, type Html, html } from '../html.ts'
import { button, linkTo, type Page, type View } from '../page.ts'
import type { DeadGroup } from '../reads.ts'

export const deadLettersPage: Page = {
  path: '/dead-letters',
  nav: 'Dead letters',
  title: () => 'Dead letters',
  everyMs: 2_000,
  async render(view) {
    const { groups, total, consents } = await view.thread.read('deadLetters', view.catalog.name)
    return html`<h1>Dead letters</h1>
<p>${total === 0 ? 'The endpoint has refused no product.' : html`The endpoint refused ${plural(total, 'product')}. A newer document from a feed revives each by itself.`}</p>
${
  total > 1 &&
  html`<div class="buttons">${button(view, { action: 'retry-dead', label: 'Retry all', fields: { all: 'yes' }, confirm: `${plural(total, 'product')} sent once more.` })}
${button(view, { action: 'drop-dead', label: 'Drop all', kind: 'danger', fields: { all: 'yes' }, confirm: 'None of them is sent until a newer document comes.' })}</div>`
}
${groups.map((group, index) => groupOf(view, group, index))}
${consents > 0 && html`<p>${plural(consents, 'consent')} refused or not confirmed: <code>catalogd dead list --consents</code> names the customers, which this page does not.</p>`}`
  },
}

function groupOf(view: View, { key, reason, letters, total }: DeadGroup, index: number): Html {
  const more = total - letters.length
  return html`<section class="card" aria-labelledby="reason-${index}"><h2 id="reason-${index}">${foreign(reason.replaceAll('#', '…'))}</h2>
<p>${plural(total, 'product')}</p>
${
  total > 1 &&
  html`<div class="buttons">${button(view, { action: 'retry-dead', label: `Retry these ${count(total)}`, fields: { reason: key } })}
${button(view, { action: 'drop-dead', label: `Drop these ${count(total)}`, kind: 'danger', fields: { reason: key }, confirm: 'None of them is sent until a newer document comes.' })}</div>`
}
${table({
  label: `Products refused: ${reason}`,
  head: ['Product', 'Status', 'Refused', 'Request', 'What the endpoint said', 'What to do'],
  rows: letters.map(({ productId, status, at, requestId, reason }) => [
    html`<a href="${linkTo(view, '/product', { id: productId })}">${foreign(productId)}</a>`,
    status ?? 'never sent',
    moment(at, view.nowMs),
    requestId === null ? '–' : foreign(requestId),
    foreign(reason),
    html`<div class="buttons">${button(view, { action: 'retry-dead', label: 'Retry', about: productId, fields: { ids: JSON.stringify([productId]) } })}${button(view, { action: 'drop-dead', label: 'Drop', about: productId, kind: 'danger', fields: { ids: JSON.stringify([productId]) } })}</div>`,
  ]),
  empty: '',
})}
${more > 0 && html`<p class="quiet">and ${count(more)} more of this reason</p>`}</section>`
}
