import http from 'node:http'

// A process of its own that counts the bytes of calls and answers like the real endpoint, or like Elasticsearch's bulk.
// endpoint-process.ts [latency in ms]

const latencyMs = Number(process.argv[2] ?? 0)
/** Prices that a latency bench gives; no product of the samples costs as much. */
const watchedPrice = '"price":777'

const state = {
  bytes: 0,
  sizes: [] as number[],
  firstMs: 0,
  lastMs: 0,
  watches: false,
}

const answers: Record<string, () => object> = {
  '/stats': () => state,
  '/reset': () => Object.assign(state, { bytes: 0, sizes: [], firstMs: 0, lastMs: 0 }),
  '/watch': () => Object.assign(state, { watches: true }),
}

const server = http.createServer((request, response) => {
  const own = answers[request.url ?? '']
  response.setHeader('content-type', 'application/json; charset=utf-8')
  // Its client refuses any other server.
  response.setHeader('x-elastic-product', 'Elasticsearch')
  if (own) {
    request.resume()
    response.end(JSON.stringify(own()))
    return
  }
  let bytes = 0
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => {
    bytes += chunk.length
    if (state.watches) chunks.push(chunk)
  })
  request.on('end', () => {
    state.bytes += bytes
    state.sizes.push(bytes)
    if (state.watches) noteWatched(Buffer.concat(chunks))
    // Without items the helper of Elasticsearch has the least to do.
    const body = request.url?.startsWith('/_bulk') ? '{"took":1,"errors":false,"items":[]}' : '{}'
    const answer = () => {
      state.lastMs = Date.now()
      state.firstMs ||= state.lastMs
      response.end(body)
    }
    if (latencyMs === 0) answer()
    else setTimeout(answer, latencyMs)
  })
})

function noteWatched(body: Buffer): void {
  const now = performance.timeOrigin + performance.now()
  for (let at = body.indexOf(watchedPrice); at >= 0; at = body.indexOf(watchedPrice, at + 1)) {
    const price = /\d+/.exec(body.toString('latin1', at, at + 30))?.[0] ?? ''
    process.send?.({ price, atMs: now })
  }
}

server.listen(0, '127.0.0.1', () => process.send?.({ port: (server.address() as { port: number }).port }))
process.on('disconnect', () => process.exit())
