import { z } from 'zod'

/** Written before a request is sent. */
const callBeginSchema = z.object({
  event: z.literal('begin'),
  /** Unique; ties the two entries of a call together. */
  call: z.string(),
  /** Wall-clock time in ms. */
  at: z.number(),
  /** The claim's token, not the endpoint's. */
  token: z.string(),
  ids: z.array(z.string()).readonly(),
  /** Of the body. */
  bytes: z.number(),
})

/** Written when its outcome is known; missing after a kill. */
const callEndSchema = z.object({
  event: z.literal('end'),
  call: z.string(),
  at: z.number(),
  /** Absent when no response came. */
  status: z.number().optional(),
  /** The verdict: `acknowledge`, `retry`, `unknown` … */
  outcome: z.string(),
  requestId: z.string().optional(),
  durationMs: z.number(),
})

export const callLogEntrySchema = z.discriminatedUnion('event', [callBeginSchema, callEndSchema])

export type CallBegin = z.infer<typeof callBeginSchema>
export type CallEnd = z.infer<typeof callEndSchema>
export type CallLogEntry = z.infer<typeof callLogEntrySchema>
