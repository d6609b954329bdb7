import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { ProductId } from '../../src/lib/brand.ts'
import { digestDocument } from '../../src/mirror/digest.ts'
import { WrittenDocuments, WrittenList } from '../../src/mirror/written-documents.ts'

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

test('what is taken is the newest document of its digest, once', () => {
  const product = fc.record({ id: fc.constantFrom(...ids), text: fc.constantFrom('one', 'two', 'three') })
  const step = fc.oneof(
    fc.record({ kind: fc.constant('write' as const), chunks: fc.array(fc.array(product, { maxLength: 4 })) }),
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
        const blocks = list.take()
        written.add(structuredClone(blocks, { transfer: blocks.map(({ memory }) => memory) }))
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
