import type { ColumnFacts } from './column-facts.ts'
import { checkLine, type FeedLine } from './feed-text.ts'
import { listed } from './model.ts'

const ofImages = /image|img|picture|photo|bild|foto|visuel|imagen|media/i
const imageFile = /\.(jpe?g|png|gif|webp|avif)\b/i

interface Unused {
  columns: readonly ColumnFacts[]
  /** Of objects: paths of lists that hold objects themselves. */
  lists: readonly string[]
}

/** Says which columns may hold the pictures, where no rule can be guessed: products are not sent without one. */
export function missingImage({ columns, lists }: Unused): FeedLine {
  const named = columns.filter(({ column, examples }) => {
    return ofImages.test(column) || examples.some((text) => imageFile.test(text))
  })
  const maybe = [...named.map(({ column }) => column), ...lists.filter((path) => ofImages.test(path))]
  const hint = maybe.length === 0 ? 'add such a column' : `${listed(maybe)} may lead to one`
  const comment = `fields.image_url: no column holds the address of an image, and products are sent only with one: ${hint}`
  return checkLine(comment)
}
