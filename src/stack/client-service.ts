import { ApiResponseError } from '../api/api-error.ts'
import type { ModerationViewWrite } from '../api/contract/moderation-view.ts'
import type { RuleCreate } from '../api/contract/rule.ts'
import type { TermCreate } from '../api/contract/term.ts'
import type { StackClient } from '../api/stack-client.ts'
import type { StackRecord } from './existing-items.ts'
import type { Fields, ItemId, StackKind } from './model.ts'

/** The service as the client of the API reaches it. The client checks all fields by the contract. */
export function serviceOf(client: StackClient, signal: AbortSignal): StackService {
  const options = { signal }
  return {
    list: (kind) => listAll(client, kind, signal),
    create: async (kind, fields) => {
      try {
        await createRecord(client, { kind, fields, signal })
      } catch (error) {
        // It was taken; only its id was not told, which is not needed here.
        if (!(error instanceof ApiResponseError && error.code === 'no-record')) throw error
      }
    },
    update: async (kind, id, fields) => {
      await client[kind].update(id, fields, options)
    },
    remove: (kind, id) => client[kind].delete(id, options),
  }
}

async function* listAll(
  client: StackClient,
  kind: StackKind,
  signal: AbortSignal,
): AsyncGenerator<StackRecord> {
  const options = { signal }
  if (kind === 'users' || kind === 'terms') yield* client[kind].all({}, options)
  else yield* await client[kind].list(options)
}

/** The client checks the fields. */
export async function createRecord(
  client: StackClient,
  { kind, fields, signal }: { kind: StackKind; fields: Fields; signal: AbortSignal },
): Promise<StackRecord> {
  const options = { signal }
  if (kind === 'rules') return await client.rules.create(fields as RuleCreate, options)
  if (kind === 'views') return await client.views.create(fields as ModerationViewWrite, options)
  if (kind === 'terms') return await client.terms.create(fields as TermCreate, options)
  throw new Error('users are never created')
}

/** What the files need of the service. Every method throws an OperatingError when it fails. */
export interface StackService {
  /** All of a kind, over all pages. */
  list(kind: StackKind): AsyncIterable<StackRecord>
  create(kind: StackKind, fields: Fields): Promise<void>
  /** Changes the fields that are named. */
  update(kind: StackKind, id: ItemId, fields: Fields): Promise<void>
  remove(kind: StackKind, id: ItemId): Promise<void>
}
