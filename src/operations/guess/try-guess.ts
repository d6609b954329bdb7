import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ProductPatch } from '../../catalog/model.ts'
import type { FeedConfig } from '../../config/model.ts'
import type { ReadItem } from '../../imports/read-feed-file.ts'
import { FileRefusedError } from '../../lib/errors.ts'
import { checkFile, type FileCheck } from '../check-file.ts'
import { readCheckedConfig } from '../read-config.ts'
import { checkLine, feedText } from './feed-text.ts'
import { type FeedGuess, guessFeed } from './guess-feed.ts'
import { oneLine } from './guess-reason.ts'
import { fewForSale, leftMarks } from './left-marks.ts'
import type { Given } from './model.ts'

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
  /** What the guess was given. */
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
  const product = { product_id: item.productId, ...item.set }
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
