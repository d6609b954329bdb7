import { z } from 'zod'
import { digestDocument } from '../outbox/digest.ts'
import type { DocumentDigest } from '../outbox/model.ts'

const schema = z.strictObject({ email: z.string().min(1), consent: z.boolean() })

/** What the outbox holds of one e-mail address: the address as it was last written, and the last state. */
export type ConsentDocument = Readonly<z.infer<typeof schema>>

export function encodeConsent({ email, consent }: ConsentDocument): Buffer {
  return Buffer.from(JSON.stringify({ email, consent }))
}

/** Throws on anything that `encodeConsent` did not write: the outbox holds nothing else. */
export function decodeConsent(bytes: Uint8Array): ConsentDocument {
  return schema.parse(JSON.parse(Buffer.from(bytes).toString('utf8')))
}

const digests = new Map(
  [true, false].map((consent) => [consent, digestDocument(Buffer.from(String(consent)))]),
)

/**
 * The digest under which a consent is offered and acknowledged: of the permission alone, so that another spelling of the
 * address is no change.
 */
export function digestConsent(consent: boolean): DocumentDigest {
  return digests.get(consent) as DocumentDigest
}
