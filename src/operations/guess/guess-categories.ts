import { htmlToText } from '../../catalog/html-text.ts'
import { parsedOf } from '../../lib/parsed-of.ts'
import { type CategoryMarks, findCategoryMarks } from './category-marks.ts'
import type { ColumnFacts } from './column-facts.ts'
import { keyText } from './feed-text.ts'
import { doubted, type Guesses, listed, type MeaningGuess, oneLine, type RuleGuess, why } from './model.ts'

const field = 'categories'
/** Of a list as of a path the elements stand in one cell: the name says which it is. */
const ofPaths =
  /path|tree|breadcrumb|hierarch|pfad|baum|ruta|chemin|arborescence|[áa]rbol|percorso|[śs]cie[żz]k|cesta|caminho|category.?text|ariane/i

export function categoryRules(guesses: Guesses): RuleGuess[] {
  const found = guesses.get(field)
  if (!found) return []
  const { main, sub } = pathBeside(found, guesses.get('sub_category'))
  const html = [main, sub].some((guess) => guess && guess.facts.entities > 0) ? { html: 'text' } : {}
  if (sub) return [levelsRule(main, sub, html)]
  const { list, column } = main.facts
  if (list !== undefined && list !== column)
    return [{ field, rule: { column, ...html, ...ofElements(textsOf(main.facts)) }, comment: why(main) }]
  if (main.facts.json === 'texts') return [jsonRule(main)]
  return [cellRule(main, html)]
}

/** A column with whole paths goes before those with one level of them. */
function pathBeside(
  main: MeaningGuess,
  sub: MeaningGuess | undefined,
): { main: MeaningGuess; sub?: MeaningGuess } {
  const others = [...main.others, ...(sub ? [sub.facts, ...sub.others] : [])]
  const isAbove = (path: ColumnFacts, leaf: ColumnFacts) => {
    const { separator } = findCategoryMarks({ texts: textsOf(path), isPath: true })
    if (path === leaf || separator === undefined) return false
    const levels = new Set(
      textsOf(path).flatMap((text) => text.split(separator).map((level) => level.trim())),
    )
    const known = leaf.values.filter((text) => levels.has(text.trim()))
    return known.length > leaf.values.length * 0.9
  }
  const path = others.find((facts) => isAbove(facts, main.facts))
  const reason = 'it holds the whole path'
  if (path) return { main: { facts: path, reason, others: [] } }
  if (sub && isAbove(main.facts, sub.facts)) return { main: { ...main, others: [] } }
  return sub ? { main, sub } : { main }
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
  const elements = textsOf(main.facts).flatMap(elementsOf)
  const marks = ofElements(elements)
  // What has levels of its own is no level.
  if (elements.some((text) => text.includes(marks.separator)))
    return { field, rule: { column, ...marks }, comment: why(main, 'lists of JSON') }
  const doubt = 'are the texts of each cell several categories, or the levels of one?'
  const comment = why(main, 'lists of JSON')
  if (!ofPaths.test(column)) return doubted({ field, rule: { column, ...marks }, comment }, [doubt])
  const mark = values.some((text) => text.includes('", "')) ? '", "' : '","'
  const rule = { column, pattern: '^\\[\\s*"?(.*?)"?\\s*\\]$', separator: mark, slash: '-', split: '\n' }
  return doubted({ field, rule, comment }, [doubt])
}

function elementsOf(cell: string): string[] {
  return [parsedOf(cell)].flat().filter((element) => typeof element === 'string')
}

/** Each element is one category: all that is asked is what separates its levels. */
function ofElements(texts: readonly string[]): { separator: string; slash?: '-' } {
  const { separator = '>' } = findCategoryMarks({ texts, isPath: true })
  const isKnown = separator === '/' || arrows.test(separator)
  return separator === '/' ? { separator } : { separator: isKnown ? separator : '>', slash: '-' }
}

const arrows = /[>→⇒»›▸►\\]|::/

function cellRule(main: MeaningGuess, html: { html?: string }): RuleGuess {
  const { list, column } = main.facts
  const cells = textsOf(main.facts)
  if (list !== undefined) {
    const texts = cells.flatMap((cell) => cell.split('|'))
    return { field, rule: { column, ...html, ...ofElements(texts) }, comment: why(main) }
  }
  const marks = findCategoryMarks({ texts: cells, isPath: ofPaths.test(column) })
  const ruleOf = (marks: CategoryMarks) => ({ column, ...html, ...partsOf(marks) })
  const rule = ruleOf(marks)
  const { other } = marks
  if (other === undefined) {
    const words = marks.separator === '|' ? 'one path with "|" between its levels' : ''
    return { field, rule, comment: why(main, words) }
  }
  const example = cells.find((text) => text.includes(other.mark)) ?? ''
  const doubt = [
    `does ${JSON.stringify(other.mark.trim() || other.mark)} separate several categories, or the levels of one?`,
    `${JSON.stringify(oneLine(example, 60))} becomes ${listed(categoriesOf(example, marks))}.`,
    `For ${other.kind}: ${keyText(field, ruleOf(other))}`,
  ]
  return doubted({ field, rule, comment: why(main) }, [doubt.join(' ')])
}

/** In the words of a rule. */
function partsOf({ separator, split }: CategoryMarks): Readonly<Record<string, string>> {
  return {
    separator: separator ?? '>',
    ...(separator === '/' ? {} : { slash: '-' }),
    ...(separator === '|' && split === undefined ? {} : { split: split ?? '|' }),
  }
}

/** What the rule makes of a cell. */
function categoriesOf(cell: string, { separator = '>', split = '\n' }: CategoryMarks): string[] {
  const slash = separator === '/' ? '/' : '-'
  return cell.split(split).map((path) => {
    const levels = path.split(separator).map((level) => level.trim().replaceAll('/', slash))
    return levels.filter((level) => level !== '').join('/')
  })
}

function textsOf({ values, entities }: ColumnFacts): string[] {
  if (entities === 0) return [...values]
  return values.map(htmlToText).filter((plain) => typeof plain === 'string')
}
