import { readFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import type { LoadedConfig, LoadOptions } from '../config/load.ts'
import { expandVariables } from '../config/variables.ts'
import type { Clock } from '../lib/clock.ts'
import { describeError, describeErrorLines, OperatingError } from '../lib/errors.ts'
import { readLockHolder } from '../sources/state-lock.ts'
import { readCheckedConfig } from './read-config.ts'
import { readDaemonRecord } from './reload.ts'

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
export interface UsedConfig {
  loaded: LoadedConfig
  problem?: OperatingError
}

/** The configuration in the file; where it cannot be used, what the daemon runs with. Throws where none runs either. */
export async function readOrAskConfig(asked: Asked): Promise<UsedConfig> {
  try {
    return { loaded: await readCheckedConfig(asked) }
  } catch (error) {
    if (!(error instanceof OperatingError)) throw error
    const loaded = await askDaemon(asked).catch(() => undefined)
    if (loaded === undefined) throw error
    return { loaded, problem: error }
  }
}

async function askDaemon({ file, env, clock }: Asked): Promise<LoadedConfig | undefined> {
  const broken = await readFile(file, 'utf8')
  // All that is needed of a file that cannot be read: where its daemon works.
  const written = /^state:[ \t]*(["']?)(.+?)\1[ \t]*(?:#.*)?$/m.exec(broken)?.[2] ?? './state'
  const stateDir = resolve(dirname(file), expandVariables(written, env).text)
  const holder = await readLockHolder({ file: join(stateDir, 'lock'), clock })
  const record = await readDaemonRecord(stateDir)
  if (!holder || holder.pid !== record?.pid || record.text === undefined) return undefined
  return readCheckedConfig({ file, env, text: record.text })
}

/** Null: no daemon has told what it runs with. */
export async function readConfigStatus(
  { config: { file, stateDir }, digest }: LoadedConfig,
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
