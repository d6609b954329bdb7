import { Parser } from 'htmlparser2'

const dropped: ReadonlySet<string> = words('script style template noscript title iframe object svg')
const blocks: ReadonlySet<string> = words(
  'address article aside blockquote br caption center dd div dl dt fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 header hr li main nav ol option p pre section table tbody tfoot thead tr ul',
)
/** Cells of one row stay on one line. */
const cells: ReadonlySet<string> = words('td th')
const tag = /<[a-z!/]/i
/** Shops that store HTML escaped export it so. */
const escapedTag = /&lt;(?:p|br|div|ul|ol|li|span|strong|b|em|i|h[1-6]|table|a)\b[^<>]{0,200}&gt;/i

/**
 * The text of a piece of HTML: blocks and line breaks become line ends, items of lists begin with "- ", entities become
 * characters, scripts and styles go. A text without any tag keeps its own line ends.
 */
export function htmlToText(html: string): string {
  if (!html.includes('<') && !html.includes('&')) return html
  const keepsLines = !tag.test(html)
  if (keepsLines && escapedTag.test(html)) return htmlToText(unescapeTags(html))
  const pieces: string[] = []
  let hidden = 0
  const parser = new Parser({
    onopentagname(name) {
      if (dropped.has(name)) hidden += 1
      else if (blocks.has(name)) pieces.push(name === 'li' ? '\n- ' : '\n')
      else if (cells.has(name)) pieces.push(' ')
    },
    ontext(text) {
      if (hidden === 0) pieces.push(keepsLines ? text : text.replace(/[\s\u00a0]+/g, ' '))
    },
    onclosetag(name) {
      if (dropped.has(name)) hidden -= 1
      else if (blocks.has(name)) pieces.push('\n')
    },
  })
  parser.end(html)
  const text = pieces.join('')
  if (keepsLines) return text.trim()
  return text
    .split('\n')
    .map((line) => line.replace(/ +/g, ' ').trim())
    .filter((line) => line !== '' && line !== '-')
    .join('\n')
}

/** Once: what is escaped twice is text. */
function unescapeTags(html: string): string {
  return html
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&amp;', '&')
}

function words(list: string): ReadonlySet<string> {
  return new Set(list.split(' '))
}
