import { copyFile, rename } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { BarLine } from '../cli/bar-line.ts'
import { formatProducts } from '../cli/product-format.ts'
import { withReadBar } from '../cli/read-bar.ts'
import { systemClock } from '../lib/clock.ts'
import { systemErrorCode } from '../lib/errors.ts'
import { feedText } from '../operations/guess/feed-text.ts'
import { guessFeed } from '../operations/guess/guess-feed.ts'
import { type GuessTrial, trialPasses, tryGuess } from '../operations/guess/try-guess.ts'
import { Observer } from './observer.ts'
import { count, isWatched, printTable, printText, printTitle } from './print.ts'
import type { TemporaryDaemon } from './temporary-daemon.ts'

const place = [
  { key: 'drop', value: './products', comment: 'the watched folder' },
  { key: 'settle', value: '0s', comment: 'files are renamed into place' },
]
const shownProblems = 5

export interface OwnGuess {
  /** As it stands in a configuration. */
  feed: string
  trial: GuessTrial
}

/** Takes a look at the user's own feed file, and says what it was taken for. */
export async function guessOwnFile(file: string, signal: AbortSignal): Promise<OwnGuess> {
  const trial = await tryOwnFile(file, signal)
  const { guess } = trial
  const feed = feedText('products', [...place, ...guess.lines], 6)
  printTitle(`${guess.name}: ${guess.dialect}, ${count(guess.records)} records`)
  for (const warning of guess.warnings) printText(`Warning: ${warning}`)
  printText('What it is taken for. This becomes the configuration of a feed:\n')
  printText(feed.replace(/^ {4}/gm, ''))
  return { feed, trial }
}

async function tryOwnFile(file: string, signal: AbortSignal): Promise<GuessTrial> {
  const given = { shopUrl: undefined, currency: undefined, id: undefined }
  try {
    const barLine = isWatched() ? new BarLine() : undefined
    const bar = { label: 'looking at the file', passes: 1 + trialPasses, barLine, clock: systemClock }
    return await withReadBar(file, bar, async (onProgress) => {
      const guess = await guessFeed({ file, given, signal, onProgress })
      return await tryGuess(guess, { file, given, nowMs: systemClock.now(), signal, onProgress })
    })
  } catch (error) {
    if (systemErrorCode(error) !== 'ENOENT') throw error
    throw new Error(`there is no file ${file}`, { cause: error })
  }
}

/** Imports the file twice: what arrives at the sandbox, and that nothing is sent again. */
export async function showOwnFile(daemon: TemporaryDaemon, file: string, { trial }: OwnGuess): Promise<void> {
  const observer = new Observer(daemon)
  const { clock } = daemon.operation
  printTitle('1. The file arrives')
  const startedMs = clock.monotonic()
  const name = plainName(file)
  await drop(daemon, file, name)
  const report = await observer.imported(name)
  await observer.delivered()
  const seconds = (clock.monotonic() - startedMs) / 1000
  const summary = await observer.summary()
  printTable([
    ['outcome', report.reason === undefined ? report.outcome : `${report.outcome}: ${report.reason}`],
    ['records', `${count(report.records)} read and checked, ${count(report.rejected)} rejected`],
    [
      'products',
      `${count(summary.products)} at the sandbox, ${count(report.changes.incomplete)} wait for required fields`,
    ],
    ['calls', `${summary.calls.total}, the largest of ${count(summary.largestCallBytes)} bytes`],
    ['seconds', `${seconds.toFixed(1)} from the rename to the last acknowledgement`],
  ])
  // Those of a guess that is not ready stand in it.
  const problems = trial.isReady ? report.problems.slice(0, shownProblems) : []
  for (const { count: times, field, examples } of problems) {
    const [example] = examples
    const where = example ? `record ${example.record}: ${example.message}` : ''
    printText(`  ${count(times)} × ${field ?? 'record'}, for example ${where}`)
  }
  printTitle('2. The same file once more')
  const again = `again-${name}`
  await drop(daemon, file, again)
  const second = await observer.imported(again)
  const after = await observer.summary()
  printTable([
    [
      'records',
      `${count(second.records)} read, ${count(second.unchanged)} unchanged, in ${second.seconds.toFixed(1)} s`,
    ],
    ['sent', count(after.documentsReceived - summary.documentsReceived)],
  ])
  if (trial.products.length === 0) return
  printTitle('3. Some of its products')
  printText(formatProducts(trial.products).join('\n').trimEnd())
}

/** Lines that can be copied into a shell. */
export function showOwnSteps(file: string, { trial }: OwnGuess): void {
  const path = /[^\w./-]/.test(file) ? `'${file.replaceAll("'", "'\\''")}'` : file
  printTitle(trial.isReady ? 'Next: keep the configuration' : 'Next: correct the configuration')
  printText(`  # Asks for what the file does not say, writes the configuration, and shows three products:
  npm run -s catalogd -- --config ../shop/catalogd.yaml init --from ${path}
  export CATALOGD_CONFIG=../shop/catalogd.yaml

  # What is still wrong, and what a call would send:
  npm run -s catalogd -- check products ${path}
  npm run -s catalogd -- load products ${path} --dry-run`)
  if (!trial.isReady) return
  printText(`
  # With your account's address and API_PRODUCTS token (or those that "npm run -s catalogd -- sandbox" prints):
  export CATALOG_API_URL=https://… API_PRODUCTS_TOKEN=…
  npm run -s catalogd -- start`)
}

/** For the copy in the drop folder: a name that the daemon has no reason to change, since its report is awaited by it. */
function plainName(file: string): string {
  const plain = basename(file).replace(/[^\w.-]+/g, '_')
  // Cut first: a name that began with a dot would be ignored.
  return plain.slice(-80).replace(/^[._]+/, '') || 'feed'
}

/** The user's file stays where it is. */
async function drop({ workDir, dropDir }: TemporaryDaemon, file: string, name: string): Promise<void> {
  await copyFile(file, join(workDir, `copy-${name}`))
  await rename(join(workDir, `copy-${name}`), join(dropDir, name))
}
