import { type ScrapeOptions, Scraper } from './scrape.ts'

/** Often enough for charts; so long a scrape is answered as the last one was, whoever asks. */
const freshMs = 1_000

interface Metrics extends Disposable {
  /** In the format that the Accept header asks for. */
  read: (accept: string | undefined) => Promise<{ contentType: string; body: string }>
}

/** What is needed for a scrape is opened, and read from the disk, at the first one. */
export function openMetrics(options: ScrapeOptions): Metrics {
  let scraper: Scraper | undefined
  let last: { atMs: number; figures: ReturnType<Scraper['read']> } | undefined
  return {
    async read(accept) {
      const { formatMetrics } = await import('./exposition.ts')
      scraper ??= new Scraper(options)
      const nowMs = options.clock.monotonic()
      if (last === undefined || nowMs - last.atMs > freshMs) last = { atMs: nowMs, figures: scraper.read() }
      return await formatMetrics(await last.figures, accept)
    },
    [Symbol.dispose]: () => scraper?.[Symbol.dispose](),
  }
}
