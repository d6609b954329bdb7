import { type Preset, readPreset } from '../../config/preset-file.ts'
import { type ColumnFacts, isAvailability } from './column-facts.ts'
import { checkLine, type FeedLine, feedLines } from './feed-text.ts'
import { findLocale } from './find-locale.ts'
import { holdsImages, ofSmallOnes } from './find-members.ts'
import { unknownShopUrl } from './guess-addresses.ts'
import { readsCurrency } from './guess-currency.ts'
import { guessMeanings } from './guess-meanings.ts'
import type { PresetGuess } from './guess-preset.ts'
import { guessRules } from './guess-rules.ts'
import { doubtsOfUnread } from './guess-visibility.ts'
import { foldName, type HeaderNames } from './header-names.ts'
import { type Given, listed, type RuleGuess } from './model.ts'
import { columnsIn, namesIn, partsOf } from './rule-columns.ts'

interface Asked {
  given: Given
  columns: readonly ColumnFacts[]
  names: HeaderNames
}

/** What a preset is asked for besides. */
export function presetLines(preset: PresetGuess, asked: Asked): FeedLine[] {
  const { given, columns } = asked
  const lines: FeedLine[] = [
    {
      key: 'preset',
      value: preset.preset,
      comment: `recognised by ${preset.signature.map((name) => `"${name}"`).join(', ')}`,
    },
  ]
  if (preset.needsShopUrl) lines.push(openLine('shopUrl', given.shopUrl, unknownShopUrl))
  const named = columns.filter(
    ({ column }) => /price|preis|^prix|precio/i.test(column) && !/shipping/i.test(column),
  )
  const written = named.filter(({ amounts, filled, currencies }) => {
    return amounts.length > filled * 0.9 && currencies > 0.9
  })
  if (preset.needsCurrency)
    lines.push(...currencyLines(preset, { given, priced: named, isWritten: written.length > 0 }))
  if (preset.takesMarks) {
    lines.push(...markLines(named.filter(({ numbers }) => numbers > 0.5)))
    const mixed = written.filter(({ locale }) => locale === undefined)
    if (mixed.length > 0) lines.push(mixedMarks(mixed))
  }
  lines.push(...withoutLines(preset, given))
  const own = given.id === undefined ? [] : [{ field: 'product_id', rule: given.id, comment: 'as you said' }]
  lines.push(...feedLines([...own, ...fittedRules(preset, asked)]), ...doubtLines(preset, asked, named))
  return lines
}

/** What the file lacks, and what stands in its place. */
function withoutLines({ without }: PresetGuess, { shopUrl = unknownShopUrl }: Given): FeedLine[] {
  return without.flatMap(({ column, instead }) => {
    const comment = `the file lacks ${JSON.stringify(column)}: check what is made without it`
    const filled = JSON.stringify(instead).replaceAll(/\$\{preset\.shopUrl\}/g, () => shopUrl)
    const { fields = {}, ...keys } = JSON.parse(filled) as Record<string, object>
    const rules = Object.entries(fields).map(([field, value]) => [`fields.${field}`, value] as const)
    const lines = [...Object.entries(keys), ...rules]
    const said = lines.length > 0 ? lines : [['', undefined] as const]
    return said.map(([key, value]) => ({ key, value, comment, open: true }) as const)
  })
}

/** Presets read numbers with a decimal point unless they are told otherwise. */
function markLines(named: readonly ColumnFacts[]): FeedLine[] {
  const amounts = named.flatMap((facts) => facts.amounts)
  const { decimal = '.', thousands } = findLocale(amounts) ?? {}
  const comment = `guessed: amounts such as ${named.find((facts) => facts.filled > 0)?.examples[0]}`
  return [
    ...(decimal === '.' ? [] : [{ key: 'decimal', value: decimal, comment }]),
    ...(thousands === undefined ? [] : [{ key: 'thousands', value: thousands, comment }]),
  ]
}

function mixedMarks(named: readonly ColumnFacts[]): FeedLine {
  const examples = listed(named.flatMap((facts) => facts.examples))
  const comment = `the marks of amounts are mixed, such as ${examples}: what a decimal point does not read is rejected`
  return checkLine(comment)
}

function openLine(key: string, given: string | undefined, unknown: string): FeedLine {
  if (given !== undefined) return { key, value: given, comment: 'as you said' }
  return { key, value: unknown, comment: 'not in the file: put in yours', open: true }
}

interface Currency {
  given: Given
  priced: readonly ColumnFacts[]
  /** Every amount of some column says its currency. */
  isWritten: boolean
}

/** What the file says goes before what the user says, and what it leaves open is what the user says. */
function currencyLines(
  { preset, requiresCurrency }: PresetGuess,
  { given, priced, isWritten }: Currency,
): FeedLine[] {
  const { codes, marks, doubt } = readsCurrency(priced, given)
  const own = given.currency?.toUpperCase()
  const lines: FeedLine[] = []
  if (requiresCurrency || !isWritten || (own !== undefined && marks.length > 0))
    lines.push(
      openLine('currency', own ?? (requiresCurrency && codes.length === 1 ? codes[0] : undefined), 'EUR'),
    )
  if (marks.length > 0 && !requiresCurrency && own !== undefined) {
    const rule = ruleOfPreset(preset, 'price_currency_code')
    const when = Object.fromEntries(marks.map((mark) => [mark, own]))
    const comment = `${listed(marks)} ${marks.length > 1 ? 'mean' : 'means'} ${own}, as you said`
    lines.push(
      ...feedLines([{ field: 'price_currency_code', rule: { ...rule, default: own, when }, comment }]),
    )
  } else if (marks.length > 0 && own === undefined) {
    const comment = `amounts have ${listed(marks)}, which several currencies share: say yours with --currency`
    lines.push(checkLine(comment))
  }
  if (doubt !== undefined) lines.push(checkLine(doubt))
  return lines
}

function ruleOfPreset(name: string, field: string): Readonly<Record<string, unknown>> {
  return partsOf((presetOf(name).fields as Record<string, unknown> | undefined)?.[field])
}

const contractWords = new Set(['InStock', 'OutOfStock', 'Discontinued', 'Invisible'])

/** The fields of the API, in cells that are not written as it wants them: these are read by rules of their own. */
function fittedRules({ preset }: PresetGuess, { columns, names, given }: Asked): RuleGuess[] {
  const guesses = guessMeanings(columns, names)
  if (preset !== 'native')
    return addedRules(preset, guessRules(guesses, given, { members: [], names }), columns)
  const isOwn = (field: string) => {
    const facts = guesses.get(field)?.facts
    return facts !== undefined && foldName(facts.column) === foldName(field) ? facts : undefined
  }
  const unfit: Readonly<Record<string, (facts: ColumnFacts) => boolean>> = {
    url: ({ reach }) => reach !== undefined,
    image_url: ({ reach, urlLists }) => reach !== undefined || urlLists > 0,
    availability: ({ values }) => values.some((value) => !contractWords.has(value)),
    categories: ({ values }) => values.some((value) => /[>»;]|\s[/|]\s|, /.test(value)),
    alternate_image_urls: ({ listMark, reach }) =>
      reach !== undefined || (listMark !== undefined && listMark !== '|' && listMark !== 'json'),
    date_published: ({ dateForm }) => dateForm !== undefined && dateForm !== 'YYYY-MM-DD',
    rating_value: ({ locale }) => locale?.decimal === ',',
    description: ({ html, json }) => html > 0.05 || json !== undefined,
  }
  const fields = Object.entries(unfit).flatMap(([field, is]) => {
    const facts = isOwn(field)
    return facts && is(facts) ? [field] : []
  })
  return guessRules(guesses, given, { members: [], names }).filter(({ field }) => fields.includes(field))
}

const addedFields = ['brand', 'categories', 'description', 'alternate_image_urls', 'inventory_level']

/** Fields for which the file has none of the columns that the preset knows, but another. */
function addedRules(name: string, rules: readonly RuleGuess[], columns: readonly ColumnFacts[]): RuleGuess[] {
  const known = namesOf(name)
  const aliases = (presetOf(name).aliases ?? {}) as Record<string, string[]>
  const there = new Set(columns.map(({ column }) => foldName(column)))
  const isThere = (column: string) =>
    [column, ...(aliases[column] ?? [])].some((one) => there.has(foldName(one)))
  return rules.filter(({ field, rule }) => {
    const own = [ruleOfPreset(name, field).column].flat().filter((column) => typeof column === 'string')
    const isNew = columnsIn(rule).every((column) => !known.has(foldName(column)))
    return addedFields.includes(field) && own.length > 0 && !own.some(isThere) && isNew
  })
}

/** What a preset does not look at, and may matter; what it rejects, or sends as it should not. */
function doubtLines(
  { preset }: PresetGuess,
  { columns, names }: Asked,
  priced: readonly ColumnFacts[],
): FeedLine[] {
  const read = namesOf(preset)
  const unread = columns.filter(({ column, filled }) => filled > 0 && !read.has(foldName(column)))
  const doubts: string[] = []
  const images = unread
    .filter((facts) => holdsImages(facts) && !ofSmallOnes.test(facts.column))
    .map(({ column }) => column)
  if (images.length > 0)
    doubts.push(`fields.alternate_image_urls: images of ${listed(images, 8)} are left out`)
  doubts.push(...doubtsOfUnread(unread, names))
  const zeros = priced.filter(({ column, hasZeros }) => hasZeros && names.find(column)?.meaning === 'price')
  if (zeros.length > 0 && !JSON.stringify(ruleOfPreset(preset, 'price').pattern ?? '').includes('0+'))
    doubts.push(
      `fields.price: amounts of 0 in ${listed(zeros.map(({ column }) => column))}: are these for sale?`,
    )
  const words = ruleOfPreset(preset, 'availability').words === undefined ? [] : unknownWords(columns, names)
  if (words.length > 0)
    doubts.push(`fields.availability: say with when what is meant by ${listed(words)}: they are rejected`)
  return doubts.map(checkLine)
}

function unknownWords(columns: readonly ColumnFacts[], names: HeaderNames): string[] {
  const facts = columns.find(
    ({ column, filled }) => filled > 0 && names.find(column)?.meaning === 'availability',
  )
  return facts?.values.filter((value) => !isAvailability(value)) ?? []
}

/** Every text of a preset may be the name of a column. */
function namesOf(name: string): Set<string> {
  const preset = presetOf(name)
  return new Set([...namesIn(preset), ...Object.keys(preset.aliases ?? {})].map(foldName))
}

/** One of those that come with this program. */
function presetOf(name: string): Preset {
  const preset = readPreset(name, '.')
  return typeof preset === 'string' ? {} : preset
}
