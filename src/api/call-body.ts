import { strict as assert } from 'node:assert'

const openBracket = 0x5b
const closeBracket = 0x5d
const comma = 0x2c

/** Exact length of the body that `buildBody` makes of documents of these lengths in sum. */
export function bodyBytesOf({ count, documentBytes }: { count: number; documentBytes: number }): number {
  return 2 + documentBytes + Math.max(0, count - 1)
}

/** Exact length of the request body for these documents, brackets and commas counted. */
export function bodyBytes(documents: readonly Uint8Array[]): number {
  let documentBytes = 0
  for (const document of documents) documentBytes += document.length
  return bodyBytesOf({ count: documents.length, documentBytes })
}

/** The JSON array of documents that are JSON already: copied, never parsed or serialised again. */
export function buildBody(documents: readonly Uint8Array[]): Buffer {
  const body = Buffer.allocUnsafe(bodyBytes(documents))
  let offset = 0
  body[offset++] = openBracket
  documents.forEach((document, index) => {
    if (index > 0) body[offset++] = comma
    body.set(document, offset)
    offset += document.length
  })
  body[offset++] = closeBracket
  assert.equal(offset, body.length, 'the body has another length than its documents')
  return body
}
