import fc from 'fast-check'
import { expect, test } from 'vitest'
import { bodyBytes, buildBody } from '../../src/api/catalog-calls.ts'

test('the body is the JSON array of the documents, and its length is known exactly beforehand', () => {
  const product = fc.record({
    product_id: fc.string({ unit: 'grapheme' }),
    name: fc.string({ unit: 'binary' }),
  })
  fc.assert(
    fc.property(fc.array(product, { maxLength: 30 }), (products) => {
      const documents = products.map((each) => Buffer.from(JSON.stringify(each)))
      const body = buildBody(documents)
      expect(body.length).toBe(bodyBytes(documents))
      expect(body.toString('utf8')).toBe(JSON.stringify(products))
      expect(JSON.parse(body.toString('utf8'))).toEqual(JSON.parse(JSON.stringify(products)))
    }),
  )
})

test('no documents are an empty array of two bytes', () => {
  expect(buildBody([]).toString()).toBe('[]')
  expect(bodyBytes([])).toBe(2)
})
