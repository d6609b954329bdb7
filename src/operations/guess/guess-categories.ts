import { htmlToText } from '../../catalog/html-text.ts'
import type { ColumnFacts } from './column-facts.ts'
import { keyText } from './feed-text.ts'
import { why } from './guess-reason.ts'
import type { Guesses, MeaningGuess, RuleGuess } from './model.ts'

const field = 'categories'
/** Of a list as of a path the elements stand in one cell: the name says which it is. */
const ofPaths =
  /path|tree|breadcrumb|hierarch|pfad|baum|ruta|chemin|arborescence|[áa]rbol|percorso|[śs]cie[żz]k|cesta|caminho|category.?text|ariane/i

export function categoryRules(guesses: Guesses): RuleGuess[] {
  const main = guesses.get(field)
  if (!main) return []
  const sub = guesses.get('sub_category')
  const html = [main, sub].some((guess) => guess && guess.facts.entities > 0) ? { html: 'text' } : {}
  if (sub) return [levelsRule(main, sub, html)]
  const { list, column } = main.facts
  if (list !== undefined && list !== column)
    return [{ field, rule: { column, ...html, separator: '>', slash: '-' }, comment: why(main) }]
  if (main.facts.json === 'texts') return [jsonRule(main)]
  return [cellRule(main, html)]
}

/** One column for each level of the path. */
function levelsRule(main: MeaningGuess, sub: MeaningGuess, html: { html?: string }): RuleGuess {
  const levels = [sub.facts, ...sub.others].toSorted((one, other) => one.index - other.index)
  const below = levels.map(({ column }) => ` > {${column}?}`).join('')
  const rule = { template: `{${main.facts.column}}${below}`, ...html, separator: '>', slash: '-', split: '|' }
  const names = levels.map(({ column }) => `"${column}"`).join(' and ')
  return { field, rule, comment: why(main, `with ${names} below it`) }
}

/** A list of JSON holds categories, or the levels of one. */
function jsonRule(main: MeaningGuess): RuleGuess {
  const { column, values } = main.facts
  const doubt = 'are the texts of each cell several categories, or the levels of one?'
  const comment = `${why(main, 'lists of JSON')}; ${doubt}`
  if (!ofPaths.test(column))
    return { field, rule: { column, separator: '>', slash: '-' }, comment, open: true }
  const mark = values.some((text) => text.includes('", "')) ? '", "' : '","'
  const rule = { column, pattern: '^\\[\\s*"?(.*?)"?\\s*\\]$', separator: mark, slash: '-', split: '\n' }
  return { field, rule, comment, open: true }
}

function cellRule(main: MeaningGuess, html: { html?: string }): RuleGuess {
  const { list, column, values } = main.facts
  const text = textOf(values)
  const separator = [' > ', '>', ' / ', ' » ', '/'].find((mark) => text.includes(mark))?.trim()
  const split = ['%%', '||', '|', ';', '@', '^', ', '].find((mark) => text.includes(mark))
  // Some write a path so, and some a list.
  if (separator === undefined && list === undefined && / \| /.test(text)) {
    const levels = { column, ...html, separator: '|', slash: '-' }
    const several = { column, ...html, separator: '>', slash: '-', split: '|' }
    if (ofPaths.test(column))
      return { field, rule: levels, comment: why(main, 'one path with "|" between its levels') }
    const isPath = isTree(main.facts)
    const other = isPath ? `several: ${keyText(field, several)}` : `levels: ${keyText(field, levels)}`
    const doubt = `does "|" separate several categories, or the levels of one? For ${other}`
    return { field, rule: isPath ? levels : several, comment: `${why(main)}; ${doubt}`, open: true }
  }
  // One text with commas is a list only where another mark separates the levels.
  const isComma = split?.trim() === ','
  const commas = values.filter((value) => value.includes(', ')).length / Math.max(values.length, 1)
  const isList = separator !== undefined || (!/,\S/.test(text) && commas > 0.3)
  const splits = split !== undefined && (!isComma || isList)
  const rule = {
    column,
    ...html,
    separator: separator ?? '>',
    ...(separator === '/' ? {} : { slash: '-' }),
    ...(list === undefined ? { split: splits ? (split ?? '|').trim() : '|' } : {}),
  }
  const isOdd = split !== undefined && (isComma || split.length > 1 || '@^'.includes(split))
  if (separator === undefined && list === undefined && split && (isOdd || isTree(main.facts, split))) {
    const doubt = `does ${JSON.stringify(split.trim())} separate several categories, or the levels of one?`
    return { field, rule, comment: `${why(main)}; ${doubt}`, open: true }
  }
  return { field, rule, comment: why(main) }
}

function textOf(values: readonly string[]): string {
  return values
    .slice(0, 200)
    .map(htmlToText)
    .filter((plain) => typeof plain === 'string')
    .join('\n')
}

/** What stands behind the first mark always stands below the same. */
function isTree({ values }: ColumnFacts, mark = '|'): boolean {
  const parents = new Map<string, string>()
  const paths = values
    .map((text) => text.split(mark).map((level) => level.trim()))
    .filter((path) => path.length > 1)
  const isSame = paths.every((path) =>
    path.slice(1).every((level, index) => {
      const parent = path[index] ?? ''
      const known = parents.get(level)
      if (known === undefined) parents.set(level, parent)
      return known === undefined || known === parent
    }),
  )
  const first = new Set(paths.map(([root]) => root))
  return (
    isSame && paths.length > 0 && paths.every((path) => path.slice(1).every((level) => !first.has(level)))
  )
}
