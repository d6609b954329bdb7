import { z } from 'zod'
import { filledText, integer, plainBoolean } from './fields.ts'
import { isCountryCode, isLanguageCode } from './values.ts'

export const recommendationsDefault = 3
export const recommendationsMax = 20

const shape = {
  prompt: filledText('What the shopper is after, in free words'),
  customerId: filledText("The shopper: value of the visitor's 2c.cId cookie"),
  partnerId: filledText('Identifier of the partner, issued by the service'),
  chatId: filledText('Identifier of the conversation, chosen by the caller'),
  country: z.string().refine(isCountryCode).optional().meta({
    description: 'ISO 3166 alpha-2 code of the store; Shopify merchants must give it',
    kind: 'text',
    pattern: '^[A-Za-z]{2}$',
    expected: 'the ISO 3166 alpha-2 code of a country such as DE',
    remedy: 'give the two letters of the country',
  }),
  locale: z.string().refine(isLanguageCode).optional().meta({
    kind: 'text',
    description: 'Language code of the store; Shopify merchants must give it',
    expected: 'a language code such as en or pt-BR',
    remedy: 'give the code of the language, not its name',
  }),
  rankingOnly: plainBoolean('Only rank products: no answer in words, and less waiting').default(false),
  maxAgentRecommendations: integer('How many products come back at most')
    .min(1)
    .max(recommendationsMax)
    .nullable()
    .default(recommendationsDefault),
  giveAgentContext: plainBoolean('Explain the selection in agentContext').default(false),
  responseFormat: filledText('Of the answer in words: plain text when left out, or markdown').optional(),
}

/** A shopper-intent request. `z.input` is what a caller gives, `z.output` has the defaults. */
export const intentRequestSchema = z.strictObject(shape)
export type IntentRequest = z.input<typeof intentRequestSchema>
export type CheckedIntentRequest = z.output<typeof intentRequestSchema>

/** The same for a Shopify merchant, who must name country and language of the store. */
export const shopifyIntentRequestSchema = z.strictObject({
  ...shape,
  country: shape.country.unwrap(),
  locale: shape.locale.unwrap(),
})

const nullableText = z.string().nullish()
const nullableNumber = z.number().nullish()
const nullableInteger = z.int().nullish()
const nullableBoolean = z.boolean().nullish()

export const recommendedSkuSchema = z.looseObject({
  id: z.string(),
  inventoryLevel: nullableInteger,
  availability: nullableText,
  name: nullableText,
})

export const recommendationSchema = z.looseObject({
  productId: z.string(),
  name: nullableText,
  url: nullableText,
  description: nullableText,
  imageUrl: nullableText,
  brand: nullableText,
  availability: nullableText,
  currencyCode: nullableText,
  priceCurrencyCode: nullableText,
  price: nullableNumber,
  listPrice: nullableNumber,
  ratingValue: nullableNumber,
  reviewCount: nullableInteger,
  inventoryLevel: nullableInteger,
  isExcluded: nullableBoolean,
  onDiscount: nullableBoolean,
  skus: z.array(recommendedSkuSchema).nullish(),
})
export type Recommendation = z.infer<typeof recommendationSchema>

/** Unknown fields of a response are kept. */
export const intentResponseSchema = z.looseObject({
  agentInsight: z.string().nullish().meta({ description: 'Answer in words; empty when rankingOnly' }),
  agentContext: z.string().nullish().meta({ description: 'Why these products; when giveAgentContext' }),
  agentProductRecommendations: z.array(recommendationSchema).nullish().meta({ description: 'Best first' }),
})
export type IntentResponse = z.infer<typeof intentResponseSchema>
