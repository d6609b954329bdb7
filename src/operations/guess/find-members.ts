import type { ColumnFacts } from './column-facts.ts'
import { checkLine, type FeedLine } from './feed-text.ts'
import type { HeaderNames, Meaning } from './header-names.ts'
import { listed, type MeaningGuess } from './model.ts'

export interface Lists {
  /** What the objects of lists hold. */
  members: readonly ColumnFacts[]
  names: HeaderNames
}

const ofImages = /image|img|picture|photo|bild|foto|visuel|imagen|media|galler/i
export const ofSmallOnes = /thumb|small|tiny|icon|swatch|(?<!\d)\d{1,2}x\d{1,2}(?!\d)/i
/** Pictures of something else than the product. */
const ofOthers =
  /logo|brand|marque|manufactur|hersteller|categor|kateg|swatch|energ|label|review|rating|video|seller|shop(?!ify)|store|avatar|user|author|flag|icon|badge|banner|promo|eprel|qr.?code|pdf|sheet/i
const noImage = /\.(?:mp4|m4v|webm|mov|avi|m3u8|pdf|zip|glb|usdz)(?:$|[?#])|youtu\.?be|vimeo/i
/** What is sold under one product. */
export const ofVariants = /varia|sku|offer|combination/i
const ofVariantsMeanings: readonly Meaning[] = [
  'price',
  'sale_price',
  'list_price',
  'availability',
  'inventory_level',
]

/** What no column of the record itself holds, lists of objects in it may. */
export function findMembers(
  guesses: Map<Meaning, MeaningGuess>,
  { members, names, columns }: Lists & { columns: readonly ColumnFacts[] },
): void {
  const take = (meaning: Meaning, facts: ColumnFacts | undefined) => {
    if (facts) guesses.set(meaning, { facts, reason: `the objects of "${facts.list}" hold it`, others: [] })
  }
  const nameOf = ({ list = '' }: ColumnFacts) => names.find(list)?.meaning
  const below = ({ column, list = '' }: ColumnFacts) => column.slice(list.length + 1)
  const isOfVariants = ({ list = '' }: ColumnFacts) => ofVariants.test(list)
  // One object alone looks like a part of the record.
  const isFree = (meaning: Meaning) => {
    const guess = guesses.get(meaning)
    return guess === undefined || members.some(({ column }) => column === guess.facts.column)
  }
  const images = members.filter((facts) => {
    const { column, list = '', imageUrls, urls, reach, values } = facts
    if (values.some((text) => noImage.test(text))) return false
    const isNamed = ofImages.test(list) && urls > 0.9 && /url|src|href|link|path|^$/i.test(below(facts))
    return (
      (imageUrls > 0.8 || isNamed) &&
      reach === undefined &&
      !ofSmallOnes.test(column) &&
      !ofOthers.test(column)
    )
  })
  const image = images.find((facts) => !isOfVariants(facts)) ?? images[0]
  const main = image && isFree('image_url') ? mainBeside(image, { columns, members }) : undefined
  if (main) guesses.set('image_url', { facts: main, reason: 'it stands beside further images', others: [] })
  else if (isFree('image_url')) take('image_url', image)
  if (isFree('alternate_image_urls') && image && !isOfVariants(image)) take('alternate_image_urls', image)
  const named = (meaning: Meaning) =>
    members.find((facts) => nameOf(facts) === meaning && names.find(below(facts))?.meaning === 'name')
  for (const meaning of ['categories', 'brand']) if (isFree(meaning)) take(meaning, named(meaning))
  const variants = members.filter(isOfVariants)
  if (guesses.has('price') || guesses.has('sale_price')) {
    settleParts(guesses, variants)
    return
  }
  const found = (meaning: Meaning, list?: string) =>
    variants.find((facts) => {
      const isAmount =
        facts.numbers > 0.9 && (meaning === 'list_price' || meaning === 'sale_price' || facts.fill > 0.9)
      const isTold = meaning === 'availability' ? facts.availabilities === 1 : isAmount
      return (
        (list === undefined || facts.list === list) && isTold && names.find(facts.column)?.meaning === meaning
      )
    })
  const list = found('price')?.list
  for (const meaning of list === undefined ? [] : ofVariantsMeanings) {
    if (!guesses.has(meaning)) take(meaning, found(meaning, list))
  }
}

const ofMain = /main|cover|primary|default|first|front|haupt|titel|principal|featured|base/i

/** The main image, which is no part of the list, as in `<imgs><main url=""/><i url=""/><i url=""/></imgs>`. */
function mainBeside(
  { list = '' }: ColumnFacts,
  { columns, members }: { columns: readonly ColumnFacts[]; members: readonly ColumnFacts[] },
): ColumnFacts | undefined {
  const parent = list.replace(/[^.]*$/, '')
  return columns.find(({ column, imageUrls, fill }) => {
    if (imageUrls <= 0.8 || fill <= 0.5 || ofSmallOnes.test(column)) return false
    if (members.some((facts) => facts.column === column)) return false
    const isBeside = parent !== '' && column.startsWith(parent) && ofImages.test(parent)
    return isBeside || (ofMain.test(column) && ofImages.test(column))
  })
}

/** What is a part of the record where a product has one variant: of several, all must have it, or nobody can tell whose it is. */
function settleParts(guesses: Map<Meaning, MeaningGuess>, variants: readonly ColumnFacts[]): void {
  const name = guesses.has('sale_price') ? 'sale_price' : 'price'
  const priced = guesses.get(name)
  const list = variants.find(({ list }) => priced?.facts.column.startsWith(`${list}.`))?.list
  if (!priced || list === undefined) return
  const parts = [...guesses].filter(([, { facts }]) => facts.column.startsWith(`${list}.`))
  const whole = parts.filter(([meaning]) => ofVariantsMeanings.includes(meaning))
  const found = whole.map(([, { facts }]) => variants.find(({ column }) => column === facts.column))
  if (found.some((facts) => facts?.fill !== 1)) {
    guesses.set(name, { ...priced, doubt: `of several in "${list}" the last one counts` })
    return
  }
  for (const [index, [meaning, guess]] of whole.entries())
    guesses.set(meaning, { ...guess, facts: found[index] ?? guess.facts })
}

const imageFile = /\.(?:jpe?g|png|gif|webp|avif)(?:$|[?#&"'\s,;|\]@])/i
/** More than these are no numbers of pictures, but sizes or years. */
const numberOfImage = /[ _.-]*(?:(?<!\d)\d{1,2}(?!\d)|(?:two|three|four|five)$)/i

/** Columns that hold further pictures stand beside the list of them, or make one. */
export function settleFurtherImages(
  guesses: Map<Meaning, MeaningGuess>,
  { columns, members, names }: Lists & { columns: readonly ColumnFacts[] },
): void {
  const inLists = new Set(members.map(({ column }) => column))
  const taken = new Set([...guesses.values()].map(({ facts }) => facts.index))
  const further = columns.filter((facts) => {
    const { column, index, filled } = facts
    return filled > 0 && !taken.has(index) && !inLists.has(column) && isFurther(facts, names)
  })
  const known = guesses.get('alternate_image_urls')
  const [first, ...others] = further
  if (first && known === undefined)
    guesses.set('alternate_image_urls', {
      facts: first,
      reason: 'further images stand in columns of their own',
      others,
    })
  else if (known) guesses.set('alternate_image_urls', { ...known, others: further })
}

/** The name is that of an image, with a number or not, or it stands below such a name. */
function isFurther(facts: ColumnFacts, names: HeaderNames): boolean {
  const { column, urls, urlLists, imageUrls } = facts
  if (ofSmallOnes.test(column) || ofOthers.test(column) || /varia/i.test(column) || urls + urlLists <= 0.8)
    return false
  const rest = column.replace(numberOfImage, '')
  const numbered = rest === column ? undefined : names.find(rest)?.meaning
  // Without a number it is the main image once more, perhaps in another size.
  if (numbered === 'image_url' || numbered === 'alternate_image_urls') return true
  if (names.find(column)?.meaning === 'alternate_image_urls') return true
  return (
    imageUrls > 0.8 &&
    column
      .split('.')
      .slice(0, -1)
      .some((part) => ofImages.test(part))
  )
}

interface Unused {
  columns: readonly ColumnFacts[]
  members: readonly ColumnFacts[]
}

/** Nothing that holds images goes unnamed. */
export function unusedImages({ columns, members }: Unused): FeedLine[] {
  const found = [...columns, ...members].filter(holdsImages).map(({ column }) => column)
  if (found.length === 0) return []
  const comment = `fields.alternate_image_urls: ${listed(found, 8)} ${found.length > 1 ? 'hold' : 'holds'} images, too, and ${found.length > 1 ? 'are' : 'is'} left out: add what shows the product`
  return [checkLine(comment)]
}

export function holdsImages({ imageUrls, filled, html, values }: ColumnFacts): boolean {
  if (filled === 0 || html > 0.05) return false
  return imageUrls > 0.5 || values.filter((text) => imageFile.test(text)).length > values.length / 2
}

const mayBeImages = /image|img|picture|photo|bild|foto|visuel|imagen|media/i
const anyImageFile = /\.(jpe?g|png|gif|webp|avif)\b/i

interface Imageless {
  columns: readonly ColumnFacts[]
  /** Of objects: paths of lists that hold objects themselves. */
  lists: readonly string[]
}

/** Says which columns may hold the pictures, where no rule can be guessed: products are not sent without one. */
export function missingImage({ columns, lists }: Imageless): FeedLine {
  const named = columns.filter(({ column, examples }) => {
    return mayBeImages.test(column) || examples.some((text) => anyImageFile.test(text))
  })
  const maybe = [...named.map(({ column }) => column), ...lists.filter((path) => mayBeImages.test(path))]
  const hint = maybe.length === 0 ? 'add such a column' : `${listed(maybe)} may lead to one`
  const comment = `fields.image_url: no column holds the address of an image, and products are sent only with one: ${hint}`
  return checkLine(comment)
}
