import { createHash } from 'node:crypto'
import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { decodeState } from '../../catalog/stored-form.ts'
import type { CatalogConfig, Config } from '../../config/model.ts'
import type { ProductId } from '../../lib/brand.ts'
import type { Clock } from '../../lib/clock.ts'
import { isDamaged } from '../../lib/database-failure.ts'
import type { StoredProduct } from '../../mirror/model.ts'
import { ProductScan, type ScannedProduct } from '../../mirror/product-scan.ts'
import { mirrorFileName, openMirror, stateDirOf } from '../../storage.ts'
import { type NamedProduct, WordIndex } from './word-index.ts'

export interface Found {
  products: FoundProduct[]
  /** There are more. */
  more: boolean
  /** Of the index of words, 0 to 1: how far the scan is that fills it; 1: it knows what the mirror has. */
  indexed: number
}

export interface FoundProduct {
  id: string
  name: string
}

interface SearchOptions {
  config: Config
  catalog: CatalogConfig
  clock: Clock
  signal: AbortSignal
}

const noProgress = { after: 0, complete: '' }
const foundMax = 50
const productsPerStep = 200
/** Of its time it works at most a third, so that whoever else needs the disk or a core has them. */
const restShare = 2

/** Products of one catalog by the beginning of their id or by words of their names. */
export class Search {
  readonly #options: SearchOptions

  constructor(options: SearchOptions) {
    this.#options = options
  }

  get #mirrorFile(): string {
    const { config, catalog } = this.#options
    return join(stateDirOf(config, catalog.name), mirrorFileName)
  }

  get #indexFile(): string {
    const { config, catalog } = this.#options
    return join(stateDirOf(config, catalog.name), 'search.db')
  }

  async find(text: string): Promise<Found> {
    if (!existsSync(this.#mirrorFile)) return { products: [], more: false, indexed: 1 }
    const { config, catalog } = this.#options
    using mirror = await openMirror(config, catalog)
    using scan = new ProductScan(this.#mirrorFile)
    using index = this.#openIndex()
    const { after, complete } = index?.progress ?? noProgress
    const isComplete = complete === JSON.stringify(mirror.identity().last)
    const indexed = isComplete ? 1 : Math.min(0.99, after / Math.max(1, scan.lastKey()))
    const given = text.trim()
    if (given === '') return { products: [], more: false, indexed }
    const byId = scan.idsFrom(given, foundMax + 1)
    const byWords = index === undefined ? [] : scan.ids(index.find(given, foundMax + 1))
    const ids = [...new Set([...byId, ...byWords])]
    const products = [...mirror.read(ids.slice(0, foundMax))].map(([id, stored]) => ({
      id,
      name: nameOf(stored),
    }))
    return { products, more: ids.length > foundMax, indexed }
  }

  /**
   * Goes on with the index for so long: all products in the order of their keys, those alone whose document is another one
   * than the index has seen. It stops early when an import shows its progress. Answers which numbers of the mirror it knows
   * by now; undefined: it has not come to the end.
   */
  async work(forMs: number): Promise<string | undefined> {
    if (!existsSync(this.#mirrorFile)) return undefined
    const { config, catalog, clock, signal } = this.#options
    using mirror = await openMirror(config, catalog)
    using scan = new ProductScan(this.#mirrorFile)
    using index = this.#makeIndex()
    const untilMs = clock.monotonic() + forMs
    const numbers = JSON.stringify(mirror.identity().last)
    let progress = index.progress
    if (progress.complete === numbers) return numbers
    while (clock.monotonic() < untilMs && mirror.progress().size === 0 && !signal.aborted) {
      const begin = clock.monotonic()
      const { after, complete } = progress
      const begun = after === 0 ? numbers : progress.begun
      const page = scan.page(after, productsPerStep)
      const until = page.at(-1)?.key ?? Number.MAX_SAFE_INTEGER
      const seen = new Map(index.seen(after, until).map(({ key, version }) => [key, version]))
      const put = changedOf(page, seen, (wanted) => mirror.read(wanted))
      const known = new Set(page.map(({ key }) => key))
      const remove = [...seen.keys()].filter((key) => !known.has(key))
      const isEnd = page.length === 0
      // What changed meanwhile has higher numbers, and the next scan finds it.
      progress = isEnd ? { after: 0, begun: '', complete: begun } : { after: until, begun, complete }
      index.write({ put, remove, progress })
      if (isEnd) return begun
      await clock.sleep((clock.monotonic() - begin) * restShare, signal).catch(() => undefined)
    }
    return undefined
  }

  #openIndex(): WordIndex | undefined {
    if (!existsSync(this.#indexFile)) return undefined
    const index = new WordIndex(this.#indexFile, 'read')
    if (index.isMade) return index
    index[Symbol.dispose]()
    return undefined
  }

  /** A damaged one is made again. */
  #makeIndex(): WordIndex {
    try {
      return new WordIndex(this.#indexFile, 'write')
    } catch (error) {
      if (!isDamaged(error)) throw error
      for (const suffix of ['', '-wal', '-shm']) rmSync(this.#indexFile + suffix, { force: true })
      return new WordIndex(this.#indexFile, 'write')
    }
  }
}

type ReadProducts = (ids: readonly ProductId[]) => ReadonlyMap<ProductId, StoredProduct>

/** Incomplete products have no digest: their names are looked at each time, and there are few. */
function changedOf(page: readonly ScannedProduct[], seen: ReadonlyMap<number, number>, read: ReadProducts) {
  const versions = page.map(({ digest }) => (digest === null ? undefined : versionOf(digest)))
  const wanted = page.filter(({ key }, nth) => versions[nth] === undefined || versions[nth] !== seen.get(key))
  const stored = read(wanted.map(({ id }) => id))
  return wanted.flatMap(({ key, id, digest }): NamedProduct[] => {
    const product = stored.get(id)
    if (product === undefined) return []
    const name = nameOf(product)
    const version =
      digest === null ? versionOf(createHash('sha256').update(name).digest()) : versionOf(digest)
    return seen.get(key) === version ? [] : [{ key, name, version }]
  })
}

function versionOf(digest: Uint8Array): number {
  return Buffer.from(digest.buffer, digest.byteOffset, digest.byteLength).readUIntBE(0, 6)
}

function nameOf({ document, partial, meta }: StoredProduct): string {
  if (meta === undefined) return ''
  const { name } = decodeState({ document, partial, meta }).fields
  return typeof name === 'string' ? name : ''
}
