import { enumeration, marksIn } from './category-marks.ts'
import { listed } from './guess-reason.ts'

type Products = readonly Readonly<Record<string, unknown>>[]

/** What separates something does not stand at the end of it. */
const odd = /^[-–—>|;,:~\\»›→&^@=<]|[-–—>|;,:~\\»›→&^@=<]$/u
/** In an address of another service an address may stand, but behind a mark of its own. */
const furtherAddress = /[\s,;|&~^#]\/\/[\w-]+\.|[^=/?%\w.-]https?:\/\/|[,;|&]$/i
/** Of the categories: fewer may have it in their names. */
const leastShare = 0.3

/** Marks that a rule has left in what it makes of a file, in the words of a CHECK. */
export function leftMarks(products: Products): string[] {
  const textsOf = (field: string) =>
    products.flatMap((product) => [product[field] ?? []].flat()).filter((text) => typeof text === 'string')
  const categories = [...new Set(textsOf('categories'))]
  const left = categories.filter((text) => text.split('/').some((level) => odd.test(level.trim())))
  const recurring = left.length > 0 ? left : withRecurring(categories)
  const images = ['image_url', 'alternate_image_urls'].flatMap((field) => {
    const found = textsOf(field).filter((text) => furtherAddress.test(text.slice(8)))
    if (found.length === 0) return []
    return [
      `fields.${field}: ${listed([...new Set(found)], 1)} is no one address: say with split what separates them`,
    ]
  })
  if (recurring.length === 0) return images
  const doubt =
    'a mark is left in them: say with separator what separates levels, and with split what separates categories'
  return [`fields.categories: such as ${listed(recurring)}; ${doubt}`, ...images]
}

/** Categories with the mark that many of them have. */
function withRecurring(categories: readonly string[]): string[] {
  const marks = new Map<string, string[]>()
  for (const text of categories) {
    for (const mark of new Set(text.split('/').flatMap((level) => [...marksIn(level)])))
      marks.set(mark, [...(marks.get(mark) ?? []), text])
  }
  const found = [...marks.values()].filter((texts) => {
    return (
      texts.length >= Math.max(2, categories.length * leastShare) &&
      !texts.every((text) => enumeration.test(text))
    )
  })
  return found[0] ?? []
}

/** A shop sells most of what it shows: where it does not, a column may be read the wrong way round. */
export function fewForSale(products: Products): string[] {
  const out = products.filter(({ availability }) => availability !== 'InStock').length
  if (products.length < 4 || out <= products.length / 2) return []
  return [
    `fields.availability: ${out} of the first ${products.length} products are not for sale as it is read: is that so?`,
  ]
}
