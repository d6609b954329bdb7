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
}

/** Whether tax is in a price: `isWithoutTax` looks at that. */
const taxWords =
  /\b(brutto|gross|netto?|ttc|ht)\b|\b(incl|excl|inkl|exkl|inc|ex|zzgl|with|without|con|sin|avec|sans|inkl?usive)\b[. ]*(mwst|ust|vat|tax(es)?|moms|iva|tva)\b|\b(mit|ohne) (mwst|steuer)\b/gi

/** Parts of paths that tell nothing by themselves: `price.amount`, `images.edges.node.url`, `title.en`. */
const vagueEnd =
  /(?:\.(?:@?amount|@?value|data|text|content|default|nodes?|edges|items?|[a-z]{2}(?:[_-][A-Z]{2})?))+$/
/** `attributes[code=color].value` is a column called color. */
const namedMember = /\[[^=\]]+=([^\]]+)\](?:\.[^.]+)?$/
/** A locale, perhaps with a channel behind it, as PIMs write them. */
const localeEnd = /[-_ ][a-z]{2}[-_][A-Z]{2}(?:-\w+)?$/
const localeStart = /^[A-Z]{2}_(?=[A-Z][a-z])/
const firstOfSeveral = /[ ]?\b1\s*$|(?<=\p{L})1\s*$/u
const ofProducts = /^\s*(?:product|item|article|artikel|produkt|produit|producto)\b\s*/i

/** Names of columns by what they mean, in several languages. */
export class HeaderNames {
  readonly #byName: ReadonlyMap<string, { meaning: Meaning; language: string }>

  private constructor(byName: ReadonlyMap<string, { meaning: Meaning; language: string }>) {
    this.#byName = byName
  }

  static async read(): Promise<HeaderNames> {
    const byName = new Map<string, { meaning: Meaning; language: string }>()
    for (const [meaning, lists] of Object.entries(schema.parse(parse(await readFile(file, 'utf8'))))) {
      // A field's own name is known in every language.
      byName.set(foldName(meaning), { meaning, language: 'English' })
      for (const [language, names] of Object.entries(lists)) {
        for (const name of names) {
          const folded = foldName(name)
          if (!byName.has(folded)) byName.set(folded, { meaning, language: languages[language] ?? language })
        }
      }
    }
    return new HeaderNames(byName)
  }

  /**
   * What a column of this name holds. Of a path (`offer.price`, `g:price`) the last part counts, but for one that says
   * nothing (`price.amount`); of `Price (USD)`, `Preis in EUR`, `VK brutto`, `Name*`, `name-en_US`, `Bild 1` or
   * `product_price` what is left without the addition.
   */
  find(column: string): NameMatch | undefined {
    const last = lastOf(column)
    const named = namedMember.exec(column)?.[1]
    if (named !== undefined) return this.find(named)
    const exact = this.#byName.get(foldName(column)) ?? this.#byName.get(foldName(last))
    if (exact) return { ...exact, exact: true }
    const telling = lastOf(column.replace(vagueEnd, ''))
    const stem = telling
      .replace(localeEnd, '')
      .replace(localeStart, '')
      .replace(/\([^)]*\)|\[[^\]]*\]|[*#]/g, ' ')
      .replace(/[_-]/g, ' ')
      .replace(taxWords, ' ')
      .replace(/\b(in|en|i)\s+(EUR|USD|GBP|SEK|CHF|€|\$)\s*$/i, ' ')
      .replace(/\b(EUR|USD|GBP|SEK|NOK|DKK|CHF|INR|de|en|fr|es|sv|default)\b\s*$/i, ' ')
    const first = this.#byName.get(foldName(stem.replace(firstOfSeveral, '')))
    const partial =
      this.#byName.get(foldName(stem)) ??
      // Of several prices the first may be anything.
      (first?.meaning.includes('price') ? undefined : first) ??
      this.#byName.get(foldName(stem.replace(ofProducts, '')))
    return partial && { ...partial, exact: false }
  }
}

function lastOf(path: string): string {
  return path.replace(/^.*[.]/, '').replace(/^\*?[a-z]+:/i, '')
}

/** Letters and digits alone, without case and accents. */
export function foldName(name: string): string {
  return name
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll('ß', 'ss')
    .replaceAll('ø', 'o')
    .replaceAll('æ', 'ae')
    .replace(/[^\p{L}\p{N}]/gu, '')
}
