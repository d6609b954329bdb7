import { hash } from 'node:crypto'
import { StorageError } from '../lib/errors.ts'
import type { DocumentDigest } from './model.ts'

/**
 * First 16 bytes of the SHA-256 of a document's exact wire bytes: which version was sent, acknowledged, refused. The hash is
 * read as text, since as a buffer it would have memory of its own, which costs as much as hashing.
 */
export function digestDocument(document: Uint8Array): DocumentDigest {
  return Buffer.from(hash('sha256', document, 'binary').slice(0, 16), 'latin1')
}

/**
 * A document as it was read, where the product has one. The disk may have changed or hidden it, which SQLite does not
 * notice: it is never sent then.
 */
export function checkedDocument(
  bytes: Uint8Array | null,
  digest: Uint8Array | null,
  file: string,
): Buffer | undefined {
  if (bytes === null && digest === null) return undefined
  if (bytes === null || digest === null) throw damaged(file)
  const document = bufferOf(bytes, file)
  if (digestDocument(document).equals(bufferOf(digest, file))) return document
  throw damaged(file)
}

/** The same bytes, not copied. What the disk has changed may be no bytes any more. */
export function bufferOf(bytes: Uint8Array, file: string): Buffer {
  if (!(bytes instanceof Uint8Array)) throw damaged(file)
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}

/** Where the disk has changed a row, SQLite may give bytes or a number in the place of text. */
export function checkTexts(values: readonly unknown[], file: string): void {
  if (values.some((value) => typeof value !== 'string')) throw damaged(file)
}

export function damaged(file: string): StorageError {
  return new StorageError('database-damaged', `${file} is damaged: it does not hold what was written`, {
    hint: 'Check the disk, then put the last backup back: catalogd restore <folder>',
  })
}
