import { constants } from 'node:os'
import { systemClock } from '../lib/clock.ts'
import { describeError, OperatingError } from '../lib/errors.ts'
import { guessOwnFile, type OwnGuess, showOwnFile, showOwnSteps } from './own-file.ts'
import { onUnread, printFailure, printTable, printText, printTitle } from './print.ts'
import { openTemporaryDaemon, type TemporaryDaemon } from './temporary-daemon.ts'
import { deferredAfterSeconds, Tour } from './tour.ts'

// Second stage of `npm run quickstart`: a sandbox, a daemon and a sample catalogue, for as long as it takes to see what
// catalogd does. Whatever ends it, nothing is left running and the temporary folder goes.

function introduce({ sandboxUrl, dropDir, newsletterDir }: TemporaryDaemon): void {
  printText('A sandbox of all four API groups and a catalogd with its own Redis run here for some seconds.')
  printTable([
    ['sandbox', sandboxUrl],
    ['daemon', `watches ${dropDir} and ${newsletterDir}`],
  ])
}

/** Lines that can be copied into a shell. */
function showNextSteps(): void {
  printTitle('Next: your own feed')
  printText(`  # A commented configuration and its drop folders:
  npm run -s catalogd -- init ../shop
  export CATALOGD_CONFIG=../shop/config/catalogd.yaml

  # Edit it: which columns of your file are which product fields. Then, without an account:
  npm run -s catalogd -- check products ../shop/export.csv
  npm run -s catalogd -- diff products ../shop/export.csv
  npm run -s catalogd -- load products ../shop/export.csv --dry-run

  # With your account's address and API_PRODUCTS token (or those that "npm run -s catalogd -- sandbox" prints):
  export CATALOG_API_URL=https://… API_PRODUCTS_TOKEN=…
  npm run -s catalogd -- start

  # From now on, what is put into ../shop/drop/products is delivered.

docs/getting-started.md goes through these steps with an example.`)
  printTitle('Or look around in the sandbox')
  printText(`  # At http://127.0.0.1:8490, until Ctrl+C. It prints what the commands need; in a browser it explains the whole API:
  npm run -s catalogd -- sandbox

  # The same tour, and its sandbox and daemon stay until Ctrl+C:
  npm run quickstart -- --keep`)
}

/** Resolves when the user has seen enough. */
async function keepRunning(daemon: TemporaryDaemon, signal: AbortSignal): Promise<void> {
  const { sandboxUrl, dropDir, newsletterDir, operation } = daemon
  printTitle('Everything keeps running until Ctrl+C')
  printTable([
    ['the API', `${sandboxUrl}/reference in a browser: every call described, and to be tried`],
    ['arrived', `${sandboxUrl}/sandbox/summary`],
    ['products', dropDir],
    ['consents', newsletterDir],
    ['commands', `npm run -s catalogd -- --config ${operation.config.file} status`],
  ])
  const ended = Promise.withResolvers<void>()
  signal.addEventListener('abort', () => ended.resolve(), { once: true })
  if (!signal.aborted) await Promise.race([ended.promise, daemon.failed])
}

/** Ends the show early, so that nothing is left behind: a signal, or output that nobody reads any more. */
function openEnding(): { signal: AbortSignal; exitCode: () => number } {
  const controller = new AbortController()
  let exitCode = 1
  const end = (name: 'SIGINT' | 'SIGTERM' | 'SIGHUP' | 'SIGPIPE') => {
    exitCode = 128 + constants.signals[name]
    controller.abort(new Error(`ended by ${name}`))
  }
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, () => end(name))
  onUnread(() => end('SIGPIPE'))
  return { signal: controller.signal, exitCode: () => exitCode }
}

async function main(args: readonly string[]): Promise<number> {
  const keeps = args.includes('--keep')
  const [file, ...unknown] = args.filter((arg) => arg !== '--keep')
  if (unknown.length > 0 || file?.startsWith('-')) {
    const words = file?.startsWith('-') ? [file, ...unknown] : unknown
    printFailure(`The quickstart knows only --keep and the name of one feed file, and not ${words.join(' ')}`)
    return 2
  }
  const { signal, exitCode } = openEnding()
  let guess: OwnGuess | undefined
  try {
    guess = file === undefined ? undefined : await guessOwnFile(file, signal)
    await using daemon = await openTemporaryDaemon({
      clock: systemClock,
      signal,
      deferredAfter: `${deferredAfterSeconds}s`,
      ...(guess ? { productsFeed: guess.feed } : {}),
    })
    introduce(daemon)
    if (file === undefined || guess === undefined) await new Tour(daemon).show()
    else await showOwnFile(daemon, file, guess)
    if (keeps) {
      await keepRunning(daemon, signal)
      return 0
    }
  } catch (error) {
    if (signal.aborted) return exitCode()
    const { message, hint } =
      error instanceof OperatingError ? error : { message: describeError(error), hint: undefined }
    printFailure(`The quickstart failed: ${message}`)
    if (hint !== undefined) printFailure(`  → ${hint}`)
    return 1
  }
  if (file === undefined || guess === undefined) showNextSteps()
  else showOwnSteps(file, guess)
  return 0
}

process.exitCode = await main(process.argv.slice(2))
