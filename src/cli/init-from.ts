import { mkdir, writeFile } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { InvalidArgumentError } from 'commander'
import { parse } from 'yaml'
import { ConfigError, FileRefusedError, systemErrorCode } from '../lib/errors.ts'
import { safeLine } from '../lib/terminal-text.ts'
import type { FeedGuess } from '../operations/guess/guess-feed.ts'
import type { Given } from '../operations/guess/model.ts'
import { ask } from './confirm.ts'
import type { CommandContext } from './context.ts'
import { currencyOption, shopUrlOption } from './option-values.ts'
import { withReadBar } from './read-bar.ts'
import { refuseExisting, throwUnwritable, writeEnvFile } from './refuse-existing.ts'

export interface FromOptions {
  from: string
  yes: boolean
  shopUrl?: string
  currency?: string
  id?: string
}

/** Writes the configuration of a feed `products` that reads the file, and says what was guessed. */
export async function initFrom(context: CommandContext, options: FromOptions): Promise<void> {
  const { guessFeed } = await import('../operations/guess/guess-feed.ts')
  const { trialPasses, tryGuess } = await import('../operations/guess/try-guess.ts')
  const file = context.namedConfigFile ?? 'config/catalogd.yaml'
  await refuseExisting(file, 'Name another one with --config, and copy the feed from there')
  const { from } = options
  const { barLine, clock, signal } = context
  const guessWith = (known: Given) =>
    withReadBar(from, { label: 'looking at the file', passes: 1, barLine, clock }, (onProgress) =>
      guessFeed({ file: from, given: known, signal, onProgress }),
    )
  let given = givenBy(options)
  let guess = await guessOrExplain(from, () => guessWith(given))
  if (guess.open.length > 0 && context.canAsk && !options.yes) {
    given = await askOpen(context, guess, given)
    guess = await guessWith(given)
  }
  const bar = { label: 'checking the guess', passes: trialPasses, barLine, clock }
  const nowMs = context.clock.now()
  const trial = await withReadBar(from, bar, (onProgress) =>
    tryGuess(guess, { file: from, given, nowMs, signal, onProgress }),
  )
  const { dropDir } = await write(file, trial.guess)
  const { printGuess } = await import('./init-preview.ts')
  printGuess(context, { trial, file, from, dropDir })
}

function givenBy({ shopUrl, currency, id }: FromOptions): Given {
  return { shopUrl, currency, id: id === undefined ? undefined : ruleOf(id) }
}

/** A column's name, or a rule as it would stand in the configuration. */
function ruleOf(text: string): unknown {
  if (!text.startsWith('{')) return text
  try {
    const rule: unknown = parse(text)
    if (typeof rule === 'object' && rule !== null) return rule
  } catch {
    // A template such as {brand}-{sku} is no YAML mapping.
  }
  return text
}

async function guessOrExplain(from: string, guess: () => Promise<FeedGuess>): Promise<FeedGuess> {
  try {
    return await guess()
  } catch (error) {
    if (error instanceof FileRefusedError || systemErrorCode(error) !== 'ENOENT') throw error
    throw new ConfigError('file-missing', `there is no file ${from}`, {
      hint: 'Check the path behind --from',
      cause: error,
    })
  }
}

/** An empty answer leaves the guess as it is. */
async function askOpen(context: CommandContext, guess: FeedGuess, given: Given): Promise<Given> {
  const asked: { -readonly [Key in keyof Given]: Given[Key] } = { ...given }
  for (const line of guess.open) {
    if (/shopUrl|fields\.url/.test(line) && asked.shopUrl === undefined) {
      const question = 'Address of the shop, such as https://shop.example (empty: later):'
      asked.shopUrl = await askFor(context, question, shopUrlOption)
    } else if (/currency/.test(line) && asked.currency === undefined) {
      const question = 'Currency of the prices, such as EUR (empty: later):'
      asked.currency = await askFor(context, question, currencyOption)
    } else if (/product_id/.test(line) && asked.id === undefined) {
      const answer = await ask(context, `${line}\nColumn (or rule) of the product id (empty: as guessed):`)
      asked.id = answer === '' ? undefined : ruleOf(answer)
    }
  }
  return asked
}

/** Asks until the answer can be read; undefined where it is empty. */
async function askFor(
  context: CommandContext,
  question: string,
  read: (text: string) => string,
): Promise<string | undefined> {
  for (;;) {
    const answer = await ask(context, question)
    if (answer === '') return undefined
    try {
      return read(answer)
    } catch (error) {
      if (!(error instanceof InvalidArgumentError)) throw error
      context.note(error.message)
    }
  }
}

async function write(file: string, guess: FeedGuess): Promise<{ dropDir: string }> {
  const { feedText } = await import('../operations/guess/feed-text.ts')
  const folder = dirname(resolve(file))
  const up = basename(folder) === 'config' ? '..' : '.'
  const place = [
    { key: 'drop', value: `${up}/drop/products`, comment: 'files that are put here are imported' },
    { key: 'files', value: '*', comment: 'which of them; such as "*.csv"' },
    {
      key: 'mode',
      value: 'full',
      comment: 'the whole catalogue: what is no longer in it is out of stock; or delta',
    },
  ]
  const text = `# Guessed from ${safeLine(guess.name)} (${guess.dialect}, ${guess.records} records). Look at the lines that say CHECK.
state: ${up}/state
catalogs:
  main:
    api:
      url: \${CATALOG_API_URL}               # of your account; "catalogd sandbox" prints one to try
      productsToken: \${API_PRODUCTS_TOKEN}
    feeds:
${feedText('products', [...place, ...guess.lines], 6)}`
  const dropDir = join(folder, up, 'drop/products')
  try {
    await mkdir(folder, { recursive: true })
    await writeFile(file, text, { flag: 'wx' })
    await writeEnvFile(file)
    await mkdir(dropDir, { recursive: true })
  } catch (error) {
    throwUnwritable(file, error)
  }
  return { dropDir }
}
