import { createHash } from 'node:crypto'
import { open, readdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import type { OldConsents } from '../consents/open-consents.ts'
import type { ConsentPosition, ConsentRow } from '../consents/row.ts'
import type { ConsentId } from '../lib/brand.ts'
import { ifPresent, StorageError } from '../lib/errors.ts'

const entrySchema = z.object({
  event: z.enum(['acknowledged', 'failed', 'unconfirmed', 'retry', 'drop']),
  id: z.string().transform((text) => text as ConsentId),
  position: z.string().transform((text) => text as ConsentPosition),
  at: z.number(),
  consent: z.boolean().optional(),
})
type Entry = z.infer<typeof entrySchema>

const callSchema = z.object({
  event: z.string(),
  call: z.string(),
  at: z.number(),
  ids: z.array(z.string()).optional(),
  position: z.string().optional(),
})

/** Its rows are durable elsewhere. */
export function removeOldConsents(dir: string): Promise<void> {
  return rm(pathOf(dir), { force: true })
}

function pathOf(dir: string): string {
  return join(dir, 'consents', 'acknowledged.ndjson')
}

/**
 * What an earlier version, which kept consents in Redis, had on disk: the journal of acknowledgements, the key that made
 * its ids, and calls without an end. Undefined: there is no such journal. Throws a StorageError when they do not fit.
 */
export async function readOldConsents(
  dir: string,
  stateDir: string,
  stateId: string,
): Promise<OldConsents | undefined> {
  const path = pathOf(dir)
  const rows = new Map<string, ConsentRow>()
  const [first, ...values] = await readLines(path)
  if (first === undefined) return undefined
  const identity = z.object({ identity: z.string() }).safeParse(first).data?.identity
  const key = (await readFile(join(stateDir, 'consents.key'), 'utf8').catch(() => '')).trim()
  const bytes = Buffer.concat([Buffer.from('fingerprint:'), Buffer.from(key, 'hex')])
  const fingerprint = createHash('sha256').update(bytes).digest('hex').slice(0, 16)
  if (identity !== `${fingerprint}.${stateId}`) {
    const hint = 'Restore the state folder whole, from one backup'
    const problem = `${path} needs the consents.key and the manifest it was written with`
    throw new StorageError('consent-key', problem, { hint })
  }
  for (const value of values) note(rows, entrySchema.safeParse(value).data)
  for (const call of await openCalls(join(dir, 'consents', 'calls'))) note(rows, call)
  return { key, rows: [...rows.values()] }
}

function note(rows: Map<string, ConsentRow>, entry: Entry | undefined): void {
  if (!entry) return
  const { event, id, position, at, consent } = entry
  const row = rows.get(id)
  // The same record may have been sent, and settled, in several calls.
  const isNewer = row === undefined || position > row.position
  const isCurrent = isNewer || position === row.position
  const put = (state: Pick<ConsentRow, 'consent' | 'known' | 'attempted'>) =>
    rows.set(id, {
      id,
      position,
      email: null,
      lane: null,
      since: null,
      letter: null,
      refused: null,
      ...state,
    })
  if (event === 'acknowledged' || event === 'drop') {
    const known = event === 'drop' ? null : consent ? 1 : 0
    if (isCurrent) put({ consent: known, known, attempted: null })
  } else if (event === 'unconfirmed') {
    if (isNewer) put({ consent: null, known: null, attempted: at })
  } else if (event === 'retry') {
    // As if it had never been sent: its record is applied again.
    if (row?.attempted != null && isCurrent) rows.delete(id)
  } else if (row && isNewer) rows.set(id, { ...row, known: null })
}

/** Of a process that was killed: nobody knows what became of them. */
async function openCalls(dir: string): Promise<Entry[]> {
  const names = await readdir(dir).catch((): string[] => [])
  const open = new Map<string, Entry>()
  const ended = new Set<string>()
  for (const name of names.filter((each) => each.endsWith('.ndjson'))) {
    for (const value of await readLines(join(dir, name))) {
      const { event, call = '', at = 0, ids: [id] = [], position } = callSchema.safeParse(value).data ?? {}
      if (event === 'end') ended.add(call)
      else if (id !== undefined && position !== undefined)
        open.set(call, entrySchema.parse({ event: 'unconfirmed', id, position, at }))
    }
  }
  return [...open].flatMap(([call, entry]) => (ended.has(call) ? [] : [entry]))
}

/** What each whole line says. */
async function readLines(path: string): Promise<unknown[]> {
  const file = await ifPresent(open(path, 'r'))
  const values: unknown[] = []
  for await (const line of file?.readLines() ?? []) {
    try {
      values.push(JSON.parse(line))
    } catch {
      // It is torn.
    }
  }
  return values
}
