import { request } from 'undici'
import type { ImportReport } from '../imports/report.ts'
import { listImports } from '../operations/list-imports.ts'
import { type CatalogStatus, readStatus } from '../operations/read-status.ts'
import type { TemporaryDaemon } from './temporary-daemon.ts'

/** Of `/sandbox/summary`, what the quickstart shows. */
export interface SandboxSummary {
  products: number
  documentsReceived: number
  calls: { total: number }
  bytes: number
  largestCallBytes: number
  overlapping: { count: number }
  consents: { granted: number; revoked: number; calls: { total: number } }
}

/** Of `/sandbox/products/<id>`. Times are milliseconds since the epoch, with fractions. */
export interface ReceivedProduct {
  times: number
  receivedAtMs: number[]
  document: { name: string; price: number; description: string }
}

const lookEveryMs = 10
const patienceMs = 60_000

/** Looks at the daemon as `status` and `imports` do, and at the sandbox over HTTP. */
export class Observer {
  readonly #daemon: TemporaryDaemon

  constructor(daemon: TemporaryDaemon) {
    this.#daemon = daemon
  }

  async status(): Promise<CatalogStatus> {
    const { operation } = this.#daemon
    const { catalogs } = await readStatus(operation, [operation.catalog])
    const [status] = catalogs
    if (status === undefined) throw new Error('the daemon shows no catalog')
    return status
  }

  summary(): Promise<SandboxSummary> {
    return this.#get('/sandbox/summary') as Promise<SandboxSummary>
  }

  product(id: string): Promise<ReceivedProduct> {
    return this.#get(`/sandbox/products/${encodeURIComponent(id)}`) as Promise<ReceivedProduct>
  }

  /** The report of the newest file, once it has this name and is imported. */
  imported(file: string): Promise<ImportReport> {
    return this.#until(`the import of ${file}`, async () => {
      const [newest] = await listImports(this.#daemon.operation, 1)
      return newest?.file === file ? (newest.report ?? undefined) : undefined
    })
  }

  /** Everything that changed is acknowledged. */
  delivered(): Promise<CatalogStatus> {
    return this.#until('the deliveries', async () => {
      const status = await this.status()
      const { pending, inFlight } = status.overview
      return pending === 0 && inFlight === 0 ? status : undefined
    })
  }

  /** Every consent that was taken in is acknowledged. */
  async consentsDelivered(): Promise<void> {
    await this.#until('the consents', async () => {
      const { consents } = await this.status()
      return consents?.pending === 0 && consents.inFlight === 0 ? consents : undefined
    })
  }

  /** The product has been sent more often than `times`. */
  receivedAgain(id: string, times: number): Promise<ReceivedProduct> {
    return this.#until(`product ${id}`, async () => {
      const product = await this.product(id)
      return product.times > times ? product : undefined
    })
  }

  async #get(path: string): Promise<unknown> {
    const response = await request(this.#daemon.sandboxUrl + path)
    if (response.statusCode !== 200) {
      throw new Error(
        `the sandbox answered ${path} with ${response.statusCode}: ${await response.body.text()}`,
      )
    }
    return response.body.json()
  }

  async #until<Seen>(what: string, look: () => Promise<Seen | undefined>): Promise<Seen> {
    const { clock, signal } = this.#daemon.operation
    const giveUpAt = clock.monotonic() + patienceMs
    for (;;) {
      const seen = await Promise.race([look(), this.#daemon.failed])
      if (seen !== undefined) return seen
      if (clock.monotonic() > giveUpAt) throw new Error(`${what} did not come within ${patienceMs / 1000} s`)
      await clock.sleep(lookEveryMs, signal)
    }
  }
}
