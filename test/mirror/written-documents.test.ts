import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { ProductId } from '../../src/lib/brand.ts'
import { digestDocument } from '../../src/mirror/digest.ts'
import { type WrittenBlock, WrittenDocuments, WrittenList } from '../../src/mirror/written-documents.ts'

const ids = ['a', 'b', 'c', 'd', 'e'] as ProductId[]

/** As a chunk comes: the documents one after another in memory of their own. */
function chunkOf(texts: readonly string[]): Buffer[] {
  const memory = new ArrayBuffer(texts.reduce((sum, text) => sum + text.length, 0))
  let end = 0
  return texts.map((text) => {
    const document = Buffer.from(memory, end, text.length)
    document.write(text)
    end += text.length
    return document
  })
}

/** As a thread gets them. */
function sent(blocks: WrittenBlock[]): WrittenBlock[] {
  return structuredClone(blocks, {
    transfer: blocks.flatMap(({ memory, digests }) => [memory, digests.buffer]),
  })
}

test('what is taken is the newest document of its digest, once', () => {
  const product = fc.record({ id: fc.constantFrom(...ids), text: fc.constantFrom('one', 'two', 'three') })
  const step = fc.oneof(
    fc.record({ kind: fc.constant('write' as const), chunks: fc.array(fc.array(product, { maxLength: 4 })) }),
    fc.record({ kind: fc.constant('forget' as const), ids: fc.subarray(ids) }),
    fc.record({ kind: fc.constant('take' as const), product }),
  )
  const taken = fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
    const [list, written] = [new WrittenList(), new WrittenDocuments()]
    const expected = new Map<ProductId, string>()
    for (const each of steps) {
      if (each.kind === 'write') {
        for (const chunk of each.chunks) {
          const documents = chunkOf(chunk.map(({ text }) => text))
          for (const [at, { id, text }] of chunk.entries()) {
            const document = documents[at] as Buffer
            list.add(id, { document, digest: digestDocument(document) })
            expected.set(id, text)
          }
        }
      } else if (each.kind === 'forget') {
        for (const id of each.ids) {
          list.forget(id)
          expected.delete(id)
        }
      }
      if (each.kind !== 'take') {
        written.add(sent(list.take()))
        continue
      }
      const { id, text } = each.product
      const taken = written.take(id, digestDocument(Buffer.from(text)))
      expect(taken?.toString()).toBe(expected.get(id) === text ? text : undefined)
      // Whatever it was: another one is on its way.
      expected.delete(id)
    }
  })
  fc.assert(taken)
})

test('the oldest go first where there are too many', () => {
  const [list, written] = [new WrittenList(), new WrittenDocuments()]
  const large = 'x'.repeat(9_000_000)
  for (const id of ids.slice(0, 3)) {
    const [document] = chunkOf([large])
    if (document) list.add(id, { document, digest: digestDocument(document) })
    written.add(list.take())
  }
  const digest = digestDocument(Buffer.from(large))
  const found = ids.slice(0, 3).map((id) => written.take(id, digest)?.length)
  expect(found).toEqual([undefined, large.length, large.length])
})

test('small transactions take no more memory than what they say', () => {
  const list = new WrittenList()
  const [document] = chunkOf(['x'.repeat(100)])
  if (document) list.add('a' as ProductId, { document, digest: digestDocument(document) })
  const [block] = sent(list.take())
  expect(block?.memory.byteLength).toBe(100)
  expect(block?.digests.buffer.byteLength).toBe(16)
})

test('a block whose first documents are of one product is let go, too', () => {
  const [list, written] = [new WrittenList(), new WrittenDocuments()]
  const large = 'x'.repeat(5_000_000)
  for (const id of ids) {
    for (const document of chunkOf([large, large]))
      list.add(id, { document, digest: digestDocument(document) })
    written.add(sent(list.take()))
  }
  const digest = digestDocument(Buffer.from(large))
  expect(ids.filter((id) => written.take(id, digest))).toEqual(['d', 'e'])
})
