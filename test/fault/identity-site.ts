import { expect, test } from 'vitest'
import { waitFor } from '../support/events.ts'
import { faultScale, type SeededRandom, seededRandom } from './random.ts'
import { type RecordingEndpoint, returningFile } from './recording-endpoint.ts'
import { Site } from './site.ts'

/** `FAULT_SCALE` times, each with what is random in it drawn anew. Most of it waits, so the tests run side by side. */
export function repeat(name: string, run: (random: SeededRandom) => Promise<void>): void {
  test.concurrent(name, { timeout: 600_000 * faultScale }, async () => {
    const random = seededRandom(name)
    for (let done = 1; done <= faultScale; done += 1) {
      await run(random)
      if (faultScale > 1) console.log(`${name}: ${done} of ${faultScale}`)
    }
  })
}

/** What may take effect late ends soon, so that starting over does not wait for minutes. */
const delivery = '{ callBytes: 100KB, concurrency: 4, timeout: 1s, horizon: 1s, callsPerSecond: 200 }'

interface RecordingSiteOptions {
  redisUrl?: string
  endpoint: RecordingEndpoint
  /** Of its products: see `returningFile`. */
  catalog?: string
  products?: number
  token?: string
  /** YAML of further settings of the feed of products. */
  feed?: string
  /** Of the processes; may change between their starts. */
  env?: Readonly<Record<string, string>>
}

/** A site with a feed of products and one of consents, delivering to an endpoint that shares no code with it. */
export async function openRecordingSite({
  endpoint,
  catalog = 'A',
  products = 400,
  feed = '',
  ...options
}: RecordingSiteOptions) {
  const site = await Site.open({
    ...options,
    sandbox: endpoint,
    catalog: (url) => `    api: { url: "${url}", productsTokenFile: ./token, emailToken: email-token }
    delivery: ${delivery}
    deferred: { after: 1s, atMost: 5s }
    feeds:
      products: { drop: ./drop, files: "*_full.csv", settle: 0s${feed} }
      news: { kind: consents, drop: ./drop, files: "*.ndjson", settle: 0s }
`,
  })
  const version = (number: number) => returningFile(number, { catalog, products })
  return Object.assign(site, {
    endpoint,
    version: (number: number) => version(number).documents,
    /** A full file, which does not name the products `without`. */
    async dropVersion(number: number, without: readonly string[] = []) {
      const lines = version(number).text.split('\n')
      const named = lines.filter((line) => !without.some((id) => line.startsWith(`${id},`)))
      await site.drop(`f${String(site.dropped).padStart(3, '0')}_full.csv`, named.join('\n'))
    },
    async dropConsents(consents: Readonly<Record<string, boolean>>) {
      const lines = Object.entries(consents).map(([email, consent]) => JSON.stringify({ email, consent }))
      await site.drop(`${site.dropped}.ndjson`, `${lines.join('\n')}\n`)
      // Whether all is quiet is told by the newest file of products.
      await site.untilAccepted((await site.accepted()).length + 1)
    },
  })
}

/** Starts a daemon, which is to be refused; answers what it says. */
export async function refusalOf(site: Site, ...args: string[]): Promise<string> {
  const child = await site.spawn(...args)
  const isTaken = () => child.stderr.includes('watching and importing')
  await waitFor(() => !child.running || isTaken(), { what: () => `a refusal:\n${child.stderr}` })
  expect(isTaken(), child.stderr).toBe(false)
  const { code } = await child.ended()
  expect(code, child.stderr).not.toBe(0)
  return child.stderr
}
