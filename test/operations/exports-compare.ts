import { isDeepStrictEqual } from 'node:util'

/** What is right for an export, written by hand from the documentation of its platform. */
export interface Expectation {
  platform: string
  documentation: string
  options: { shopUrl?: string; currency?: string }
  delivered: number
  rejected: readonly { record: string; why: string }[]
  /** Fields for which the file leaves a question open: a CHECK is right, whatever the value. */
  unsure: readonly string[]
  /** Documents, without what an examiner need not hold: a field may be `{ oneOf: […] }`. */
  products: readonly Readonly<Record<string, unknown>>[]
}

/** What `init --from` with the constants alone makes of an export. */
export interface Outcome {
  documents: Readonly<Record<string, unknown>>
  delivered: number
  rejected: number
  /** Where the written configuration says CHECK: keys of lines, without `fields.`. */
  checked: ReadonlySet<string>
}

export interface Difference {
  /** `refused`: not sent, and the command says why. */
  kind: 'silent' | 'asked' | 'refused'
  text: string
}

type Document = Readonly<Record<string, unknown>>

/** These are held against the file; of others (such as tags) nobody can say what is right. */
const comparedFields = [
  ...['name', 'url', 'image_url', 'availability', 'price', 'price_currency_code', 'list_price'],
  ...['categories', 'description', 'brand', 'alternate_image_urls', 'inventory_level', 'skus'],
]
/** What a CHECK of one line opens besides the field of its own name. */
const opens: Readonly<Record<string, readonly string[]>> = {
  shopUrl: ['url', 'image_url', 'alternate_image_urls'],
  shop: ['url', 'image_url', 'alternate_image_urls'],
  currency: ['price_currency_code'],
  group: ['product_id', 'skus', 'price', 'list_price', 'inventory_level', 'availability', 'name', 'url'],
}

export function differencesOf(expected: Expectation, outcome: Outcome): Difference[] {
  const isChecked = (field: string) =>
    outcome.checked.has(field) ||
    Object.entries(opens).some(([key, fields]) => fields.includes(field) && outcome.checked.has(key))
  return [
    ...countDifferences(expected, outcome, isChecked('product_id')),
    ...expected.products.flatMap((product) =>
      productDifferences(product, outcome, isChecked, expected.unsure),
    ),
  ]
}

function countDifferences(expected: Expectation, outcome: Outcome, isAsked: boolean): Difference[] {
  const wanted = { delivered: expected.delivered, rejected: expected.rejected.length }
  const { delivered, rejected } = outcome
  if (delivered === wanted.delivered) return []
  const text = `${delivered} delivered and ${rejected} rejected, not ${wanted.delivered} and ${wanted.rejected}`
  const isLoud = delivered < wanted.delivered && rejected > wanted.rejected
  return [{ kind: isAsked ? 'asked' : isLoud ? 'refused' : 'silent', text }]
}

function productDifferences(
  product: Document,
  outcome: Outcome,
  isChecked: (field: string) => boolean,
  unsure: readonly string[],
): Difference[] {
  const ids = choicesOf(product.product_id).map(String)
  const id = ids.find((each) => each in outcome.documents)
  const kindOf = (field: string) => (isChecked(field) ? 'asked' : 'silent')
  if (id === undefined) {
    const isLoud = outcome.delivered === 0 || outcome.rejected > 0
    return [
      {
        kind: isChecked('product_id') ? 'asked' : isLoud ? 'refused' : 'silent',
        text: `no product ${ids.join(' or ')}`,
      },
    ]
  }
  const document = outcome.documents[id] as Document
  return comparedFields.flatMap((field) => {
    if (isRight(field, comparableOf(field, document), product[field])) return []
    if (unsure.includes(field) && isChecked(field)) return []
    const found = document[field] === undefined ? 'left out' : show(document[field])
    const text = `${id} ${field} ${found}, not ${show(product[field])}`
    return [{ kind: kindOf(field), text } as const]
  })
}

/** What the contract leaves open makes no difference: the main image among the others, a list price that is the price. */
function comparableOf(field: string, document: Document): unknown {
  const value = document[field]
  if (field === 'list_price' && value === document.price) return undefined
  if (field !== 'alternate_image_urls' || !Array.isArray(value)) return value
  const others = value.filter((address) => address !== document.image_url)
  return others.length === 0 ? undefined : others
}

function isRight(field: string, found: unknown, wanted: unknown): boolean {
  return choicesOf(wanted).some((choice) => {
    if (field === 'description') return bareText(found) === bareText(choice)
    if (field === 'skus') return choice === undefined || areSkus(found, choice)
    return isDeepStrictEqual(found, choice ?? undefined)
  })
}

function choicesOf(wanted: unknown): readonly unknown[] {
  const isChoice = typeof wanted === 'object' && wanted !== null && 'oneOf' in wanted
  return isChoice ? (wanted.oneOf as unknown[]) : [wanted]
}

/** Of a SKU only what the expectation names; in any order, for files list variants as they like. */
function areSkus(found: unknown, wanted: unknown): boolean {
  if (!Array.isArray(found) || !Array.isArray(wanted)) return found === wanted
  if (found.length !== wanted.length) return false
  return (wanted as Document[]).every((sku) =>
    (found as Document[]).some((other) =>
      Object.entries(sku).every(([key, wanted]) =>
        choicesOf(wanted).some((choice) => isDeepStrictEqual(other[key], choice ?? undefined)),
      ),
    ),
  )
}

const entities: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: ' ',
}

/** A description with its markup or as plain text is as right. */
function bareText(value: unknown): unknown {
  if (typeof value !== 'string') return value
  return value
    .replace(/<\/?[a-z][^>]*>/gi, ' ')
    .replace(/&#(\d+);/g, (_, code: string) => String.fromCodePoint(Number(code)))
    .replace(/&(\w+);/g, (whole, name: string) => entities[name] ?? whole)
    .replace(/^\s*[-•*] /gm, '')
    .replace(/\s+/g, '')
}

function show(value: unknown): string {
  const text = JSON.stringify(value) ?? 'nothing'
  return text.length > 160 ? `${text.slice(0, 160)}…` : text
}
