import { hash } from 'node:crypto'
import type { DocumentDigest } from './model.ts'

/** First 16 bytes of the SHA-256 of a document's exact wire bytes: which version was sent, acknowledged, refused. */
export function digestDocument(document: Buffer): DocumentDigest {
  return hash('sha256', document, 'buffer').subarray(0, 16)
}
