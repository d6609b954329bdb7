import { rename } from 'node:fs/promises'
import { join } from 'node:path'
import { callBytesMax } from '../lib/call-bytes.ts'
import type { Clock } from '../lib/clock.ts'
import { type Answered, askIntent, openIntent } from '../operations/ask-intent.ts'
import { showConsents } from './consent-tour.ts'
import { Observer, type ReceivedProduct } from './observer.ts'
import { count, printTable, printText, printTitle } from './print.ts'
import { type SampleOptions, sampleId, writeSampleFeed } from './sample-feed.ts'
import { showStack } from './stack-tour.ts'
import type { TemporaryDaemon } from './temporary-daemon.ts'

const products = 5_000
const repriced = 1_204
const reworded = 3_417
const edits = {
  products,
  isRepriced: (product: number) => product === repriced,
  isReworded: (product: number) => product === reworded,
} satisfies SampleOptions

/** Long enough to be seen waiting, short enough to be waited for. */
export const deferredAfterSeconds = 10

/** Shows what catalogd does with a sample catalogue. All numbers that it prints are measured while it runs. */
export class Tour {
  readonly #daemon: TemporaryDaemon
  readonly #observer: Observer
  readonly #clock: Clock

  constructor(daemon: TemporaryDaemon) {
    this.#daemon = daemon
    this.#observer = new Observer(daemon)
    this.#clock = daemon.operation.clock
  }

  async show(): Promise<void> {
    await this.#loadCatalogue()
    const edited = await this.#editTwoProducts()
    await this.#repeatCatalogue()
    // The description waits meanwhile.
    await showConsents(this.#daemon, this.#observer)
    await showIntent(this.#daemon)
    await showStack(this.#daemon)
    await this.#waitForDescription(edited)
    await this.#sumUp()
  }

  async #loadCatalogue(): Promise<void> {
    printTitle('1. A catalogue arrives')
    const file = 'catalogue_full.csv'
    const bytes = await this.#write(file, { products })
    printText(
      `${count(products)} products, ${megabytes(bytes)} of CSV with 27 columns, are renamed into the folder.`,
    )
    const startedMs = this.#clock.monotonic()
    await this.#drop(file)
    const report = await this.#observer.imported(file)
    const importedMs = this.#clock.monotonic() - startedMs
    await this.#observer.delivered()
    const seconds = (this.#clock.monotonic() - startedMs) / 1000
    const summary = await this.#observer.summary()
    printTable([
      ['records', `${count(report.records)} read and checked, ${report.rejected} rejected`],
      ['products', `${count(summary.products)} at the sandbox`],
      [
        'calls',
        `${summary.calls.total}, the largest of ${count(summary.largestCallBytes)} bytes (${count(callBytesMax)} are allowed)`,
      ],
      ['bytes', count(summary.bytes)],
      [
        'seconds',
        `${seconds.toFixed(1)} from the rename to the last acknowledgement, ${(importedMs / 1000).toFixed(1)} of them importing`,
      ],
    ])
  }

  async #editTwoProducts(): Promise<{ droppedAtMs: number; before: ReceivedProduct }> {
    printTitle('2. One price and one description change')
    const [price, description] = [sampleId(repriced), sampleId(reworded)]
    const priceBefore = await this.#observer.product(price)
    const before = await this.#observer.product(description)
    const file = 'edits_delta.csv'
    await this.#write(file, {
      ...edits,
      isIncluded: (product) => product === repriced || product === reworded,
    })
    printText('A file with these two products is renamed into the folder.')
    const droppedAtMs = await this.#drop(file)
    const priced = await this.#observer.receivedAgain(price, priceBefore.times)
    const { deferred } = (await this.#observer.status()).overview.lanes
    const tookMs = (priced.receivedAtMs.at(-1) ?? Number.NaN) - droppedAtMs
    printTable([
      [
        'price',
        `${price}: ${money(priceBefore)} → ${money(priced)}, at the sandbox ${Math.ceil(tookMs)} ms after the rename`,
      ],
      [
        'description',
        `${description}: ${deferred.waiting} waiting in the lane "deferred", due in ${(deferred.dueInMs / 1000).toFixed(1)} s`,
      ],
    ])
    printText(
      `Edits wait for others of the same product: ${deferredAfterSeconds} s here, 15 minutes unless configured.`,
    )
    return { droppedAtMs, before }
  }

  /** While the description waits. */
  async #repeatCatalogue(): Promise<void> {
    printTitle('3. Meanwhile, the whole catalogue once more')
    const file = 'again_full.csv'
    await this.#write(file, edits)
    const before = await this.#observer.summary()
    await this.#drop(file)
    const report = await this.#observer.imported(file)
    const after = await this.#observer.summary()
    printTable([
      [
        'records',
        `${count(report.records)} read, ${count(report.unchanged)} unchanged, in ${report.seconds.toFixed(1)} s`,
      ],
      ['sent', count(after.documentsReceived - before.documentsReceived)],
    ])
  }

  async #waitForDescription({ droppedAtMs, before }: { droppedAtMs: number; before: ReceivedProduct }) {
    printTitle('7. The description, when its time has come')
    const id = sampleId(reworded)
    const described = await this.#observer.receivedAgain(id, before.times)
    const seconds = ((described.receivedAtMs.at(-1) ?? Number.NaN) - droppedAtMs) / 1000
    const ending = described.document.description.split('\n').at(-1)
    printTable([
      ['description', `${id}: now ends with “${ending}”, ${seconds.toFixed(1)} s after the rename`],
    ])
  }

  async #sumUp(): Promise<void> {
    const { overview } = await this.#observer.delivered()
    const { documentsReceived, calls, overlapping, consents } = await this.#observer.summary()
    printText(
      `\nIn all: ${count(documentsReceived)} documents in ${calls.total} calls, ${overlapping.count} products in two calls at once, ${overview.pending} still to send; ${consents.calls.total} consent calls.`,
    )
  }

  #write(file: string, options: SampleOptions): Promise<number> {
    return writeSampleFeed(join(this.#daemon.workDir, file), options)
  }

  /** Answers the time of the rename. */
  async #drop(file: string): Promise<number> {
    const atMs = this.#clock.now()
    await rename(join(this.#daemon.workDir, file), join(this.#daemon.dropDir, file))
    return atMs
  }
}

function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB`
}

function money({ document }: ReceivedProduct): string {
  return document.price.toFixed(2)
}

const prompts = ['a moss rain jacket, in stock, under 250 euros', 'only cheaper ones']

/** The ranking says the rest. */
const wordsMax = 90

/** Two questions of one conversation about the products that were just delivered. */
async function showIntent({ operation }: TemporaryDaemon): Promise<void> {
  printTitle('5. What a shopper is after')
  const { config, clock, signal } = operation
  await using client = openIntent({ config, clock })
  const partnerId = config.intent.partnerId.value()
  let chatId: string | undefined
  for (const prompt of prompts) {
    const startedMs = clock.monotonic()
    const answered = await askIntent(client, { prompt, partnerId, customerId: 'visitor-1', chatId }, signal)
    const tookMs = clock.monotonic() - startedMs
    printText(
      `  $ catalogd intent "${prompt}" --customer visitor-1${chatId === undefined ? '' : ' --chat …'}`,
    )
    printAnswer(answered, tookMs)
    chatId = answered.chatId
  }
}

function printAnswer({ response }: Answered, tookMs: number): void {
  const { agentInsight: insight, agentProductRecommendations: products } = response
  const rows = (products ?? []).map(
    ({ productId, name, price, currencyCode, priceCurrencyCode, availability }) =>
      [productId, `${price} ${priceCurrencyCode ?? currencyCode ?? ''}  ${name} (${availability})`] as const,
  )
  if (insight) printText(`  “${insight.slice(0, wordsMax)}…”`)
  printTable([...rows, ['answered', `in ${Math.ceil(tookMs)} ms`]])
}
