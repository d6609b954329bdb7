import { type Content, foreign, type Html, html } from './html.ts'
import { linkTo, type Page, type View } from './page.ts'

interface Frame {
  head: Html
  page: Page
  pages: readonly Page[]
  content: Html
  /** How an action went. */
  note: Html | undefined
}

/** A whole page around its content. */
export function layout(view: View, { head, page, pages, content, note }: Frame): Html {
  const { session, catalog, catalogs } = view
  const links = [...pages.flatMap(({ path, nav }) => (nav === undefined ? [] : [{ path, nav }]))]
  return frame({
    head,
    title: `${page.title(view)} · catalogd`,
    body: html`<a class="skip" href="#content">Skip to the content</a>
<header>
<a class="brand" href="${linkTo(view, '/')}">catalogd</a>
${catalogs.length > 1 ? catalogChoice(view, page) : html`<span class="catalog">${foreign(catalog.name)}</span>`}
<nav aria-label="Pages"><ul>
${links.map(({ path, nav }) => html`<li><a href="${linkTo(view, path)}"${page.path === path && html` aria-current="page"`}>${nav}</a></li>`)}
<li><a href="/queues/">Queues</a></li>
</ul></nav>
${session.by === 'cookie' && html`<form class="logout" method="post" action="/logout"><input type="hidden" name="csrf" value="${session.csrf}"><button>Log out (${session.role})</button></form>`}
</header>
<p id="connection" role="status"></p>
${note}
<main id="content" tabindex="-1" data-every="${page.everyMs}">${content}</main>`,
  })
}

function catalogChoice({ catalog, catalogs }: View, { path, nav }: Page): Html {
  return html`<form class="catalog" action="${nav === undefined ? '/' : path}"><label>Catalog <select name="catalog">
${catalogs.map(({ name }) => html`<option${name === catalog.name && html` selected`}>${name}</option>`)}
</select></label> <button>Show</button></form>`
}

interface LoginPage {
  head: Html
  next: string
  problem: Content
}

export function loginPage({ head, next, problem }: LoginPage): Html {
  return frame({
    head,
    title: 'Log in · catalogd',
    body: html`<main id="content" class="login"><h1>catalogd</h1>
<form method="post" action="/login"><input type="hidden" name="next" value="${next}">
<label for="token">Token</label>
<input id="token" name="token" type="password" autocomplete="current-password" required autofocus${problem && html` aria-describedby="problem" aria-invalid="true"`}>
${problem && html`<p id="problem" class="problem" role="alert">${problem}</p>`}
<button class="primary">Log in</button></form>
<p class="hint">It stands in the configuration as <code>console.token</code> (may do all) or <code>console.readToken</code> (may look).</p>
</main>`,
  })
}

interface MessagePage {
  head: Html
  title: string
  text: Content
  hint?: Content
}

export function messagePage({ head, title, text, hint }: MessagePage): Html {
  return frame({
    head,
    title: `${title} · catalogd`,
    body: html`<main id="content" class="login"><h1>${title}</h1><p>${text}</p>${hint && html`<p class="hint">${hint}</p>`}
<p><a href="/">Overview</a></p></main>`,
  })
}

function frame({ head, title, body }: { head: Html; title: string; body: Html }): Html {
  return html`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>${title}</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
${head}</head><body>
${body}
</body></html>`
}
