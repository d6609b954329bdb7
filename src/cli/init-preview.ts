import { safeValue } from '../lib/terminal-text.ts'
import type { FeedGuess } from '../operations/guess/guess-feed.ts'
import type { GuessTrial } from '../operations/guess/try-guess.ts'
import type { CommandContext } from './context.ts'
import { formatProducts } from './product-format.ts'
import { countOf, formatProblems } from './table.ts'

interface Written {
  trial: GuessTrial
  file: string
  from: string
  dropDir: string
}

const shownProblems = 3

export function printGuess(context: CommandContext, { trial, file, from, dropDir }: Written): void {
  const { guess, check, products, isReady } = trial
  const result = { config: file, dropFolder: dropDir, dialect: guess.dialect, preset: guess.preset ?? null }
  context.print({ ...result, ready: isReady, open: guess.open, products, check }, (shown) => {
    const safe = safeValue(trial)
    const { name, dialect, preset, records, warnings } = safe.guess
    return [
      `${name}: ${dialect}, ${countOf(records, 'record')}${preset ? `; preset ${preset}` : ''}`,
      ...warnings.map((warning) => `Warning: ${warning}`),
      ...formatTrial(safe),
      ...formatOpen(shown, file),
      '',
      ...formatProducts(shown.products),
      ...formatNext({ trial, file, from, dropDir }),
    ].join('\n')
  })
}

/** What the check found; the problems of a guess that is not ready stand among what is to be looked at. */
function formatTrial({ check, isReady }: GuessTrial): string[] {
  if (check.refused) return []
  const { fields, products } = check.incomplete
  const gaps =
    products > 0 ? [`Not sent until they have it: ${Object.keys(fields).join(', ')} (${products})`] : []
  return [
    `${countOf(check.records, 'record')}: ${check.applied} good, ${check.rejected} rejected`,
    ...(isReady ? [...gaps, ...formatProblems(check.problems.slice(0, shownProblems))] : []),
  ]
}

function formatOpen({ open }: Pick<FeedGuess, 'open'>, file: string): string[] {
  if (open.length === 0) return []
  return ['', `To look at in ${file}:`, ...open.map((line) => `  ${line}`)]
}

function formatNext({ trial: { isReady }, file, from, dropDir }: Written): string[] {
  const check = `  catalogd --config ${file} check products ${from}`
  if (!isReady)
    return [
      `Written: ${file}, but it is not ready: it loses too much of the file. Correct the lines that say CHECK until this is content:`,
      check,
    ]
  return [
    `Written: ${file}. Every guess has its reason beside it. Next:`,
    check,
    `  catalogd --config ${file} start`,
    `  put files into ${dropDir}`,
    '"start" needs CATALOG_API_URL and API_PRODUCTS_TOKEN: write them into the file .env beside it. To try it without an account, "catalogd sandbox" prints both.',
  ]
}
