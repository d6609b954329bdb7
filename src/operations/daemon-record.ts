import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { writeDurably } from '../lib/durable.ts'
import { ifPresent } from '../lib/errors.ts'

const outcomeSchema = z.object({
  /** ISO 8601. */
  at: z.string(),
  /** Counted from 1, in this process. */
  number: z.number(),
  /** Paths of settings, without their values. */
  changed: z.array(z.string()),
  /** What does not take effect by itself, and what to do. */
  notes: z.array(z.string()).default([]),
  /** Undefined: the new configuration runs. */
  error: z
    .object({
      code: z.string(),
      message: z.string(),
      hint: z.string().optional(),
      problems: z
        .array(
          z.object({
            file: z.string(),
            path: z.string(),
            line: z.number(),
            column: z.number(),
            message: z.string(),
          }),
        )
        .optional(),
    })
    .optional(),
})

const recordSchema = z.object({
  pid: z.number(),
  /** The configuration that runs: absolute path, when it was read, and SHA-256 of its text. */
  configFile: z.string(),
  loadedAt: z.string(),
  digest: z.string(),
  /** With variables as they are written. */
  text: z.string().optional(),
  /** What others may know of it (see `noteShown`), for this version of catalogd. */
  shown: z.object({ version: z.string(), config: z.unknown() }).optional(),
  /** The last one. */
  reload: outcomeSchema.optional(),
})

/** What the process that holds the state folder runs with; stands in `state/daemon.json`. */
export type DaemonRecord = z.infer<typeof recordSchema>
export type ReloadOutcome = z.infer<typeof outcomeSchema>

function recordFile(stateDir: string): string {
  return join(stateDir, 'daemon.json')
}

export async function writeDaemonRecord(stateDir: string, record: DaemonRecord): Promise<void> {
  const file = recordFile(stateDir)
  await writeDurably(file, JSON.stringify(record), `${file}.tmp`)
}

/** Undefined where none is, or one that cannot be understood: it is for people. */
export async function readDaemonRecord(stateDir: string): Promise<DaemonRecord | undefined> {
  const text = await ifPresent(readFile(recordFile(stateDir), 'utf8'))
  if (text === undefined) return undefined
  try {
    return recordSchema.parse(JSON.parse(text))
  } catch {
    return undefined
  }
}
