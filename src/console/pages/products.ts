import { table } from '../format.ts'
import { foreign, html } from '../html.ts'
import { linkTo, type Page } from '../page.ts'

export const productsPage: Page = {
  path: '/products',
  nav: 'Products',
  title: () => 'Products',
  everyMs: 5_000,
  async render(view) {
    const { thread, catalog, catalogs, query } = view
    const wanted = query.q ?? ''
    const { products, more, indexed } = await thread.read('search', catalog.name, wanted)
    const percent = Math.floor(indexed * 100)
    return html`<h1>Products</h1>
<form class="row" role="search" action="/products">${catalogs.length > 1 && html`<input type="hidden" name="catalog" value="${catalog.name}">`}
<div><label for="q">Beginning of the product id, or words of the name</label><input id="q" name="q" type="search" value="${wanted}" maxlength="200" autocomplete="off"></div>
<button class="primary">Search</button></form>
${percent < 100 && html`<p class="hint">Words are found in the names of ${percent} % of the products so far: the index is filled while nothing is imported or sent. Ids are found always.</p>`}
${
  wanted !== '' &&
  table({
    label: 'Products found',
    head: ['Product', 'Name'],
    rows: products.map(({ id, name }) => [
      html`<a href="${linkTo(view, '/product', { id })}">${foreign(id)}</a>`,
      name === '' ? html`<span class="quiet">no name</span>` : foreign(name),
    ]),
    empty: 'No product has such an id or name.',
  })
}
${more && html`<p>and more: write more of the id or the name</p>`}`
  },
}
