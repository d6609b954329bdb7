import type { ColumnFacts } from './column-facts.ts'
import type { HeaderNames } from './header-names.ts'
import type { Guesses } from './model.ts'
import type { SampleCell } from './sample-table.ts'

export type Row = readonly SampleCell[]

export interface RowFile {
  rows: readonly Row[]
  columns: readonly ColumnFacts[]
  names: HeaderNames
}

export interface RowLinks {
  /** In the words of the configuration. */
  group: unknown
  comment: string
  doubt?: string
  id: ColumnFacts
  /** Others that say which rows are one product. */
  columns: readonly string[]
  /** What rows that belong to another one say, where a column says it. */
  link?: ColumnFacts
  /** By row: the first row of its product. */
  headOf: (row: number) => number
}

export const unique = 0.98
const ofParents =
  /parent|vater|eltern|master|padre|(?:^|[-_ ])pai(?:$|[-_ ])|p[eè]re(?:$|[-_ ])|genitore|matka|rodi[cč]|nad[rř]az|g[lł][oó]wn|hoofd|ouder|(?:variant|variation|child|member)[-_ ]*of|configurable|main(?:$|[-_ ]|\d|n|p|s|a|i)|haupt|huvud|moder|base[-_ ]?(?:product|sku|id)/i
const ofOthers =
  /relat|cross|up-?sell|accessor|acess[oó]|similar|recommend|replac|success|alternat|zubeh|tilbeh|bundle|set\b|component|cat|kateg|rubri|collect|supplier|brand|manufact|image|photo/i
const emptyLinks = ['', '0']

/** Rows that name the row they belong to: by what it is called in a column where each row has its own name. */
export function findParents(guesses: Guesses, file: RowFile): RowLinks | undefined {
  const chosen = guesses.get('product_id')?.facts
  const keys = file.columns
    .filter((facts) => facts.distinct > unique && facts.fill > 0.5 && isCode(facts))
    .sort((one, other) => Number(other === chosen) - Number(one === chosen))
  const links = file.columns
    .filter((facts) => facts.filled > 0 && isCode(facts) && !ofOthers.test(facts.column))
    .sort((one, other) => Number(ofParents.test(other.column)) - Number(ofParents.test(one.column)))
  for (const link of links) {
    for (const key of keys) {
      const found = key === link ? undefined : parentsBy(link, key, { guesses, file })
      if (found) return found
    }
  }
  return undefined
}

interface Looked {
  guesses: Guesses
  file: RowFile
}

function parentsBy(link: ColumnFacts, key: ColumnFacts, { guesses, file }: Looked): RowLinks | undefined {
  const { rows } = file
  const byKey = new Map(rows.map((row, index) => [textOf(row, key), index]))
  const parentOf = (row: Row) => {
    const text = textOf(row, link)
    return emptyLinks.includes(text) || text === textOf(row, key) ? undefined : text
  }
  const children = rows.filter((row) => parentOf(row) !== undefined)
  const parents = children.flatMap((row) => byKey.get(parentOf(row) ?? '') ?? [])
  const isNamed = ofParents.test(link.column)
  // A sample may lack the parents of some.
  if (parents.length === 0 || parents.length < children.length * (isNamed ? 0.3 : 0.9)) return undefined
  const free = parents.filter((index) => parentOf(rows[index] ?? []) === undefined)
  if (free.length < parents.length * 0.9) return undefined
  const heads = [...new Set(parents)].map((index) => rows[index] ?? [])
  if (!isNamed && !isPartOf(children, heads, { link, guesses })) return undefined
  const headOf = (index: number) => {
    const above = parentOf(rows[index] ?? [])
    const head = above === undefined ? undefined : byKey.get(above)
    return head ?? index
  }
  const chosen = guesses.get('product_id')?.facts
  const isHeads = (facts: ColumnFacts) => heads.every((row) => textOf(row, facts) !== '')
  const id = chosen && chosen !== link && chosen.distinct > unique && isHeads(chosen) ? chosen : key
  return {
    group: { parent: link.column, ...(id === key ? {} : { names: [key.column] }) },
    comment: `guessed: it holds what other rows have in ${JSON.stringify(key.column)}`,
    id,
    columns: [link.column, key.column],
    link,
    headOf,
  }
}

/** Records whose cell in some column is the id of another are its variants: `column`, or undefined. */
export function parentColumn(
  guesses: Guesses,
  { columns, rows }: Pick<RowFile, 'columns' | 'rows'>,
): string | undefined {
  const own = guesses.get('product_id')?.facts
  const ids = columns.filter(({ distinct, fill, characters, urls }) => {
    return distinct > unique && fill > unique && urls === 0 && characters < 60
  })
  const known = (own && !ids.includes(own) ? [...ids, own] : ids).map((facts) => new Set(facts.values))
  return columns.find(({ column, fill, filled, distinct, values, index }) => {
    if (filled === 0 || fill === 1 || own?.index === index || !ofParents.test(column)) return false
    const isShared = distinct < 1 || rows.length < 20
    return isShared && known.some((set) => values.every((value) => set.has(value)))
  })?.column
}

/** Without a name that says so: what is related to a product has its own texts. */
function isPartOf(
  children: readonly Row[],
  heads: readonly Row[],
  { link, guesses }: { link: ColumnFacts; guesses: Guesses },
): boolean {
  if (link.values.every((text) => /^\d{1,3}$/.test(text))) return false
  return ['name', 'url', 'image_url', 'description'].some((meaning) => {
    const facts = guesses.get(meaning)?.facts
    if (!facts) return false
    const blank = children.filter((row) => textOf(row, facts) === '')
    return heads.every((row) => textOf(row, facts) !== '') && blank.length >= children.length * 0.9
  })
}

/** Rows without what every product has belong to the row above them. */
export function findAbove(guesses: Guesses, file: RowFile): RowLinks | undefined {
  const { rows, columns, names } = file
  const name = guesses.get('name')?.facts
  const chosen = guesses.get('product_id')?.facts
  const [first] = rows
  if (!name || !first || textOf(first, name) === '') return undefined
  const isBelow = rows.map((row) => textOf(row, name) === '')
  const below = rows.filter((_, index) => isBelow[index])
  const heads = rows.filter((_, index) => !isBelow[index])
  const sold = ['price', 'sale_price', 'inventory_level'].flatMap((field) => guesses.get(field)?.facts ?? [])
  const isSold = (row: Row) => sold.some((facts) => textOf(row, facts) !== '')
  if (below.length === 0 || below.filter(isSold).length < below.length / 2) return undefined
  const ends = headsAbove(isBelow)
  const headOf = (index: number) => ends[index] ?? index
  const isSplit = (facts: ColumnFacts) =>
    below.every((row) => textOf(row, facts) === '') && heads.every((row) => textOf(row, facts) !== '')
  const apart = (facts: ColumnFacts) => new Set(heads.map((row) => textOf(row, facts))).size === heads.length
  const ids = columns.filter((facts) => isCode(facts) && isSplit(facts) && apart(facts))
  const id =
    ids.find(({ column }) => names.find(column)?.meaning === 'product_id') ??
    ids.find(({ column }) => /\bid\b|handle|slug|code|key/i.test(column))
  if (id) return { group: { above: { [id.column]: '' } }, comment: aboveText, id, columns: [], headOf }
  if (!chosen || !heads.every((row) => textOf(row, chosen) !== '')) return undefined
  const kind = columns.find((facts) => isKindColumn(facts, { heads, others: below }))
  const marks = kind && [...new Set(below.map((row) => textOf(row, kind)))]
  const own = ['url', 'image_url'].some((field) => {
    const facts = guesses.get(field)?.facts
    return facts && below.some((row) => textOf(row, facts) !== '')
  })
  if (!kind && own) return undefined
  return {
    group: { above: kind ? { [kind.column]: marks } : { [name.column]: '' } },
    comment: aboveText,
    ...(kind ? {} : { doubt: 'are the rows without a name variants of the one above?' }),
    id: chosen,
    columns: kind ? [kind.column] : [],
    headOf,
  }
}

const aboveText = 'guessed: such rows lack what a product has, and belong to the row above them'

function headsAbove(isBelow: readonly boolean[]): number[] {
  const heads: number[] = []
  for (const [index, below] of isBelow.entries()) heads.push(below ? (heads.at(-1) ?? index) : index)
  return heads
}

/** What rows of variants are called, and rows of products never. */
export function isKindColumn(
  facts: ColumnFacts,
  { heads, others }: { heads: readonly Row[]; others: readonly Row[] },
): boolean {
  if (facts.values.length > 8 || facts.numbers > 0.5 || facts.fill < 0.9 || others.length === 0) return false
  const [ofHeads, ofOthers] = [heads, others].map((rows) => new Set(rows.map((row) => textOf(row, facts))))
  const texts = [...(ofOthers ?? [])]
  if (texts.some((text) => text === '' || ofHeads?.has(text))) return false
  return (
    texts.some((text) => ofVariantKinds.test(text)) ||
    /(?:^|[^a-z])(?:kind|type|tipo|typ|level|item)(?:$|[^a-z])|type$/i.test(facts.column)
  )
}

export const ofVariantKinds =
  /varia|child|kind|sku|option|opci|combin|enfant|hijo|filho|dziec|varijan|simple/i

/** Rows with one number, where each product has its own name. */
export function findRepeated(guesses: Guesses, file: RowFile): RowLinks | undefined {
  const { rows, columns } = file
  const name = guesses.get('name')?.facts
  const taken = new Set(
    ['name', 'brand', 'categories', 'price', 'description'].map((field) => guesses.get(field)?.facts),
  )
  const found = columns.filter((facts) => {
    if (taken.has(facts) || facts.fill <= unique || facts.distinct > unique || !isCode(facts)) return false
    const groups = groupsOf(rows, facts)
    const several = groups.filter((group) => group.length > 1)
    const named = groups.filter((group) => name && textOf(group[0] ?? [], name) !== '')
    const bare = several.filter((group) => group.slice(1).every((row) => name && textOf(row, name) === ''))
    // The rows below the first have no name of their own.
    if (name && name.fill < 1) return bare.length === several.length && named.length === groups.length
    return idName.test(facts.column) && several.every((group) => isOneProduct(group, guesses))
  })
  const rank = ({ column }: ColumnFacts) =>
    Number(file.names.find(column)?.meaning === 'product_id') * 2 + Number(/product|item|artik/i.test(column))
  const [id] = found.toSorted((one, other) => rank(other) - rank(one) || one.distinct - other.distinct)
  if (!id) return undefined
  return repeatedBy(id, file)
}

export function repeatedBy(id: ColumnFacts, { rows }: RowFile): RowLinks {
  const firsts = new Map<string, number>()
  for (const [index, row] of rows.entries())
    if (!firsts.has(textOf(row, id))) firsts.set(textOf(row, id), index)
  const headOf = (index: number) => {
    const text = textOf(rows[index] ?? [], id)
    return text === '' ? index : (firsts.get(text) ?? index)
  }
  return { group: true, comment: `rows of one product_id are one product`, id, columns: [], headOf }
}

const idName =
  /(?:^|[^a-z])(?:id|nr|no|code|key|ref|handle|slug|number|nummer|group|gruppe|style)(?:$|[^a-z])|(?:id|handle|code|number|nummer|style)$|identifi/i

/** Its rows have one name, and one address, where they have any. */
function isOneProduct(group: readonly Row[], guesses: Guesses): boolean {
  return ['name', 'url'].every((meaning) => {
    const facts = guesses.get(meaning)?.facts
    const texts = facts ? group.map((row) => textOf(row, facts)).filter((text) => text !== '') : []
    return meaning === 'name' ? new Set(texts).size === 1 : new Set(texts).size <= 1
  })
}

function groupsOf(rows: readonly Row[], facts: ColumnFacts): Row[][] {
  return [...Map.groupBy(rows, (row) => textOf(row, facts)).values()]
}

/** What may be the name of a row or a product: short, no address, no time, no amount. */
function isCode({ urls, characters, dates, values, json, list, cut }: ColumnFacts): boolean {
  if (urls > 0 || characters > 60 || dates > 0 || json !== undefined || list !== undefined) return false
  return cut === undefined && !values.some((text) => /\s\S+\s|^\d+[.,]\d+$/.test(text))
}

export function textOf(row: Row, { index }: Pick<ColumnFacts, 'index'>): string {
  return String(row[index] ?? '').trim()
}
