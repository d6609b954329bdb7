import type { CallEntry, CallFilter } from '../../operations/list-calls.ts'
import { bytes, count, moment, plural, table } from '../format.ts'
import { type Content, foreign, type Html, html } from '../html.ts'
import { linkTo, type Page, type View } from '../page.ts'

const statuses = [
  ['', 'any'],
  ['failed', 'all that were not acknowledged'],
  ['none', 'no answer came'],
  ...['200', '207', '400', '401', '403', '413', '422', '429', '500', '502', '503'].map((status) => [
    status,
    status,
  ]),
] as const

export const callsPage: Page = {
  path: '/calls',
  nav: 'Calls',
  title: () => 'Calls',
  everyMs: 2_000,
  async render(view) {
    const { thread, catalog, catalogs, query } = view
    const { calls, next } = await thread.read('calls', catalog.name, filterOf(query))
    const { status = '', request = '', product = '' } = query
    const given = { ...(status && { status }), ...(request && { request }), ...(product && { product }) }
    return html`<h1>Calls</h1>
<form class="row" role="search" action="/calls">${catalogs.length > 1 && html`<input type="hidden" name="catalog" value="${catalog.name}">`}
<div><label for="status">Status</label><select id="status" name="status">${statuses.map(([value, text]) => html`<option value="${value}"${value === status && html` selected`}>${text}</option>`)}</select></div>
<div><label for="request">Request id</label><input id="request" name="request" value="${request}" maxlength="200" autocomplete="off"></div>
<div><label for="product">Product id</label><input id="product" name="product" value="${product}" maxlength="1000" autocomplete="off"></div>
<button class="primary">Filter</button></form>
${callTable(view, calls)}
${next !== null && html`<p><a href="${linkTo(view, '/calls', { ...given, before: String(next) })}">Earlier calls</a></p>`}`
  },
}

export const callPage: Page = {
  path: '/calls/:id',
  title: ({ id }) => `Call ${id}`,
  everyMs: 30_000,
  async render(view) {
    const { ids, ...call } = await view.thread.read('call', view.catalog.name, Number(view.id))
    return html`<h1>Call ${call.number}</h1>
${callTable(view, [call])}
<section aria-labelledby="products"><h2 id="products">${plural(ids.length, 'product')}</h2>
<ul class="ids">${ids.map((id) => html`<li><a href="${linkTo(view, '/product', { id })}">${foreign(id)}</a></li>`)}</ul></section>`
  },
}

function filterOf({ status = '', request = '', product = '', before = '' }: View['query']): CallFilter {
  const isWord = status === 'none' || status === 'failed'
  return {
    ...(isWord ? { status } : /^\d{3}$/.test(status) ? { status: Number(status) } : {}),
    ...(request.trim() === '' ? {} : { requestId: request.trim() }),
    ...(product.trim() === '' ? {} : { productId: product.trim() }),
    ...(/^\d{1,15}$/.test(before) ? { before: Number(before) } : {}),
  }
}

export function callTable(view: View, calls: readonly CallEntry[]): Html {
  return table({
    label: 'Calls, newest first',
    head: ['Call', 'Began', 'Took', 'Products', 'Size', 'Status', 'Outcome', 'Request'],
    rows: calls.map((call) => [
      html`<a href="${linkTo(view, `/calls/${call.number}`)}">${call.number}</a>${call.host !== undefined && html` <span class="quiet">on ${call.host}</span>`}`,
      moment(call.beganAt, view.nowMs),
      `${count(call.durationMs)} ms`,
      productsOf(call),
      bytes(call.bytes),
      call.status ?? 'none',
      call.description === null ? call.outcome : html`${call.outcome}: ${foreign(call.description)}`,
      call.requestId === null ? '–' : foreign(call.requestId),
    ]),
    empty: 'No such call here.',
  })
}

function productsOf({ products, lanes, refused }: CallEntry): Content {
  const of = Object.entries(lanes ?? {}).filter(([, number]) => number > 0)
  const from = of.map(([lane, number]) => `${count(number)} ${lane}`).join(', ')
  return html`${count(products)}${from && html` <span class="quiet">(${from})</span>`}${refused > 0 && html`, ${count(refused)} refused`}`
}
