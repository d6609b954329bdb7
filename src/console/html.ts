/** Markup that is safe as it is. Everything else that goes into a page is text, and is escaped. */
export class Html {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

export type Content = Html | string | number | false | null | undefined | readonly Content[]

/** Names of products, feeds and files come from others: whatever stands between the markup is escaped. */
export function html(markup: TemplateStringsArray, ...values: readonly Content[]): Html {
  return new Html(markup.reduce((text, part, index) => `${text}${textOf(values[index - 1])}${part}`))
}

function textOf(content: Content): string {
  if (content === undefined || content === null || content === false) return ''
  if (content instanceof Html) return content.text
  if (typeof content === 'object') return content.map(textOf).join('')
  return escapeText(String(content))
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

function escapeText(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => entities[character] ?? '')
}

/** A text of others inside a sentence: letters that are written from right to left must not reorder what is around. */
export function foreign(text: string): Html {
  return html`<bdi>${text}</bdi>`
}
