import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ProductPatch } from '../../catalog/model.ts'
import type { FeedConfig } from '../../config/model.ts'
import type { ReadItem } from '../../imports/open-feed-file.ts'
import { FileRefusedError } from '../../lib/errors.ts'
import { checkFile, type FileCheck } from '../check-file.ts'
import { readCheckedConfig } from '../read-config.ts'
import { enumeration, marksIn } from './category-marks.ts'
import { checkLine, feedText } from './feed-text.ts'
import { type FeedGuess, guessFeed } from './guess-feed.ts'
import { type Given, listed, oneLine } from './model.ts'

export interface ProductPreview {
  record: number
  line: number
  /** What the record sets, in contract order. */
  product: Readonly<Record<string, unknown>>
  /** Warnings. */
  problems: readonly string[]
}

/** What a guess makes of the file that it was guessed from. */
export interface GuessTrial {
  /** The guess, with a line for each problem where it is not ready, and for marks that its rules leave. */
  guess: FeedGuess
  check: FileCheck
  /** The first that are not rejected, as they would be sent. */
  products: readonly ProductPreview[]
  /** It may be started: only a few records are lost, and there is something to send. */
  isReady: boolean
}

interface TrialOptions {
  file: string
  given: Given
  /** For which time the file is read: since the epoch in ms. */
  nowMs: number
  signal: AbortSignal
  /** The file is read `trialPasses` times. */
  onProgress?: ((bytesRead: number) => void) | undefined
}

export const trialPasses = 2
const shownProducts = 3
/** Products that are looked at for what the rules leave. */
const previewedProducts = 100
/** Of the records: more are no exceptions. */
const lostAtMost = 0.1
const namedProblems = 3
const commentCharacters = 240

/** Reads the file with what was guessed, as `check` does. A preset that loses most of it was not meant. */
export async function tryGuess(guess: FeedGuess, options: TrialOptions): Promise<GuessTrial> {
  const trial = await tryOnce(guess, options)
  const { check, isReady } = trial
  if (isReady || guess.preset === undefined || lostOf(check) <= check.records / 2) return trial
  const other = await guessWithoutPreset(options)
  const second = other && (await tryOnce(other, options))
  return second?.isReady ? second : trial
}

/** Undefined where the file does not look like products by itself. */
async function guessWithoutPreset({ file, given, signal }: TrialOptions): Promise<FeedGuess | undefined> {
  try {
    return await guessFeed({ file, given, signal, withPresets: false })
  } catch (error) {
    if (error instanceof FileRefusedError) return undefined
    throw error
  }
}

async function tryOnce(guess: FeedGuess, options: TrialOptions): Promise<GuessTrial> {
  const feed = await feedOf(guess)
  const previews: ProductPreview[] = []
  const check = await checkFile({
    ...options,
    feed,
    onProducts: ({ items }) => {
      const more = items.slice(0, previewedProducts - previews.length)
      previews.push(...more.map(previewOf))
    },
  })
  const products = previews.slice(0, shownProducts)
  const isReady = isReadyToStart(check)
  const asked = new Set(guess.open.map((line) => line.replace(/:.*/s, '')))
  const made = previews.map(({ product }) => product)
  const doubts = [...leftMarks(made), ...fewForSale(made)].filter(
    (comment) => !asked.has(comment.replace(/:.*/s, '')),
  )
  const comments = isReady ? doubts : [...doubts, ...problemsOf(check)]
  return { guess: withProblems(guess, comments), check, products, isReady }
}

function previewOf({ item, record: { record, line }, issues }: ReadItem<ProductPatch>): ProductPreview {
  const fields = Object.entries(item.set).filter(([, value]) => value !== undefined)
  const product = { product_id: item.productId, ...Object.fromEntries(fields) }
  return { record, line, product, problems: issues.map(({ message }) => message) }
}

/** As a configuration would have it. */
async function feedOf({ lines }: FeedGuess): Promise<FeedConfig> {
  const folder = await mkdtemp(join(tmpdir(), 'catalogd-guess-'))
  try {
    const file = join(folder, 'catalogd.yaml')
    const drop = { key: 'drop', value: './drop', comment: '' }
    const api = 'api: { url: "http://127.0.0.1", productsToken: none }'
    const feeds = feedText('products', [drop, ...lines], 6)
    await writeFile(file, `catalogs:\n  main:\n    ${api}\n    feeds:\n${feeds}`)
    const { config } = await readCheckedConfig({ file, env: {} })
    const feed = config.catalogs.values().next().value?.feeds.values().next().value
    if (feed === undefined) throw new Error('the configuration that was guessed has no feed')
    return feed
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

function isReadyToStart({ refused, missingColumns, ...check }: FileCheck): boolean {
  if (refused || missingColumns) return false
  const sent = check.applied - check.incomplete.products
  return sent > 0 && lostOf(check) <= fewOf(check) && (check.ids?.unreadable ?? 0) <= fewOf(check)
}

function fewOf({ records }: FileCheck): number {
  return Math.max(1, records * lostAtMost)
}

function lostOf({ rejected, superseded }: Pick<FileCheck, 'rejected' | 'superseded'>): number {
  return rejected + superseded
}

function withProblems(guess: FeedGuess, problems: readonly string[]): FeedGuess {
  const comments = problems.map((text) => oneLine(text, commentCharacters))
  const lines = comments.map(checkLine)
  return { ...guess, lines: [...guess.lines, ...lines], open: [...guess.open, ...comments] }
}

function problemsOf({ refused, missingColumns, records, ...check }: FileCheck): string[] {
  if (refused) return [`the file is refused: ${refused.reason}`]
  if (missingColumns)
    return missingColumns.map(({ column, field }) => `${field}: there is no column "${column}"`)
  const rejections = check.problems
    .filter(({ severity }) => severity === 'reject')
    .slice(0, namedProblems)
    .map(
      ({ count, examples: [example] }) =>
        `${count} of ${records} records ${count === 1 ? 'is' : 'are'} rejected: ${example?.message}`,
    )
  const unreadable = check.ids?.unreadable ?? 0
  const { products, fields } = check.incomplete
  return [
    ...rejections,
    ...(unreadable > 0 ? [`product_id: the id of ${unreadable} of ${records} records cannot be read`] : []),
    ...(check.superseded > 0
      ? [
          `product_id: ${check.superseded} of ${records} records are replaced by a later one with the same id; set group where several rows make one product`,
        ]
      : []),
    ...(products > 0
      ? [`${products} products are not sent, for want of ${Object.keys(fields).join(', ')}`]
      : []),
  ]
}

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
