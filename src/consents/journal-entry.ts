import { z } from 'zod'
import type { ConsentId } from '../lib/brand.ts'
import { parsePosition } from './position.ts'

const about = {
  id: z.custom<ConsentId>((value) => typeof value === 'string' && value !== ''),
  /** Of the record. */
  position: z.string().transform((text, context) => {
    const position = parsePosition(text)
    if (position !== undefined) return position
    context.addIssue('not a position')
    return z.NEVER
  }),
  /** Wall-clock time in ms. */
  at: z.number(),
}

/**
 * One line of the journal: what became of a record's call, or what the operator decided.
 * `failed`: answered with an error, so that it is not known what the endpoint holds. `unconfirmed`: not answered, so that
 * it may also take effect later; `at` is when the call began.
 */
export const journalEntrySchema = z.discriminatedUnion('event', [
  z.object({ event: z.literal('acknowledged'), consent: z.boolean(), ...about }),
  z.object({ event: z.enum(['failed', 'unconfirmed', 'retry', 'drop']), ...about }),
])
export type JournalEntry = z.infer<typeof journalEntrySchema>

/** The first line. A journal that was compacted is a new generation: byte offsets of the former mean nothing in it. */
export const journalHeaderSchema = z.object({
  /** Of the key that made the ids, and of the manifest that the positions belong to. */
  identity: z.string(),
  generation: z.string(),
  /** Length of the file when it was compacted last. */
  compactedBytes: z.number(),
})
export type JournalHeader = z.infer<typeof journalHeaderSchema>

/** Undefined for what is no such line. */
export function parseLine<T>(line: string, schema: z.ZodType<T>): T | undefined {
  try {
    return schema.safeParse(JSON.parse(line)).data
  } catch {
    return undefined
  }
}
