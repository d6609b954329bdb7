import { createReadStream } from 'node:fs'
import { parse } from 'csv-parse'

/** Bytes of a call, as the endpoint allows it. */
const callBytes = 2_000_000

type Row = Record<string, string>

function rowsOf(file: string) {
  return createReadStream(file, { highWaterMark: 1 << 20 }).pipe(parse({ columns: true }))
}

/** The bulk helper of Elasticsearch's client behind csv-parse: no mapping, no checks, nothing compared, nothing durable. */
export async function loadBulk() {
  const { Client } = await import('@elastic/elasticsearch')
  return async (file = '', url = ''): Promise<number> => {
    const client = new Client({ node: url })
    const { bytes } = await client.helpers.bulk({
      datasource: rowsOf(file),
      flushBytes: callBytes,
      onDocument: ({ sku }: Row) => ({ index: { _index: 'products', _id: String(sku) } }),
    })
    await client.close()
    return bytes
  }
}

/** What many write first: parse, collect, send, and wait for the answer. */
export async function runFetchLoop(file = '', url = ''): Promise<number> {
  let sent = 0
  let waiting: string[] = []
  let bytes = 0
  const flush = async () => {
    const body = `[${waiting.join(',')}]`
    waiting = []
    bytes = 0
    const response = await fetch(`${url}/v1/products/upsert`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
    })
    await response.text()
    sent += 1
  }
  for await (const row of rowsOf(file)) {
    const document = JSON.stringify(row)
    const size = Buffer.byteLength(document) + 1
    if (bytes + size + 1 > callBytes) await flush()
    waiting.push(document)
    bytes += size
  }
  if (waiting.length > 0) await flush()
  return sent
}
