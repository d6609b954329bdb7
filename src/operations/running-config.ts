import { hash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import type { LoadedConfig, LoadOptions } from '../config/load.ts'
import { expandVariables } from '../config/variables.ts'
import type { Clock } from '../lib/clock.ts'
import { describeError, describeErrorLines, OperatingError, systemErrorCode } from '../lib/errors.ts'
import { readVersion } from '../lib/version.ts'
import { readLockHolder } from '../sources/state-lock.ts'
import { type DaemonRecord, readDaemonRecord } from './daemon-record.ts'
import { readShown } from './shown-config.ts'

/** How the file stands to what the daemon runs with. */
export interface ConfigStatus {
  file: string
  /** `unusable`: a start with it would fail; what is told of the catalogs is what the daemon runs with. */
  state: 'same' | 'changed' | 'unusable'
  /** When the daemon read what it runs with. */
  loadedAt: string
  /** Why the file is unusable, as one line. */
  problem: string | null
  /** The same, a line for each mistake, and one for what to do; empty where there is none. */
  problemLines: readonly string[]
}

interface Asked extends Pick<LoadOptions, 'file' | 'env'> {
  clock: Clock
}

/** What is worked with, and what is wrong with the file where that is not what stands in it. */
export interface UsedConfig<Loaded = LoadedConfig> {
  loaded: Loaded
  problem?: OperatingError
}

type Shown = Pick<LoadedConfig, 'config' | 'digest'>

/**
 * For a command that only shows something. Where the daemon runs with this very file, it may have noted what can be shown:
 * to read and check the file would take as long as all the rest.
 */
export async function readOrAskShown(asked: Asked): Promise<UsedConfig<Shown>> {
  const { record, digest } = await readRunningRecord(asked)
  const { shown, reload } = record ?? {}
  const isOfFile = record?.configFile === resolve(asked.file) && record.digest === digest && !reload?.error
  if (digest === undefined || !isOfFile || shown?.version !== readVersion()) return readOrAskConfig(asked)
  return { loaded: { config: readShown(shown.config), digest } }
}

/** The configuration in the file; where it cannot be used, what the daemon runs with. Throws where none runs either. */
export async function readOrAskConfig(asked: Asked): Promise<UsedConfig> {
  const { readCheckedConfig } = await import('./read-config.ts')
  try {
    return { loaded: await readCheckedConfig(asked) }
  } catch (error) {
    if (!(error instanceof OperatingError)) throw error
    const { record } = await readRunningRecord(asked)
    if (record?.text === undefined) throw error
    const loaded = await readCheckedConfig({ ...asked, text: record.text }).catch(() => Promise.reject(error))
    return { loaded, problem: error }
  }
}

interface Running {
  /** Undefined where no daemon works. */
  record?: DaemonRecord | undefined
  /** SHA-256 of the file as it is now. */
  digest?: string
}

/** Of the daemon that works where the file says, also where the rest of the file cannot be read. */
async function readRunningRecord({ file, env, clock }: Asked): Promise<Running> {
  try {
    const text = await readFile(file, 'utf8')
    const written = /^state:[ \t]*(["']?)(.+?)\1[ \t]*(?:#.*)?$/m.exec(text)?.[2] ?? './state'
    const stateDir = resolve(dirname(file), expandVariables(written, env).text)
    const holder = await readLockHolder({ file: join(stateDir, 'lock'), clock })
    const record = await readDaemonRecord(stateDir)
    return { record: holder?.pid === record?.pid ? record : undefined, digest: hash('sha256', text) }
  } catch (error) {
    if (systemErrorCode(error) === undefined) throw error
    return {}
  }
}

/** Null: no daemon has told what it runs with. */
export async function readConfigStatus(
  { config: { file, stateDir }, digest }: Shown,
  { daemon, problem }: { daemon: { pid: number } | null; problem?: OperatingError | undefined },
): Promise<ConfigStatus | null> {
  const record = await readDaemonRecord(stateDir)
  if (record === undefined || record.pid !== daemon?.pid) return null
  const { loadedAt } = record
  if (problem) {
    const told = { problem: describeError(problem), problemLines: describeErrorLines(problem) }
    return { file, state: 'unusable', loadedAt, ...told }
  }
  const state = record.digest === digest ? 'same' : 'changed'
  return { file, state, loadedAt, problem: null, problemLines: [] }
}
