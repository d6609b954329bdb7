import { htmlToText } from '../../catalog/html-text.ts'
import { keyText } from './feed-text.ts'
import { why } from './guess-reason.ts'
import type { Guesses, RuleGuess } from './model.ts'

export function categoryRules(guesses: Guesses): RuleGuess[] {
  const main = guesses.get('categories')
  if (!main) return []
  const { column, examples, entities } = main.facts
  const sub = guesses.get('sub_category')
  const html = entities > 0 || (sub && sub.facts.entities > 0) ? { html: 'text' } : {}
  if (sub) {
    const template = `{${column}} > {${sub.facts.column}?}`
    const rule = { template, ...html, separator: '>', slash: '-', split: '|' }
    return [{ field: 'categories', rule, comment: why(main, `with "${sub.facts.column}" below it`) }]
  }
  const { list } = main.facts
  if (list !== undefined && list !== column) {
    const rule = { column, ...html, separator: '>', slash: '-' }
    return [{ field: 'categories', rule, comment: why(main) }]
  }
  const text = examples
    .map(htmlToText)
    .filter((plain) => typeof plain === 'string')
    .join('\n')
  const separator = [' > ', '>', ' / ', ' » ', '/'].find((mark) => text.includes(mark))?.trim()
  const split = ['|', ';', ', '].find((mark) => text.includes(mark))
  // One text with commas is a list only where another mark separates the levels.
  const splits =
    split !== undefined && (split.trim() !== ',' || separator !== undefined || /,\S/.test(text) === false)
  const rule = {
    column,
    ...html,
    separator: separator ?? '>',
    ...(separator === '/' ? {} : { slash: '-' }),
    ...(list === undefined ? { split: splits ? (split ?? '|').trim() : '|' } : {}),
  }
  // Some write a path so, and some a list.
  if (separator === undefined && / \| /.test(text)) {
    const levels = keyText('categories', { column, ...html, separator: '|', slash: '-' })
    const doubt = `does "|" separate several categories, or the levels of one? For levels: ${levels}`
    return [{ field: 'categories', rule, comment: `${why(main)}; ${doubt}`, open: true }]
  }
  return [{ field: 'categories', rule, comment: why(main) }]
}
