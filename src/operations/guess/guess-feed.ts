import { FileRefusedError } from '../../lib/errors.ts'
import { describeDialect } from '../../records/describe-dialect.ts'
import { type ColumnFacts, columnFacts } from './column-facts.ts'
import { checkLine, type FeedLine, feedLines } from './feed-text.ts'
import { withListPrice } from './find-list-price.ts'
import { type Lists, missingImage, unusedImages } from './find-members.ts'
import { groupLine, groupTable } from './guess-groups.ts'
import { parentColumn } from './guess-links.ts'
import { guessMeanings } from './guess-meanings.ts'
import { guessPreset } from './guess-preset.ts'
import { rulesOfRows } from './guess-row-rules.ts'
import { guessRules } from './guess-rules.ts'
import { doubtsOfUnread } from './guess-visibility.ts'
import { HeaderNames } from './header-names.ts'
import { headerlessLines, looksLikeData } from './headerless.ts'
import { refuseLinesAbove } from './lines-above.ts'
import { type Given, type Guesses, listed, type RuleGuess } from './model.ts'
import { withoutParts, withVariants } from './nested-variants.ts'
import { presetLines } from './preset-lines.ts'
import { namesIn } from './rule-columns.ts'
import { sampleDoubts } from './sample-doubts.ts'
import { readSampleTable, type SampleTable } from './sample-table.ts'
import { unusedTopics } from './unused-topics.ts'

export interface FeedGuess {
  name: string
  dialect: string
  records: number
  preset: string | undefined
  /** The feed in the words of the configuration, with a comment on every guess. */
  lines: readonly FeedLine[]
  /** What nobody but the owner of the shop knows. */
  open: readonly string[]
  warnings: readonly string[]
}

export interface GuessOptions {
  file: string
  given: Given
  signal: AbortSignal
  /** The file is read once, and again where it has no header. */
  onProgress?: ((bytesRead: number) => void) | undefined
  /** Whether presets are looked at; default true. */
  withPresets?: boolean
}

/** Throws a FileRefusedError where the file is refused whole, or holds no products as far as can be told. */
export async function guessFeed({
  file,
  given,
  withPresets = true,
  ...reading
}: GuessOptions): Promise<FeedGuess> {
  const names = await HeaderNames.read()
  const read = await readSampleTable(file, reading)
  await refuseLinesAbove(file, read, names)
  const isHeaderless = looksLikeData(read, names)
  const table = isHeaderless ? await readSampleTable(file, { ...reading, format: { header: 'none' } }) : read
  if (table.records === 0) throw noRecords(table)
  const all = table.columns.map((column, index) => {
    const facts = columnFacts(column, index, table.rows)
    return table.textLists.has(column) ? { ...facts, list: column } : facts
  })
  const columns = withoutParts(all, table.members)
  const preset = withPresets && !isHeaderless ? guessPreset(table) : undefined
  const looked = { columns, names, members: memberFacts(table), given }
  const lines = preset
    ? presetLines(preset, looked)
    : isHeaderless
      ? headerlessLines(columns, looked)
      : tableLines(table, looked)
  return {
    name: table.name,
    dialect: describeDialect(table.dialect),
    records: table.records,
    preset: preset?.preset,
    lines: [...lines, ...safetyLines],
    open: lines
      .filter(({ open }) => open)
      .map(({ key, comment }) => (key === '' ? comment : `${key}: ${comment}`)),
    warnings: table.warnings,
  }
}

interface Looked extends Lists {
  columns: readonly ColumnFacts[]
  given: Given
}

function tableLines(table: SampleTable, looked: Looked): FeedLine[] {
  const { columns, names, members, given } = looked
  const grouped = given.id === undefined ? groupTable(table.rows, looked) : undefined
  const guesses = withListPrice(grouped?.guesses ?? guessMeanings(columns, names, members), {
    rows: table.rows,
    columns,
  })
  const rules = withVariants(guessRules(guesses, given, { members, names }), { members, names, columns })
  const { rows } = table
  const used = new Set([...namesIn(rules.map(({ rule }) => rule)), ...(grouped?.grouping.columns ?? [])])
  const doubts = sampleDoubts({ guesses, rows, columns, used })
  if (!grouped)
    return [...ruleLines(table, rules, looked), ...parentLines(guesses, { ...looked, rows }), ...doubts]
  const { grouping } = grouped
  const lines = ruleLines(table, rulesOfRows(rules, grouping), { ...looked, ofGroup: grouping.columns })
  return [groupLine(grouping), ...lines, ...doubts]
}

/** Variants that stand in records of their own. */
function parentLines(
  guesses: Guesses,
  file: Pick<SampleTable, 'rows'> & Pick<Looked, 'columns'>,
): FeedLine[] {
  const parent = parentColumn(guesses, file)
  if (parent === undefined) return []
  const name = JSON.stringify(parent)
  const comment = `group: ${name} holds ids of other records: are those its variants? They are products of their own until group: { parent: ${name}, names: [ … ] } says so`
  return [checkLine(comment)]
}

/** In XML, what only some objects of a list hold cannot be told from what others do. */
function memberFacts({ columns, members, dialect }: SampleTable): ColumnFacts[] {
  return members
    .map(({ list, column, cells }, index) => {
      const rows = cells.map((cell) => [cell])
      return { ...columnFacts(column, 0, rows), index: columns.length + index, list }
    })
    .filter(({ filled, fill }) => filled > 0 && (dialect.type !== 'xml' || fill === 1))
}

const needed = ['name', 'price']

function ruleLines(
  table: SampleTable,
  rules: readonly RuleGuess[],
  { columns, members, names, ofGroup = [] }: Looked & { ofGroup?: readonly string[] },
): FeedLine[] {
  const missing = needed.filter((field) => !rules.some((rule) => rule.field === field))
  if (missing.length > 0) throw noProducts(table, missing)
  const used = new Set([...namesIn(rules.map(({ rule }) => rule)), ...ofGroup])
  const others = columns.filter(({ column, filled }) => filled > 0 && !used.has(column))
  const left = members.filter(({ column }) => !used.has(column))
  const { lists } = table
  const otherLists = lists.filter(
    (list) => ![...used].some((name) => name === list || name.startsWith(`${list}.`)),
  )
  const image = rules.some(({ field }) => field === 'image_url')
    ? []
    : [missingImage({ columns: others, lists })]
  const images = image.length > 0 ? [] : unusedImages({ columns: others, members: left })
  const fields = new Set(rules.map(({ field }) => field))
  const topics = unusedTopics({ columns: [...others, ...left], fields, names })
  const { type, path } = table.dialect
  const format: FeedLine[] =
    type === 'csv' || path === undefined || path === ''
      ? []
      : [{ key: 'format', value: { type, path }, comment: 'guessed: where the records stand' }]
  return [
    ...format,
    ...feedLines(rules),
    ...image,
    ...images,
    ...doubtsOfUnread(others, names).map(checkLine),
    ...topics,
    ...unusedVariants(rules, left),
    ...numberedVariants(rules, others),
    ...unusedLines([...others.map(({ column }) => column), ...otherLists]),
  ]
}

function unusedVariants(rules: readonly RuleGuess[], members: readonly ColumnFacts[]): FeedLine[] {
  if (rules.some(({ field }) => field === 'skus')) return []
  const priced = members.filter(
    ({ column, list, numbers }) => numbers > 0.5 && /price|pri[cs]|cena/i.test(column.slice(list?.length)),
  )
  const [list] = priced.map((facts) => facts.list)
  if (list === undefined) return []
  const comment = `fields.skus: the objects of ${JSON.stringify(list)} have prices of their own: are they variants?`
  return [checkLine(comment)]
}

/** A variant in each of several columns with numbers: no rule makes SKUs of them. */
function numberedVariants(rules: readonly RuleGuess[], others: readonly ColumnFacts[]): FeedLine[] {
  if (rules.some(({ field }) => field === 'skus')) return []
  const priced = others.filter(
    ({ column, numbers }) => numbers > 0.5 && /(?:option|varia|sku|size)\D*\d+\D*pri[cs]/i.test(column),
  )
  if (priced.length === 0) return []
  const comment = `fields.skus: ${listed(priced.map(({ column }) => column))} may be prices of variants: price, stock and availability are those of the product alone`
  return [checkLine(comment)]
}

function unusedLines(columns: readonly string[]): FeedLine[] {
  if (columns.length === 0) return []
  const shown = columns.slice(0, 40).map((column) => JSON.stringify(column.slice(0, 60)))
  return [{ key: '', value: undefined, comment: `not used: ${shown.join(', ')}` }]
}

/** Worth having from the first day. */
const safetyLines: readonly FeedLine[] = [
  {
    key: 'changes',
    value: { atMost: { urgent: '50%' } },
    comment: 'a file that changes more prices than that waits for "catalogd approve"',
  },
]

function noRecords({ name, columns }: SampleTable): FileRefusedError {
  const header = columns.length === 0 ? '' : ` below its ${columns.length} columns`
  return new FileRefusedError('no-products', `${name}: it holds no records${header}`, {
    hint: 'Name a file with some products: what its columns hold is guessed from their cells',
  })
}

function noProducts({ name, columns }: SampleTable, missing: readonly string[]): FileRefusedError {
  const shown = columns
    .slice(0, 12)
    .map((column) => JSON.stringify(column.slice(0, 40)))
    .join(', ')
  return new FileRefusedError(
    'no-products',
    `${name}: no column looks like the ${missing.join(' or the ')} of a product; the columns are ${shown}`,
    {
      hint: 'Name the file with the products. A feed of stock, prices or texts alone is configured by hand: catalogd init',
    },
  )
}
