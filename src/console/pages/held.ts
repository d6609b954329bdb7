import type { FeedStatus } from '../../operations/read-status.ts'
import { count, moment, plural } from '../format.ts'
import type { HeldSample } from '../held-samples.ts'
import { type Content, foreign, type Html, html } from '../html.ts'
import { button, linkTo, type View } from '../page.ts'

type Held = FeedStatus['held'][number]

/** What waits for a decision, with enough of it to decide. */
export function heldOf(view: View, held: Held, sample: HeldSample | undefined): Html {
  const { kind, sequence, file, at, reason } = held
  const what =
    kind === 'removals'
      ? html`${count(held.missing)} of ${plural(held.of, 'product')} would go out of stock, since ${foreign(file)} no longer names them. Everything else of the file was applied.`
      : html`Nothing of ${foreign(file)} was applied.`
  const fields = { import: String(sequence) }
  const approve =
    kind === 'removals' ? `${count(held.missing)} products go out of stock.` : 'The whole file is applied.'
  return html`<div class="card" id="held-${sequence}"><p><strong>Import <a href="${linkTo(view, `/imports/${sequence}`)}">${sequence}</a> was held ${moment(at, view.nowMs)}</strong></p>
<p><strong>${reason}</strong>. ${what}</p>
${sample && sampleOf(view, sample)}
<div class="buttons">${button(view, { action: 'approve', label: 'Approve', fields, confirm: approve })}
${button(view, { action: 'discard', label: 'Discard', fields, confirm: 'Nothing is removed or applied. The next file of the feed goes in as usual.' })}</div></div>`
}

function sampleOf(view: View, { lines, more }: HeldSample): Content {
  if (lines.length === 0) return undefined
  return html`<p>For instance:</p><ul class="facts">${lines.map(({ id, text }) => html`<li><a href="${linkTo(view, '/product', { id })}">${foreign(id)}</a>${text !== '' && html`: ${foreign(text)}`}</li>`)}${more && html`<li>and more</li>`}</ul>`
}
