import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { expect } from 'vitest'
import type { Document } from './versions.ts'

/** One call that arrived, whatever came of it. */
export interface RecordedCall {
  /** Of the process that made it. */
  token: string
  ids: readonly string[]
}

/**
 * A real HTTP server that knows nothing of catalogd: it takes products and consents, and holds what it took last of each.
 * `status` is what it answers; a product whose id is in `refused` makes it refuse the whole call, without naming it.
 */
export async function openRecordingEndpoint({ latencyMs = 0 } = {}) {
  const recorded = {
    products: new Map<string, Document>(),
    consents: new Map<string, boolean>(),
    /** Those with products. */
    calls: [] as RecordedCall[],
    refused: new Set<string>(),
    status: 200,
  }
  const take = (documents: readonly Document[]): number => {
    if (recorded.status !== 200) return recorded.status
    if (documents.some(({ product_id: id }) => recorded.refused.has(String(id)))) return 400
    for (const document of documents) recorded.products.set(String(document.product_id), document)
    return 200
  }
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    await delay(latencyMs)
    const [flag = '', email = ''] = (request.url ?? '').split('/').reverse()
    let status = 200
    if (request.url?.endsWith('/v1/products/upsert')) {
      const documents = JSON.parse(Buffer.concat(chunks).toString()) as Document[]
      const token = atob((request.headers.authorization ?? '').replace('Basic ', '')).replace(':', '')
      const ids = documents.map(({ product_id: id }) => String(id))
      if (ids.length > 0) recorded.calls.push({ token, ids })
      status = take(documents)
    } else recorded.consents.set(decodeURIComponent(email), flag === 'true')
    response.writeHead(status, { 'content-type': 'application/json' }).end('{}')
  }
  const server = createServer((request, response) => void answer(request, response).catch(() => undefined))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return Object.assign(recorded, {
    url: `http://127.0.0.1:${port}`,
    /** As a site expects it of a sandbox. */
    tokens: {} as never,
    stackName: '',
    /** The newest state of every product, and no other product. */
    expectHeld(expected: ReadonlyMap<string, Document>, what = '') {
      const wrong = [...expected].filter(([id, document]) => !isSame(recorded.products.get(id), document))
      const foreign = [...recorded.products.keys()].filter((id) => !expected.has(id))
      const [first] = wrong
      const example = first && { got: recorded.products.get(first[0]), wanted: first[1] }
      expect({ what, stale: wrong.length, example, foreign }).toEqual({
        ...{ what, stale: 0, example: undefined, foreign: [] },
      })
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  })
}

export type RecordingEndpoint = Awaited<ReturnType<typeof openRecordingEndpoint>>

function isSame(one: Document | undefined, other: Document): boolean {
  const text = (document: Document) =>
    JSON.stringify(Object.entries(document).sort(([a], [b]) => (a < b ? -1 : 1)))
  return one !== undefined && text(one) === text(other)
}

const columns = 'product_id,name,url,image_url,availability,price,price_currency_code,description'

/**
 * A full file whose values return: in every version a third of the products has one of two prices, a third is in stock or
 * not, a third has one of three texts. `catalog` tells the products of two installations apart.
 */
export function returningFile(version: number, { products = 400, catalog = 'A' } = {}) {
  const documents = new Map<string, Document>()
  for (let place = 0; place < products; place += 1) {
    const id = `${catalog}${String(place).padStart(5, '0')}`
    documents.set(id, {
      ...{ product_id: id, name: `Pan ${place}`, url: `https://shop.example/${id}` },
      image_url: `https://shop.example/${id}.jpg`,
      availability: place % 3 === 1 && version % 2 === 0 ? 'OutOfStock' : 'InStock',
      price: 10 + (place % 3 === 0 ? version % 2 : 0),
      price_currency_code: 'EUR',
      description: `It lasts for years. ${place % 3 === 2 ? version % 3 : 0} `.repeat(20).trim(),
    })
  }
  const rows = [...documents.values()].map((document) => Object.values(document).join(','))
  return { documents, text: `${[columns, ...rows].join('\n')}\n` }
}
