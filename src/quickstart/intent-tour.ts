import { type Answered, askIntent, openIntent } from '../operations/ask-intent.ts'
import { printTable, printText, printTitle } from './print.ts'
import type { TemporaryDaemon } from './temporary-daemon.ts'

const prompts = ['a moss rain jacket, in stock, under 250 euros', 'only cheaper ones']

/** The ranking says the rest. */
const wordsMax = 90

/** Two questions of one conversation about the products that were just delivered. */
export async function showIntent({ operation }: TemporaryDaemon): Promise<void> {
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
