import { readFile } from 'node:fs/promises'
import { parse } from 'yaml'
import { z } from 'zod'

/** What a column can hold, as `config/headers.yaml` calls it: fields of a product and some that become others. */
export type Meaning = string

export interface NameMatch {
  meaning: Meaning
  /** Of the list that knows the name. */
  language: string
  /** The whole name is known, not merely a part of it. */
  exact: boolean
}

const file = new URL('../../../config/headers.yaml', import.meta.url)
const schema = z.record(z.string(), z.record(z.string(), z.array(z.string())))
const languages: Readonly<Record<string, string>> = {
  en: 'English',
  de: 'German',
  fr: 'French',
  es: 'Spanish',
  sv: 'Swedish',
  it: 'Italian',
  nl: 'Dutch',
  pl: 'Polish',
  cs: 'Czech',
  pt: 'Portuguese',
  da: 'Danish',
}

/** Whether tax is in a price: `isWithoutTax` looks at that. */
const taxWords =
  /\b(brutto|gross|netto?|ttc|ht)\b|\b(incl|excl|inkl|exkl|inc|ex|zzgl|with|without|no|con|sin|avec|sans|inkl?usive)\b[. ]*(mwst|ust|vat|tax(es)?|moms|iva|tva)\b|\b(mit|ohne) (mwst|steuer)\b|\b(vat|tax|iva|tva|mwst|ust|btw|moms|dph)[. ]+(incl?|inkl|inclu\w+)\b/gi

/** Parts of paths that tell nothing by themselves: `price.amount`, `images.edges.node.url`, `title.en`. */
const vagueEnd =
  /(?:\.(?:@?amount|@?value|data|text|content|default|nodes?|edges|items?|[a-z]{2}(?:[_-][A-Z]{2})?))+$/
/** `attributes[code=color].value` is a column called color. */
const namedMember = /\[[^=\]]+=([^\]]+)\](?:\.[^.]+)?$/
/** A locale, perhaps with a channel behind it, as PIMs write them. */
const localeEnd = /[-_ ][a-z]{2}[-_][A-Z]{2}(?:-\w+)?$/
const localeStart = /^[A-Z]{2}_(?=[A-Z][a-z])/
const firstOfSeveral = /[ ]?\b1\s*$|(?<=\p{L})1\s*$/u
const flagMarks = /^(?:is|has|b|bool|fl|flag)[ _-]+|[ _-]+(?:yn|jn|tf|flag|fl|ind|indicator|bool|switch)$/gi
const prefix = /^(?:ox|[a-z]_)?(?:products?|items?|artikel|articles?|variants?|variations?)?[ _.-]*(?=[a-z])/

/** In brackets: whose price it is, or of what. */
const otherPrice =
  /cost|einkauf|achat|compra|wholesale|dealer|händler|b2b|shipping|versand|deposit|pfand|base|unit/i

/** Names of columns by what they mean, in several languages. */
export class HeaderNames {
  readonly #byName: ReadonlyMap<string, Known>
  readonly #byWords: ReadonlyMap<string, Known>

  private constructor(byName: ReadonlyMap<string, Known>, byWords: ReadonlyMap<string, Known>) {
    this.#byName = byName
    this.#byWords = byWords
  }

  static async read(): Promise<HeaderNames> {
    const byName = new Map<string, Known>()
    const spelled: (Known & { name: string })[] = []
    for (const [meaning, lists] of Object.entries(schema.parse(parse(await readFile(file, 'utf8'))))) {
      // A field's own name is known in every language.
      byName.set(foldName(meaning), { meaning, language: 'English' })
      for (const [language, names] of Object.entries(lists)) {
        for (const name of names) {
          const folded = foldName(name)
          const known = { meaning, language: languages[language] ?? language }
          if (!byName.has(folded)) byName.set(folded, known)
          spelled.push({ ...known, name })
        }
      }
    }
    return new HeaderNames(byName, indexByWords(spelled))
  }

  /**
   * What a column of this name holds. Of a path (`offer.price`, `g:price`) the last part counts, but for one that says
   * nothing (`price.amount`); of `Price (USD)`, `Preis in EUR`, `VK brutto`, `Name*`, `name-en_US`, `Bild 1`,
   * `product_price` or `Descripción del producto` what is left without the addition. Of several names in one, such as
   * `Fabricante / Marca`, all that are known must mean the same.
   */
  find(column: string): NameMatch | undefined {
    const last = lastOf(column)
    const named = namedMember.exec(column)?.[1]
    if (named !== undefined) return this.find(named)
    const exact = this.#byName.get(foldName(column)) ?? this.#byName.get(foldName(last))
    if (exact) return { ...exact, exact: true }
    const telling = lastOf(column.replace(vagueEnd, ''))
    const partial =
      this.#findPart(telling) ??
      this.#findSeveral(telling) ??
      this.#findBehindPrefix(last) ??
      this.#findBehindPrefix(telling) ??
      this.#findFlag(last)
    return partial && { ...partial, exact: false }
  }

  /** Without what stands before every name of an export: `OXCATEGORY`, `productprice`, `v_products_price`. */
  #findBehindPrefix(last: string): Known | undefined {
    const bare = plain(wordsApart(last))
    const rest = bare.replace(prefix, '')
    const found = rest === bare ? undefined : (this.#byName.get(foldName(rest)) ?? this.#findPart(rest))
    // The image of a variant is one all the same; its number is not that of the product.
    return found?.meaning === 'product_id' && /varia/.test(bare) ? undefined : found
  }

  /** Whether a product is shown, with what says that it is a flag: `ACTIVE_YN`, `flag_hidden`. */
  #findFlag(last: string): Known | undefined {
    const rest = wordsApart(last).replace(flagMarks, '')
    const found = rest === last ? undefined : this.#byName.get(foldName(rest))
    return found?.meaning === 'visibility' || found?.meaning === 'blocked' ? found : undefined
  }

  /** What a name speaks of, perhaps with more that nobody knows: `PRICE_REDUCTION`, `website category ids`. */
  findTopics(column: string): readonly Meaning[] {
    const words = plain(wordsApart(lastOf(column))).split(/[^\p{L}]+/u)
    const known = words.flatMap(
      (word) => this.#byName.get(word) ?? this.#byName.get(word.replace(/(?:es|s)$/, '')) ?? [],
    )
    return [...new Set(known.map(({ meaning }) => meaning))]
  }

  #findPart(telling: string): Known | undefined {
    const bracket = /[([]([^)\]]*)[)\]]/.exec(telling)?.[1] ?? ''
    // "Price (old)" is another price than "Price".
    const whole = bracket === '' ? undefined : this.#byWords.get(wordsOf(telling).key)
    if (whole) return whole
    const spelled = wordsApart(telling.replace(localeEnd, '').replace(localeStart, ''))
      .replace(/\([^)]*\)|\[[^\]]*\]|[*#]/g, ' ')
      .replace(/[_-]/g, ' ')
    const stem = spelled
      .replace(taxWords, ' ')
      .replace(/\b(in|en|i)\s+(EUR|USD|GBP|SEK|CHF|€|\$)\s*$/i, ' ')
      .replace(
        /\b(EUR|USD|GBP|SEK|NOK|DKK|CHF|PLN|CZK|BRL|INR|de|en|fr|es|sv|it|nl|pl|cs|cz|pt|default)\b\s*$/i,
        ' ',
      )
    const first =
      this.#byName.get(foldName(stem.replace(firstOfSeveral, ''))) ??
      this.#findWords(stem.replace(firstOfSeveral, ''))
    const found =
      this.#byName.get(foldName(stem)) ??
      // Of several prices the first may be anything, unless it says whether tax is in it.
      (first?.meaning.includes('price') && spelled.search(taxWords) < 0 ? undefined : first) ??
      this.#findWords(stem)
    return found?.meaning.includes('price') && otherPrice.test(bracket) ? undefined : found
  }

  #findWords(stem: string): Known | undefined {
    const { key, ofProduct } = wordsOf(stem)
    // A number alone may be that of the row.
    return key === 'nr' && !ofProduct ? undefined : this.#byWords.get(key)
  }

  #findSeveral(telling: string): Known | undefined {
    const pieces = telling.split(/[/|()[\]]|\s[-–—]\s/).filter((piece) => piece.trim() !== '')
    if (pieces.length < 2) return undefined
    const found = pieces.map((piece) => this.#byName.get(foldName(piece)) ?? this.#findPart(piece))
    const known = found.filter((one) => one !== undefined)
    const [match] = known
    // "Preis / kg" is not what the product costs.
    const isPrice = match?.meaning.includes('price') && known.length < found.length
    return isPrice || new Set(known.map(({ meaning }) => meaning)).size !== 1 ? undefined : match
  }
}

interface Known {
  meaning: Meaning
  /** Of the list that knows the name. */
  language: string
}

/** What says nothing about what a column holds: whose, and that it belongs to a product. */
const linking = new Set(
  `a an the of for de del d la el los las le les l du des der die das dem den vom von zum zur di della dello dei delle
  da do dos das van het een ve`.split(/\s+/),
)
const ofProducts = new Set(
  `product products item items article articles artikel artikels produkt produkts produktes produits produit producto
  productos articulo articulos prodotto prodotti articolo articoli produto produtos artigo artigos produktu produkty
  towar towaru artykul artykulu vyrobek vyrobku zbozi produktet produktens vara varans ware goods`.split(
    /\s+/,
  ),
)
const ofNumbers = new Set('n no nr num nro numero number nummer numer cislo'.split(' '))
const inShop =
  /\b(?:en (?:la|su|tu) tienda|en tienda|im shop|im onlineshop|in (?:the |your )?(?:shop|store)|nello? (?:shop|negozio)|nel (?:tuo )?negozio|w sklepie|v (?:obchode|obchodu|eshopu)|in (?:de |uw )?winkel|na loja|dans la boutique|de la boutique|en boutique|i butiken)\b/g

/** The words of a name that tell what it is, in the order of the alphabet. */
function wordsOf(name: string): { key: string; ofProduct: boolean } {
  const words = plain(wordsApart(name))
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim()
    .replace(inShop, ' ')
    .split(' ')
    .filter((word) => word !== '' && !linking.has(word))
    .map((word) => (ofNumbers.has(word) ? 'nr' : word))
  const telling = words.filter((word) => !ofProducts.has(word))
  const kept = telling.length === 0 ? words : telling
  return { key: kept.toSorted().join(' '), ofProduct: kept.length < words.length }
}

/** Names that say it without the product go before those that need it; what would mean two things means nothing. */
function indexByWords(spelled: readonly (Known & { name: string })[]): ReadonlyMap<string, Known> {
  const index = new Map<string, Known>()
  const doubtful = new Set<string>()
  for (const withProduct of [false, true]) {
    const settled = new Set(index.keys())
    for (const { name, ...known } of spelled) {
      const { key, ofProduct } = wordsOf(name)
      if (ofProduct !== withProduct || settled.has(key) || key === '') continue
      const other = index.get(key)
      if (other && other.meaning !== known.meaning) doubtful.add(key)
      else if (!other) index.set(key, known)
    }
  }
  for (const key of doubtful) index.delete(key)
  return index
}

/** `Gross Price` for `GrossPrice`. */
function wordsApart(name: string): string {
  return name.replace(/(?<=\p{Ll})(?=\p{Lu})/gu, ' ')
}

function lastOf(path: string): string {
  return path.replace(/^.*[.]/, '').replace(/^\*?[a-z]+:/i, '')
}

/** Letters and digits alone, without case and accents. */
export function foldName(name: string): string {
  return plain(name).replace(/[^\p{L}\p{N}]/gu, '')
}

function plain(name: string): string {
  return name
    .replace(/[º°]/g, ' ')
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replaceAll('ß', 'ss')
    .replaceAll('ø', 'o')
    .replaceAll('æ', 'ae')
    .replaceAll('ł', 'l')
}
