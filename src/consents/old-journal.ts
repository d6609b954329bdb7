import { createHash } from 'node:crypto'
import { open, readdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { StorageError, systemErrorCode } from '../lib/errors.ts'
import type { ConsentPosition } from './position.ts'
import type { ConsentRow } from './row.ts'

const entrySchema = z.object({
  event: z.enum(['acknowledged', 'failed', 'unconfirmed', 'retry', 'drop']),
  id: z.string(),
  position: z.string().transform((text) => text as ConsentPosition),
  at: z.number(),
  consent: z.boolean().optional(),
})
type Entry = z.infer<typeof entrySchema>

/** What becomes a row; everything else of it is filled in when the archive is applied again. */
export type JournalRow = Pick<ConsentRow, 'consent' | 'position' | 'known' | 'attempted'>

export interface OldJournal {
  /** Hexadecimal, of `consents.key`. */
  key: string
  rows: ReadonlyMap<string, JournalRow>
}

/** Its rows are durable elsewhere. */
export function removeOldJournal(dir: string): Promise<void> {
  return rm(pathOf(dir), { force: true })
}

function pathOf(dir: string): string {
  return join(dir, 'consents', 'acknowledged.ndjson')
}

/**
 * What an earlier version, which kept consents in Redis, had on disk: the journal of acknowledgements, the key that made
 * its ids, and calls without an end. Undefined: there is no such journal. Throws a StorageError when they do not fit.
 */
export async function readOldJournal(
  dir: string,
  stateDir: string,
  stateId: string,
): Promise<OldJournal | undefined> {
  const path = pathOf(dir)
  const rows = new Map<string, JournalRow>()
  let identity: string | undefined
  for await (const line of linesOf(path)) {
    const value = parse(line)
    if (identity === undefined)
      identity = z.object({ identity: z.string() }).safeParse(value).data?.identity ?? ''
    else note(rows, entrySchema.safeParse(value).data)
  }
  if (identity === undefined) return undefined
  const key = (await readFile(join(stateDir, 'consents.key'), 'utf8').catch(() => '')).trim()
  const bytes = Buffer.concat([Buffer.from('fingerprint:'), Buffer.from(key, 'hex')])
  const fingerprint = createHash('sha256').update(bytes).digest('hex').slice(0, 16)
  if (identity !== `${fingerprint}.${stateId}`) {
    throw new StorageError(
      'consent-key',
      `${path} needs the consents.key and the manifest it was written with`,
      {
        hint: 'Restore the state folder whole, from one backup',
      },
    )
  }
  for (const call of await openCalls(join(dir, 'consents', 'calls'))) note(rows, call)
  return { key, rows }
}

function note(rows: Map<string, JournalRow>, entry: Entry | undefined): void {
  if (!entry) return
  const { event, id, position, at, consent } = entry
  const row = rows.get(id)
  // The same record may have been sent, and settled, in several calls.
  const isNewer = row === undefined || position > row.position
  const isCurrent = isNewer || position === row.position
  if (event === 'acknowledged' || event === 'drop') {
    const known = event === 'drop' ? null : consent ? 1 : 0
    if (isCurrent) rows.set(id, { consent: known, position, known, attempted: null })
  } else if (event === 'unconfirmed') {
    if (isNewer) rows.set(id, { consent: null, position, known: null, attempted: at })
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
  const schema = z.object({
    event: z.string(),
    call: z.string(),
    at: z.number(),
    ids: z.array(z.string()).optional(),
    position: z.string().optional(),
  })
  for (const name of names.filter((each) => each.endsWith('.ndjson'))) {
    for await (const line of linesOf(join(dir, name))) {
      const { event, call = '', at = 0, ids: [id] = [], position } = schema.safeParse(parse(line)).data ?? {}
      if (event === 'end') ended.add(call)
      else if (id !== undefined && position !== undefined)
        open.set(call, { event: 'unconfirmed', id, position: position as ConsentPosition, at })
    }
  }
  return [...open].filter(([call]) => !ended.has(call)).map(([, entry]) => entry)
}

async function* linesOf(path: string): AsyncIterable<string> {
  const file = await open(path, 'r').catch((error: unknown) => {
    if (systemErrorCode(error) !== 'ENOENT') throw error
  })
  if (file) yield* file.readLines()
}

/** Undefined for a line that is torn. */
function parse(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}
