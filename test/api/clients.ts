import type { ClientOptions, RequestOptions } from '../../src/api/api-caller.ts'
import { CatalogClient } from '../../src/api/catalog-client.ts'
import { ConsentClient } from '../../src/api/consent-client.ts'
import type { Product } from '../../src/api/contract/product.ts'
import { IntentClient } from '../../src/api/intent-client.ts'
import { StackClient } from '../../src/api/stack-client.ts'

export const token = 'sÉcret/token+1'
/** With characters that are escaped in paths, queries and JSON. */
export const email = "Jo.o'neil+shop@example.com"

export const product = (id: string, more: Partial<Product> = {}): Product => ({
  product_id: id,
  name: `Product ${id}`,
  url: 'https://shop.example/p',
  image_url: 'https://shop.example/p.jpg',
  availability: 'InStock',
  price: 1,
  price_currency_code: 'EUR',
  ...more,
})

export const question = { prompt: 'a red kettle', customerId: 'c-1', partnerId: 'p-1', chatId: 'chat-1' }

interface Case {
  open: (options: ClientOptions & { token?: string | (() => string) }) => AsyncDisposable
  /** One plain call. */
  call: (client: never, options?: RequestOptions) => Promise<unknown>
  method: string
  /** As errors show it. */
  path: string
}

/** One call of each client, for what all of them must do. */
export const cases: Record<string, Case> = {
  CatalogClient: {
    open: (options) => new CatalogClient({ token, ...options }),
    call: (client: CatalogClient, options) => client.upsert([product('1'), product('2')], options),
    method: 'POST',
    path: '/v1/products/upsert',
  },
  'CatalogClient probe': {
    open: (options) => new CatalogClient({ token, ...options }),
    call: (client: CatalogClient, options) => client.probe(options),
    method: 'POST',
    path: '/v1/products/upsert',
  },
  ConsentClient: {
    open: (options) => new ConsentClient({ token, ...options }),
    call: (client: ConsentClient, options) => client.set(email, true, options),
    method: 'POST',
    path: '/api/v1/customers/consent/…/true',
  },
  IntentClient: {
    open: (options) => new IntentClient({ token, ...options }),
    call: (client: IntentClient, options) => client.ask(question, options),
    method: 'POST',
    path: '/api',
  },
  'StackClient get': {
    open: (options) => new StackClient({ stack: 'my stack', accessToken: token, ...options }),
    call: (client: StackClient, options) => client.terms.get(7, options),
    method: 'GET',
    path: '/api/terms/7',
  },
  'StackClient update': {
    open: (options) => new StackClient({ stack: 'my stack', accessToken: token, ...options }),
    call: (client: StackClient, options) => client.users.update(7, { email }, options),
    method: 'PUT',
    path: '/api/users/7',
  },
}
