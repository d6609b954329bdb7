import { safeValue } from '../lib/terminal-text.ts'
import { checkFile, type FileCheck } from '../operations/check-file.ts'
import type { FeedGuess } from '../operations/guess/guess-feed.ts'
import { type ProductPreview, previewProducts } from '../operations/guess/preview-products.ts'
import { readCheckedConfig } from '../operations/read-config.ts'
import type { CommandContext } from './context.ts'
import { formatProblems } from './problems.ts'
import { countOf } from './table.ts'

interface Written {
  guess: FeedGuess
  /** The configuration that was written. */
  file: string
  /** The file that it was guessed from. */
  from: string
  dropDir: string
}

const shownProducts = 10
const shownProblems = 3
/** Values are cut: a description would hide the next product. */
const shownCharacters = 60

/** Shows what the new configuration makes of the file. */
export async function printGuess(
  context: CommandContext,
  { guess, file, from, dropDir }: Written,
): Promise<void> {
  const env = { CATALOG_API_URL: 'http://127.0.0.1', API_PRODUCTS_TOKEN: 'none yet' }
  const { config } = await readCheckedConfig({ file, env })
  const feed = [...config.catalogs.values()][0]?.feeds.values().next().value
  if (feed === undefined) throw new Error('the configuration that was written has no feed')
  const options = { feed, file: from, nowMs: context.clock.now(), signal: context.signal }
  const products = await previewProducts({ ...options, count: shownProducts })
  const check = await checkFile(options)
  const result = { config: file, dropFolder: dropDir, dialect: guess.dialect, preset: guess.preset ?? null }
  context.print({ ...result, open: guess.open, products, check }, (shown) => {
    const { name, warnings } = safeValue(guess)
    return [
      `${name}: ${guess.dialect}, ${countOf(guess.records, 'record')}${guess.preset ? `; preset ${guess.preset}` : ''}`,
      ...warnings.map((warning) => `Warning: ${warning}`),
      '',
      ...shown.products.flatMap(formatProduct),
      ...formatCheck(shown.check),
      ...formatOpen(shown, file),
      '',
      `Written: ${file}. Every guess has its reason beside it. Next:`,
      `  catalogd --config ${file} check products ${from}`,
      `  catalogd --config ${file} start`,
      `  put files into ${dropDir}`,
      '"start" needs CATALOG_API_URL and API_PRODUCTS_TOKEN; to try it without an account, "catalogd sandbox" prints both.',
    ].join('\n')
  })
}

function formatProduct({ record, product, problems }: ProductPreview): string[] {
  const lines = problems.slice(0, shownProblems).map((problem) => `    ! ${problem}`)
  if (!product) return [`Record ${record}: rejected`, ...lines, '']
  const fields = Object.entries(product).map(([field, value]) => `    ${field.padEnd(22)}${show(value)}`)
  return [`Record ${record}`, ...fields, ...lines, '']
}

function show(value: unknown): string {
  const text = (typeof value === 'string' ? value : JSON.stringify(value)).replace(/\s+/g, ' ')
  return text.length > shownCharacters ? `${text.slice(0, shownCharacters)}…` : text
}

function formatCheck(check: FileCheck): string[] {
  if (check.refused) return [`Refused: ${check.refused.reason}`]
  const { fields, products } = check.incomplete
  const gaps =
    products > 0 ? [`Not sent until they have it: ${Object.keys(fields).join(', ')} (${products})`] : []
  return [
    `${countOf(check.records, 'record')}: ${check.applied} good, ${check.rejected} rejected`,
    ...gaps,
    ...formatProblems(check.problems.slice(0, shownProblems)),
  ]
}

function formatOpen({ open }: Pick<FeedGuess, 'open'>, file: string): string[] {
  if (open.length === 0) return []
  return ['', `To look at in ${file}:`, ...open.map((line) => `  ${line}`)]
}
