import type { z } from 'zod'
import type { Endpoint } from '../../api/contract/endpoints.ts'
import type { GroupParts } from '../control/fault-hooks.ts'
import type { StackAnswer, StackOutcome } from './stack-answer.ts'
import type { StackStore } from './stack-store.ts'

export interface StackParts extends Pick<GroupParts, 'strict' | 'now'> {
  store: StackStore
}

export interface StackCall extends StackParts {
  endpoint: Endpoint
  /** The part of the path that names a record, as it was sent. */
  id: string
  query: Readonly<Record<string, unknown>>
  /**
   * What was sent to be written, in whatever encoding. `names` are those that count when they stand in the query;
   * anything else there belongs to the transport.
   */
  readFields(names: readonly string[]): Promise<SentFields>
}

export type SentFields =
  /** `encoding`: `pairs` are all texts, of a form or a query. */
  | { kind: 'fields'; fields: Record<string, unknown>; encoding: 'json' | 'pairs' }
  | (StackAnswer & { kind: 'refused' })

export type StackOperation = (call: StackCall) => StackOutcome

/** Unix seconds, as real servers write the times of a record. */
export function secondsNow({ now }: StackParts): number {
  return Math.floor(now() / 1000)
}

/** The schema of the body; the contract gives each operation that reads fields one. */
export function bodySchemaOf({ body, name }: Endpoint): z.ZodType {
  if (body === undefined) throw new Error(`${name} takes no body`)
  return body.schema
}
