import { type ColumnFacts, columnFacts } from './column-facts.ts'
import type { FeedLine } from './feed-text.ts'
import type { Lists } from './find-members.ts'
import { findSlug } from './find-slug.ts'
import {
  findAbove,
  findParents,
  findRepeated,
  isKindColumn,
  ofVariantKinds,
  type Row,
  type RowFile,
  type RowLinks,
  repeatedBy,
  textOf,
  unique,
} from './guess-links.ts'
import { guessMeanings } from './guess-meanings.ts'
import type { Meaning } from './header-names.ts'
import { doubted, type Guesses, type MeaningGuess } from './model.ts'

/** In the words of a rule. */
export type Conditions = Readonly<Record<string, unknown>>

export interface Grouping {
  links: RowLinks
  /** Columns that say which rows are one product, besides its number. */
  columns: readonly string[]
  /** What tells the rows of one product apart: where the first is empty, the next counts. */
  variantIds: readonly ColumnFacts[]
  /** Rows that are sold, where the row of the product itself is not. */
  members: Conditions | undefined
  /** The first row of a product is the one that speaks for it. */
  hasHeads: boolean
  /** Whether the rows of some product differ in this column. */
  varies: (column: string) => boolean
  /** Whether it is empty in all rows but the first of their product. */
  isOfHeads: (column: string) => boolean
  /** Whether the rows that are sold have it. */
  isOfMembers: (columns: readonly string[]) => boolean
}

/** Rows of variants may lack what every product has: how full a column is shows in the rows that have a name. */
export function groupTable(
  rows: readonly Row[],
  { columns, names, members }: Lists & { columns: readonly ColumnFacts[] },
): { guesses: Guesses; grouping: Grouping } | undefined {
  const called = columns.filter(({ column }) => names.find(column)?.meaning === 'name')
  const heads = rows.filter((row) => called.some((facts) => textOf(row, facts) !== ''))
  const fillOf = (facts: ColumnFacts) =>
    heads.filter((row) => textOf(row, facts) !== '').length / Math.max(heads.length, 1)
  const fuller = columns.map((facts) => ({ ...facts, fill: Math.max(facts.fill, fillOf(facts)) }))
  const guesses = [...guessMeanings(fuller, names, members)].map(([meaning, guess]) => {
    const facts = fuller.includes(guess.facts) ? columns[fuller.indexOf(guess.facts)] : undefined
    return [meaning, { ...guess, facts: facts ?? guess.facts }] as const
  })
  return groupRows(new Map(guesses), { rows, columns, names })
}

export function groupLine({ links }: Grouping): FeedLine {
  const { group, comment, doubt } = links
  return doubted({ key: 'group', value: group, comment }, doubt === undefined ? [] : [doubt])
}

type Groups = readonly (readonly Row[])[]

const ofVariants =
  /(?:sku|varia\w*|child|option|offer|inventory|item|listing|article|artikel|combination)[\w .-]*?(?:id|sku|code|nr|no|number|nummer|ref)$|sku$|^(?:ean|gtin|barcode|upc)\w*$/i

/** The number of the product, where another column tells its variants apart; undefined where each row is one. */
function groupRows(guesses: Guesses, file: RowFile): { guesses: Guesses; grouping: Grouping } | undefined {
  const chosen = guesses.get('product_id')
  if (!chosen || chosen.facts.cut !== undefined) return undefined
  const links = findLinks(chosen, guesses, file)
  if (!links) return undefined
  const byHead = groupsBy(links, file)
  const heads = byHead.flatMap(([head]) => (head ? [head] : []))
  const groups = byHead.filter((group) => group.length > 1)
  // What is said of ids is said of products: in the rows of their variants they may be anything.
  const isById = links.group === true
  const facts = isById ? links.id : columnFacts(links.id.column, links.id.index, heads)
  const reason = links.id === chosen.facts ? chosen.reason : 'it says which rows are one product'
  const more: [Meaning, MeaningGuess][] = [['product_id', { ...chosen, facts, reason }]]
  const slug = guesses.has('slug') ? undefined : findSlug(file.columns, links.id.distinct)
  if (slug) more.push(['slug', { facts: slug, reason: 'the cells look like it', others: [] }])
  const ofVariants = variantIds(links, groups, file)
  const members = membersOf(links, { groups, byHead, ids: ofVariants, guesses, file })
  const columnOf = (name: string) => file.columns.find(({ column }) => column === name)
  const cellsIn = (rows: readonly Row[], name: string) => {
    const facts = columnOf(name)
    return facts ? rows.map((row) => textOf(row, facts)) : []
  }
  const rest = groups.flatMap((rows) => rows.slice(1))
  const grouping: Grouping = {
    links,
    columns: links.columns,
    variantIds: ofVariants,
    members: members?.where,
    hasHeads: !isById || members !== undefined,
    varies: (name) =>
      groups.some((rows) => new Set(cellsIn(rows, name).filter((cell) => cell !== '')).size > 1),
    isOfHeads: (name) => rest.length > 0 && cellsIn(rest, name).every((cell) => cell === ''),
    isOfMembers: (names) => {
      const rows = members?.rows ?? rest
      return rows.every((row) => names.some((name) => cellsIn([row], name).some((cell) => cell !== '')))
    },
  }
  return { guesses: new Map([...guesses, ...more]), grouping }
}

function findLinks(chosen: MeaningGuess, guesses: Guesses, file: RowFile): RowLinks | undefined {
  const name = guesses.get('name')?.facts
  const linked =
    findParents(guesses, file) ??
    (name && name.fill < 1 ? (findRepeated(guesses, file) ?? findAbove(guesses, file)) : undefined)
  if (linked) return linked
  if (chosen.facts.distinct <= unique) {
    const links = repeatedBy(chosen.facts, file)
    return name && areUnlike(groupsBy(links, file), name) ? undefined : links
  }
  const parent = parentOf(chosen, guesses, file)
  return parent ? repeatedBy(parent, file) : name?.fill === 1 ? findRepeated(guesses, file) : undefined
}

/** Names of variants share a word; those of products that merely have one number do not. */
function areUnlike(groups: Groups, name: ColumnFacts): boolean {
  const several = groups
    .map((rows) => rows.map((row) => textOf(row, name)).filter((text) => text !== ''))
    .filter((texts) => new Set(texts).size > 1)
  const wordsOf = (text: string) => text.toLowerCase().split(/[^\p{L}]+/u)
  const unlike = several.filter(([first = '', ...others]) =>
    wordsOf(first).every((word) => word === '' || !others.some((text) => wordsOf(text).includes(word))),
  )
  return unlike.length > 0 && unlike.length > several.length / 2
}

/** Rows that share it have one name, too. */
function parentOf(chosen: MeaningGuess, guesses: Guesses, file: RowFile): ColumnFacts | undefined {
  const name = guesses.get('name')?.facts
  return file.columns.find((facts) => {
    const { column, distinct, fill, urls, filled } = facts
    if (facts === chosen.facts || distinct > unique || fill <= unique || urls > 0 || filled < 3) return false
    if (file.names.find(column)?.meaning !== 'product_id' || ofVariants.test(column)) return false
    const groups = groupsBy(repeatedBy(facts, file), file).filter((group) => group.length > 1)
    const namesIn = (rows: readonly Row[]) =>
      new Set(rows.map((row) => (name ? textOf(row, name) : '')).filter((cell) => cell !== ''))
    const alike = groups.filter((rows) => namesIn(rows).size === 1)
    return groups.length > 0 && distinct > 0.03 && alike.length >= groups.length * 0.9
  })
}

/** The row of the product first. */
function groupsBy({ headOf }: RowLinks, { rows }: RowFile): Groups {
  const groups = [...Map.groupBy(rows.keys(), headOf)].sort(([one], [other]) => one - other)
  return groups.map(([head, members]) => {
    const headFirst = members.sort((one, other) => Number(other === head) - Number(one === head))
    return headFirst.flatMap((index) => [rows[index] ?? []])
  })
}

function variantIds({ id, link }: RowLinks, groups: Groups, { columns }: RowFile): ColumnFacts[] {
  const called = columns.filter((facts) => {
    const { column, filled, urls, characters } = facts
    if (facts === id && !link) return false
    if (facts === link || filled === 0 || urls > 0 || characters > 60) return false
    return ofVariants.test(column) || (link !== undefined && facts === id)
  })
  const found = called.filter((facts) =>
    groups.every((rows) => {
      const cells = rows.map((row) => textOf(row, facts)).filter((cell) => cell !== '')
      return new Set(cells).size === cells.length
    }),
  )
  const rank = ({ column }: ColumnFacts) =>
    /sku/i.test(column) ? 0 : /ean|gtin|barcode|upc/i.test(column) ? 2 : 1
  const sorted = found.toSorted((one, other) => rank(one) - rank(other))
  const rest = groups.flatMap((rows) => rows.slice(1))
  const isOfAll = (facts: ColumnFacts) =>
    facts.fill > unique || (rest.length > 0 && rest.every((row) => textOf(row, facts) !== ''))
  const last = sorted.findIndex(isOfAll)
  return last < 0 ? [] : sorted.slice(0, last + 1)
}

interface Found {
  groups: Groups
  byHead: Groups
  ids: readonly ColumnFacts[]
  guesses: Guesses
  file: RowFile
}

const ofOptions =
  /size|colou?r|farbe|gr(?:ö|oe)(?:ß|ss)e|taille|talla|option|varia|attribut|ean|gtin|barcode|upc|tamanho|tama[nñ]o|rozmiar|maat|kleur|couleur|velikost|barva|taglia|colore/i

/** Undefined where the first row of a product is sold as well as the others. */
function membersOf(
  { link }: RowLinks,
  { groups, byHead, ids, guesses, file }: Found,
): { where: Conditions; rows: readonly Row[] } | undefined {
  const firsts = groups.flatMap(([head]) => (head ? [head] : []))
  const heads = byHead.flatMap(([head]) => (head ? [head] : []))
  const rest = groups.flatMap((rows) => rows.slice(1))
  if (rest.length === 0) return undefined
  const all = (rows: readonly Row[], holds: (text: string) => boolean, facts: ColumnFacts) =>
    rows.every((row) => holds(textOf(row, facts)))
  const isBlank = (text: string) => text === ''
  const isFilled = (text: string) => text !== ''
  const kind = file.columns.find((facts) => isKindColumn(facts, { heads, others: rest }))
  if (kind) {
    const sold = rest.filter((row) => ids.length === 0 || ids.some((facts) => textOf(row, facts) !== ''))
    const texts = [...new Set(sold.map((row) => textOf(row, kind)))]
    const named = texts.filter((text) => ofVariantKinds.test(text))
    const kinds = named.length > 0 ? named : texts
    const rows = sold.filter((row) => kinds.includes(textOf(row, kind)))
    return { where: { [kind.column]: kinds.length === 1 ? kinds[0] : kinds }, rows }
  }
  const price = guesses.get('price')?.facts
  const isZero = (text: string) => !/[1-9]/.test(text)
  const isPriced = (text: string) => /[1-9]/.test(text)
  const isHeadSold =
    (!price || all(firsts, isPriced, price)) &&
    file.columns.some(
      (facts) => ofOptions.test(facts.column) && all(firsts, isFilled, facts) && all(rest, isFilled, facts),
    )
  if (link) {
    if (isHeadSold || firsts.some((row) => textOf(row, link) !== '' && textOf(row, link) !== '0'))
      return undefined
    const not = file.rows.some((row) => textOf(row, link) === '0') ? ['', '0'] : ''
    return { where: { [link.column]: { not } }, rows: rest }
  }
  const own = ids.find((facts) => all(firsts, isBlank, facts) && all(rest, isFilled, facts))
  if (own) return { where: { [own.column]: { not: '' } }, rows: rest }
  if (!price || !all(firsts, isZero, price)) return undefined
  const sold = rest.filter((row) => isPriced(textOf(row, price)))
  if (sold.length < rest.length * 0.9) return undefined
  const texts = [...new Set(['', ...firsts.map((row) => textOf(row, price))])]
  return { where: { [price.column]: { not: texts.length === 1 ? '' : texts } }, rows: sold }
}
