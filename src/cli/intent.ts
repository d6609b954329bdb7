import { type Recommendation, recommendationsMax } from '../api/contract/intent.ts'
import { ConfigError } from '../lib/errors.ts'
import type { Answered } from '../operations/ask-intent.ts'
import type { CommandDefinition } from './context.ts'
import { wholeNumberOption } from './option-values.ts'
import { cell, formatTable } from './table.ts'

interface IntentOptions {
  customer?: string
  partner?: string
  chat?: string
  country?: string
  locale?: string
  rankingOnly: boolean
  max?: number
  context: boolean
  format?: string
}

export const intentCommand: CommandDefinition<IntentOptions> = {
  usage: 'intent <prompt>',
  summary: 'ask for the products that fit what a shopper is after',
  details:
    'Prints the ranking, best first, and what the service says to it. Follow up with --chat and the conversation that is printed. With --json: the whole response and chatId.',
  examples: [
    'catalogd intent "a pan for induction under 50 euros" --customer 5f3a',
    'catalogd intent "cheaper ones" --customer 5f3a --chat 0b3c… --max 10 --context --format markdown',
  ],
  options: [
    {
      flags: '--customer <id>',
      description: "the shopper: value of the visitor's 2c.cId cookie (required)",
    },
    { flags: '--partner <id>', description: 'partner identifier (default: intent.partnerId)' },
    { flags: '--chat <id>', description: 'conversation to go on with (default: a new one)' },
    { flags: '--country <code>', description: 'ISO 3166 alpha-2 of the store (default: intent.country)' },
    { flags: '--locale <code>', description: 'language of the store (default: intent.locale)' },
    { flags: '--ranking-only', description: 'no answer in words, which takes less time', default: false },
    {
      flags: '--max <n>',
      description: `products at most, 1 to ${recommendationsMax} (default: what the service gives, 3)`,
      parse: wholeNumberOption({ min: 1, max: recommendationsMax }),
    },
    { flags: '--context', description: 'say why these products', default: false },
    {
      flags: '--format <format>',
      description: 'of the answer in words (default: text)',
      choices: ['text', 'markdown'],
    },
  ],
  needsConfigFile: true,
  async run(context, { args: [prompt = ''], options }) {
    if (!options.customer) {
      throw new ConfigError('usage', '--customer is missing', {
        hint: 'Name the shopper: the value of the 2c.cId cookie, or any text of your own to try it',
      })
    }
    const { askIntent, openIntent, partnerOf } = await import('../operations/ask-intent.ts')
    const { config } = await context.loadedConfig()
    const partnerId = partnerOf(config, options.partner)
    await using client = openIntent({ config, clock: context.clock })
    const answered = await askIntent(
      client,
      { ...questionOf(prompt, options, options.customer), partnerId },
      context.signal,
    )
    const { chatId, response } = answered
    context.print({ chatId, ...response }, () => formatAnswer(answered))
  },
}

function questionOf(prompt: string, options: IntentOptions, customerId: string) {
  const { chat, country, locale, rankingOnly, max, context, format } = options
  return {
    prompt,
    customerId,
    chatId: chat,
    country,
    locale,
    rankingOnly: rankingOnly ? true : undefined,
    maxAgentRecommendations: max,
    giveAgentContext: context ? true : undefined,
    responseFormat: format === 'markdown' ? format : undefined,
  }
}

function formatAnswer({ chatId, response }: Answered): string {
  const { agentInsight, agentContext, agentProductRecommendations: products } = response
  const parts = [products && products.length > 0 ? formatRanking(products) : 'No product fits.']
  if (agentInsight) parts.push(agentInsight)
  if (agentContext) parts.push(`Why: ${agentContext}`)
  parts.push(`Conversation: ${cell(chatId, 200)}`)
  return parts.join('\n\n')
}

function formatRanking(products: readonly Recommendation[]): string {
  const rows = products.map((product, index) => [
    index + 1,
    cell(product.productId, 30),
    cell(product.name, 50),
    cell(product.brand, 20),
    priceOf(product),
    cell(product.availability, 15),
    [product.onDiscount ? 'on discount' : '', product.isExcluded ? 'excluded' : '']
      .filter(Boolean)
      .join(', '),
  ])
  return formatTable([['rank', 'product', 'name', 'brand', 'price', 'availability', ''], ...rows])
}

function priceOf({ price, priceCurrencyCode, currencyCode }: Recommendation): string {
  if (price === undefined || price === null) return ''
  return cell(`${price} ${priceCurrencyCode ?? currencyCode ?? ''}`.trim(), 20)
}
