import { z } from 'zod'
import type { HeldConsent } from '../consent/consent-store.ts'
import type { HeldProduct } from '../products/product-store.ts'
import { type StackData, type StackStore, stackDataSchema } from '../stack/stack-store.ts'

const times = z.array(z.number()).min(1)

const lineSchema = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('product'),
    id: z.string(),
    times: z.int().min(1),
    receivedAtMs: times,
    /** The bytes that were sent: they are valid UTF-8, so the text holds them exactly. */
    document: z.string(),
  }),
  z.object({
    kind: z.literal('consent'),
    email: z.string(),
    consent: z.boolean(),
    times: z.int().min(1),
    taken: z.array(z.object({ atMs: z.number(), consent: z.boolean() })).min(1),
  }),
  z.object({ kind: z.literal('stack'), data: stackDataSchema }),
  z.object({ kind: z.literal('end') }),
  // The first line: what the file is, so that no other NDJSON file is taken for one.
  z.object({ kind: z.literal('head'), of: z.literal('catalogd sandbox'), version: z.literal(1) }),
])

export const headLine = JSON.stringify({ kind: 'head', of: 'catalogd sandbox', version: 1 })
export const endLine = JSON.stringify({ kind: 'end' })

export type KeptLine =
  | { kind: 'product'; product: HeldProduct }
  | { kind: 'consent'; held: HeldConsent }
  | { kind: 'stack'; data: StackData }
  | { kind: 'head' | 'end' }

/** Throws what is wrong with the line, in words that name no address. */
export function parseDataLine(text: string): KeptLine {
  const result = lineSchema.safeParse(parseJson(text))
  if (!result.success) {
    const [issue] = result.error.issues
    throw new Error(`something is wrong with ${issue?.path.join('.') || 'the line'}`)
  }
  const line = result.data
  if (line.kind === 'product') {
    const { id, times: timesTaken, receivedAtMs } = line
    // Asked for its fields later: what is no object would fail there.
    const document = parseJson(line.document)
    if (typeof document !== 'object' || document === null) throw new Error('a product is no JSON object')
    return {
      kind: 'product',
      product: { id, document: Buffer.from(line.document), timesTaken, receivedAtMs },
    }
  }
  if (line.kind === 'consent') {
    const { email, consent, times: timesTaken, taken } = line
    return { kind: 'consent', held: { email, consent, timesTaken, taken } }
  }
  return line.kind === 'stack' ? line : { kind: line.kind }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new Error('the line is no JSON')
  }
}

export function productLine({ id, timesTaken, receivedAtMs, document }: HeldProduct): string {
  const kept = { kind: 'product', id, times: timesTaken, receivedAtMs, document: document.toString('utf8') }
  return JSON.stringify(kept)
}

export function consentLine({ email, consent, timesTaken, taken }: HeldConsent): string {
  return JSON.stringify({ kind: 'consent', email, consent, times: timesTaken, taken })
}

export function stackLine(stack: StackStore): string {
  return JSON.stringify({ kind: 'stack', data: stack })
}
