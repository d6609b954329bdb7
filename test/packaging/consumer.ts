/** Programs of somebody who has installed the package: one in plain JavaScript, and one that only the compiler sees. */

export const javaScriptConsumer = `
import { ApiResponseError, CatalogClient, ConsentClient, flattenView, IntentClient, StackClient } from 'catalogd'
import { productFields } from 'catalogd/contract/product'
import { buildOpenApi } from 'catalogd/contract/openapi'

const url = process.argv[2]
const product = {
  product_id: '1', name: 'Kettle', url: 'https://shop.example/1', image_url: 'https://shop.example/1.jpg',
  availability: 'InStock', price: 12.5, price_currency_code: 'EUR',
}
const catalog = new CatalogClient({ url, token: 'products-token' })
const consents = new ConsentClient({ url, token: 'email-token' })
const intent = new IntentClient({ url, token: 'intent-token', partnerId: 'p' })
const stack = new StackClient({ url, accessToken: 'stack-token', stack: 's' })

const terms = []
for await (const term of stack.terms.all()) terms.push(term.id)
const refused = await stack.rules.get(404).catch((error) => error)
console.log(JSON.stringify({
  upsert: await catalog.upsert([product]),
  consent: (await consents.set('jo@example.com', true)) ?? 'done',
  intent: await intent.ask({ prompt: 'a kettle', customerId: 'c', chatId: 'x' }),
  terms,
  refused: [refused instanceof ApiResponseError, refused.status, refused.serverMessage],
  view: flattenView({ column: { tags_col: true } }),
  contract: [productFields.length > 20, buildOpenApi({ version: '1' }).openapi.slice(0, 4)],
}))
// No close(): idle connections keep no process alive.
`

export const typeScriptConsumer = `
import {
  ApiCallError, ApiResponseError, CatalogClient, ConsentClient, ContractError, flattenView, IntentClient,
  type ModerationViewWrite, type Product, type Rule, StackClient, type StackPage, type Term, type UpsertResult, type User,
} from 'catalogd'
import { endpoints } from 'catalogd/contract/endpoints'
import { productSchema } from 'catalogd/contract/product'
import { contractProblems } from 'catalogd/contract/problems'

export async function use(url: string, products: Iterable<Product>, signal: AbortSignal): Promise<string[]> {
  await using catalog = new CatalogClient({ url, token: () => 'token', merchantId: 'm', timeoutMs: 1000 })
  const result: UpsertResult = await catalog.upsert(products, { signal })
  await using consents = new ConsentClient({ url: new URL(url), token: 'token', path: '/v1/customers/consent' })
  await consents.set('jo@example.com', false, { signal })
  await using intent = new IntentClient({ url, shopify: true, country: 'US', locale: 'en' })
  const answer = await intent.ask({ prompt: 'p', customerId: 'c', chatId: 'x', maxAgentRecommendations: 20 })
  const prices: (number | null | undefined)[] = (answer.agentProductRecommendations ?? []).map(({ price }) => price)
  await using stack = new StackClient({ url, accessToken: 'token', stack: 's', onWait: ({ waitMs }) => void waitMs })
  const rules: Rule[] = await stack.rules.list()
  const page: StackPage<User> = await stack.users.list({ limit: 100, orderBy: 'email' })
  const terms: Term[] = await Array.fromAsync(stack.terms.all({ limit: 50 }, { signal }))
  const [view] = await stack.views.list()
  const write: ModerationViewWrite = flattenView(view ?? {})
  const unknownField: unknown = terms[0]?.anything
  return [
    ...result.taken, ...result.refused.flatMap(({ reasons }) => reasons), String(prices), String(rules.length),
    String(page.total), String(write.columns_tags_col), String(unknownField), endpoints.listTerms.path,
    ...contractProblems(productSchema, {}).map(({ message }) => message),
  ]
}

export function explain(error: unknown): string | undefined {
  if (error instanceof ApiResponseError) return error.status + ' ' + error.serverMessage + ' ' + error.requestId
  if (error instanceof ApiCallError) return error.method + ' ' + error.path + ' ' + error.mayHaveTakenEffect
  return error instanceof ContractError ? error.problems.map(({ field }) => field).join() : undefined
}
`

/** Each line after the first four is wrong for its own reason. */
export const wrongConsumer = `import { StackClient } from 'catalogd'

const { rules, terms, users } = new StackClient({ url: 'https://api.example', accessToken: 'token', stack: 's' })

await users.list({ orderBy: 'age' })
await users.create({ name: 'Jo' })
await rules.create({ name: 'x', action: [], enabled: 1, type: 'tile' })
await terms.update(1, { type: 'user' })
`

/** As strict as a consumer may be, and over the declarations of the package too. */
export const compilerOptions = {
  target: 'es2024',
  lib: ['esnext'],
  module: 'nodenext',
  strict: true,
  noEmit: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  skipLibCheck: false,
  types: ['node'],
}
