import type { ProductId } from '../lib/brand.ts'
import type { DocumentDigest } from './model.ts'

/** Documents of one block of memory, which goes with them to who delivers in the same process. */
export interface WrittenBlock {
  /** Empty: of these products nothing is to be taken from here any more. */
  memory: ArrayBuffer
  ids: ProductId[]
  /** Of each where it begins in the memory, and its length. */
  places: number[]
  /** Of 16 bytes each. */
  digests: Uint8Array<ArrayBuffer>
}

const digestBytes = 16

interface ListedBlock extends Omit<WrittenBlock, 'digests'> {
  digests: DocumentDigest[]
}

/** What a transaction writes, in the thread of the mirror, while who delivers reads documents there. */
export class WrittenList {
  #blocks: ListedBlock[] = []

  add(productId: ProductId, { document, digest }: { document: Buffer; digest: DocumentDigest }): void {
    const memory = document.buffer as ArrayBuffer
    const last = this.#blocks.at(-1)
    const block = last?.memory === memory ? last : this.#begin(memory)
    block.ids.push(productId)
    block.places.push(document.byteOffset, document.length)
    block.digests.push(digest)
  }

  /** It has no document any more. */
  forget(productId: ProductId): void {
    const last = this.#blocks.at(-1)
    const block = last?.memory.byteLength === 0 ? last : this.#begin(new ArrayBuffer(0))
    block.ids.push(productId)
  }

  /** To be called when they are durable. */
  take(): WrittenBlock[] {
    const blocks = this.#blocks.map((block) => ({ ...block, digests: joined(block.digests) }))
    this.clear()
    return blocks
  }

  clear(): void {
    this.#blocks = []
  }

  #begin(memory: ArrayBuffer): ListedBlock {
    const block: ListedBlock = { memory, ids: [], places: [], digests: [] }
    this.#blocks.push(block)
    return block
  }
}

/** In memory of their own: of a part of Node's pool the whole pool would go to the other thread. */
function joined(digests: readonly DocumentDigest[]): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(digestBytes * digests.length)
  for (const [at, digest] of digests.entries()) bytes.set(digest, digestBytes * at)
  return bytes
}

/** Calls are made within a second while the endpoint keeps up; where it does not, documents come from the disk. */
const memoryBytesMax = 20_000_000

interface KeptBlock extends WrittenBlock {
  /** How many of its documents are kept. */
  left: number
}

/**
 * The documents that were written last, where calls are made: reading one back and checking it would take ten times as
 * long as sending it. Each is taken once; the oldest go first where there are too many.
 */
export class WrittenDocuments {
  readonly #blocks = new Set<KeptBlock>()
  readonly #blockOf = new Map<ProductId, KeptBlock>()
  #bytes = 0

  add(blocks: readonly WrittenBlock[]): void {
    for (const written of blocks) {
      const block = { ...written, left: 0 }
      if (block.memory.byteLength === 0) {
        for (const id of block.ids) this.#drop(id)
        continue
      }
      this.#blocks.add(block)
      this.#bytes += block.memory.byteLength
      for (const id of block.ids) {
        if (this.#blockOf.get(id) === block) continue
        this.#drop(id)
        this.#blockOf.set(id, block)
        block.left += 1
      }
    }
    for (const oldest of this.#blocks) {
      if (this.#bytes <= memoryBytesMax) return
      for (const id of oldest.ids) if (this.#blockOf.get(id) === oldest) this.#drop(id)
    }
  }

  /** Undefined where it is not here, or is another one than this digest names. */
  take(id: ProductId, digest: DocumentDigest): Buffer | undefined {
    const block = this.#drop(id)
    if (!block) return undefined
    const at = block.ids.lastIndexOf(id)
    if (digest.compare(block.digests, at * digestBytes, (at + 1) * digestBytes) !== 0) return undefined
    return Buffer.from(block.memory, block.places[2 * at], block.places[2 * at + 1])
  }

  #drop(id: ProductId): KeptBlock | undefined {
    const block = this.#blockOf.get(id)
    if (!block) return undefined
    this.#blockOf.delete(id)
    block.left -= 1
    if (block.left === 0 && this.#blocks.delete(block)) this.#bytes -= block.memory.byteLength
    return block
  }
}
