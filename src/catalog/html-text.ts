import { createRequire } from 'node:module'
import { Problem } from './problem.ts'

/** Late, and kept by Node: every command reads the rules of a catalog, few of them meet HTML. */
const require = createRequire(import.meta.url)

const dropped: ReadonlySet<string> = words('script style template noscript title iframe object svg')
const blocks: ReadonlySet<string> = words(
  'address article aside blockquote br caption center dd div dl dt fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 header hr li main nav ol option p pre section table tbody tfoot thead tr ul',
)
/** Cells of one row stay on one line. */
const cells: ReadonlySet<string> = words('td th')
const tag = /<[a-z!/]/i
const escapedTag = /&lt;(?:p|br|div|ul|ol|li|span|strong|b|em|i|h[1-6]|table|a)\b[^<>]{0,200}&gt;/i

/** Elements in each other: as many as browsers keep. The parser's time grows with their number times that of the tags. */
const depthMax = 512

/**
 * The text of a piece of HTML: blocks and line breaks become line ends, items of lists begin with "- ", entities become
 * characters, scripts and styles go. A text without any tag keeps its own line ends.
 */
export function htmlToText(html: string): string | Problem {
  if (!html.includes('<') && !html.includes('&')) return html
  const keepsLines = !tag.test(html)
  if (keepsLines && escapedTag.test(html)) return htmlToText(unescapeTags(html))
  const pieces: string[] = []
  let hidden = 0
  let depth = 0
  let isTooDeep = false
  const { Parser } = require('htmlparser2') as typeof import('htmlparser2')
  const parser = new Parser({
    onopentagname(name) {
      depth += 1
      if (depth > depthMax) {
        isTooDeep = true
        parser.pause()
      }
      if (dropped.has(name)) hidden += 1
      else if (blocks.has(name)) pieces.push(name === 'li' ? '\n- ' : '\n')
      else if (cells.has(name)) pieces.push(' ')
    },
    ontext(text) {
      if (hidden === 0) pieces.push(keepsLines ? text : text.replace(/[\s\u00a0]+/g, ' '))
    },
    onclosetag(name) {
      depth -= 1
      if (dropped.has(name)) hidden -= 1
      else if (blocks.has(name)) pieces.push('\n')
    },
  })
  parser.end(html)
  if (isTooDeep) return tooDeep
  const text = pieces.join('')
  if (keepsLines) return text.trim()
  return text
    .split('\n')
    .map((line) => line.replace(/ +/g, ' ').trim())
    .filter((line) => line !== '' && line !== '-')
    .join('\n')
}

const tooDeep = new Problem('html-too-deep', {
  found: `found HTML with more than ${depthMax} elements in each other, which looks as if most of them were never closed`,
  remedy: 'close them where they end, or leave out html: text',
})

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
