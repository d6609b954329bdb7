import type { CatalogConfig } from '../config/model.ts'
import { heldExamples } from '../operations/diff-import.ts'
import type { OperationContext } from '../operations/run-here.ts'
import { openMirror, stateDirOf } from '../storage.ts'

/** Some of what an import holds: products, with what would become of each. */
export interface HeldSample {
  lines: { id: string; text: string }[]
  more: boolean
}

type SampleContext = Omit<OperationContext, 'catalog' | 'connections'>

const sampleMax = 10
const samplesMax = 50
/** A page does not wait for a large file to be read; it shows the sample later. */
const withinMs = 100
const none: HeldSample = { lines: [], more: false }

/** A file that is held whole is read once for its sample, however often it is shown. */
export class HeldSamples {
  readonly #context: SampleContext
  readonly #known = new Map<string, Promise<HeldSample>>()

  constructor(context: SampleContext) {
    this.#context = context
  }

  async of(catalog: CatalogConfig, feed: string, sequence: number): Promise<HeldSample> {
    const key = `${catalog.name} ${sequence}`
    const [oldest] = this.#known.keys()
    if (this.#known.size > samplesMax && oldest !== undefined) this.#known.delete(oldest)
    const sample = this.#known.get(key) ?? this.#read(catalog, feed, sequence)
    this.#known.set(key, sample)
    const { clock, signal } = this.#context
    return Promise.race([sample, clock.sleep(withinMs, signal).then(() => none)])
  }

  async #read(catalog: CatalogConfig, feed: string, sequence: number): Promise<HeldSample> {
    const { config, clock, log, signal } = this.#context
    using mirror = await openMirror(config, catalog)
    const options = { catalog, mirror, dir: stateDirOf(config, catalog.name), nowMs: clock.now(), signal }
    try {
      const found = await heldExamples(options, { feed, sequence }, sampleMax)
      if (found === null) return none
      if (found.kind === 'removals') {
        const lines = found.products.map(({ productId, name }) => ({ id: productId, text: name ?? '' }))
        return { lines, more: found.more }
      }
      const lines = found.changes.map(({ productId, kind, fields }) => {
        const texts = fields
          .slice(0, 4)
          .map(({ field, before, after }) => `${field} ${textOf(before)} → ${textOf(after)}`)
        return { id: productId, text: texts.length === 0 ? kind : texts.join(', ') }
      })
      return { lines, more: found.more }
    } catch (error) {
      // The archive may have the file no longer; the decision is the operator's all the same.
      log.warn({ err: error, sequence }, 'no sample of a held import could be read')
      return none
    }
  }
}

function textOf(value: unknown): string {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? 'none')
  return text.length > 60 ? `${text.slice(0, 59)}…` : text
}
