import type { FastifyInstance, FastifyReply } from 'fastify'
import type { Clock } from '../lib/clock.ts'
import type { Sample } from './figures.ts'

interface Stream {
  /** The content of the page as it is now. */
  render: () => Promise<string>
  samples: () => readonly Sample[]
  everyMs: number
}

/** A browser shows a page again when the stream of its events was closed. */
const streamsMax = 64
const beatMs = 15_000
/** Reading what a page shows takes at most this share of the time. */
const restShare = 40

/**
 * Pages that somebody looks at, as server-sent events: `page` has the content whenever it is another one, `samples` the
 * points of the charts, all at first and then the new ones.
 */
export class LivePages {
  readonly #clock: Clock
  readonly #open = new Set<AbortController>()

  constructor(app: FastifyInstance, clock: Clock) {
    this.#clock = clock
    // Before the server waits for its connections.
    app.addHook('preClose', async () => {
      for (const stream of this.#open) stream.abort()
    })
  }

  serve(reply: FastifyReply, stream: Stream): void {
    const [oldest] = this.#open
    if (this.#open.size >= streamsMax) oldest?.abort()
    const stop = new AbortController()
    this.#open.add(stop)
    reply.hijack()
    const { raw } = reply
    raw.on('close', () => stop.abort())
    raw.writeHead(200, {
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store',
      'x-accel-buffering': 'no',
    })
    const send = (event: string, data: string) =>
      raw.write(`event: ${event}\ndata: ${data.replaceAll('\n', '\ndata: ')}\n\n`)
    this.#run({ ...stream, send, beat: () => raw.write(': still here\n\n'), signal: stop.signal })
      .catch(() => undefined)
      .finally(() => {
        this.#open.delete(stop)
        raw.end()
      })
  }

  async #run({ render, samples, everyMs, send, beat, signal }: Running): Promise<void> {
    let shown: string | undefined
    let sampledMs = 0
    let sentAt = this.#clock.monotonic()
    while (!signal.aborted) {
      const begin = this.#clock.monotonic()
      const points = samples().filter(({ atMs }) => atMs > sampledMs)
      sampledMs = points.at(-1)?.atMs ?? sampledMs
      if (points.length > 0) send('samples', JSON.stringify(points))
      const content = await render()
      if (content !== shown) send('page', content)
      else if (begin - sentAt > beatMs) beat()
      if (content !== shown || begin - sentAt > beatMs) sentAt = begin
      shown = content
      const tookMs = this.#clock.monotonic() - begin
      await this.#clock.sleep(Math.max(everyMs, tookMs * restShare), signal)
    }
  }
}

interface Running extends Stream {
  send: (event: string, data: string) => void
  beat: () => void
  signal: AbortSignal
}
