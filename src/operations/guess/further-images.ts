import type { ColumnFacts } from './column-facts.ts'
import { checkLine, type FeedLine } from './feed-text.ts'
import { type Lists, ofImages, ofOthers, ofSmallOnes } from './find-members.ts'
import { listed } from './guess-reason.ts'
import type { HeaderNames, Meaning } from './header-names.ts'
import type { MeaningGuess } from './model.ts'

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
