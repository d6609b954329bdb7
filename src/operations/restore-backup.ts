import { existsSync } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import type { CatalogConfig, Config } from '../config/model.ts'
import type { Clock } from '../lib/clock.ts'
import { makeFolder, removeIfPresent } from '../lib/durable.ts'
import { ConfigError, StorageError } from '../lib/errors.ts'
import { syncFolder } from '../lib/system.ts'
import { manifestFileName, openManifest } from '../sources/manifest.ts'
import type { AcceptLine } from '../sources/model.ts'
import { stateDirOf } from '../storage.ts'
import { databaseNames, readContents, stateIdName } from './backup-files.ts'
import { type StagedCatalog, stageCatalog } from './stage-restore.ts'

interface RestoreOptions {
  config: Config
  catalogs: readonly CatalogConfig[]
}

export interface StagedRestore extends StagedCatalog {
  catalog: string
  /** When the backup was made; undefined: there is none. */
  at: string | undefined
}

/**
 * Makes ready what `restore` puts in place: of a backup, or (without one) of what the archive holds. Only the process that
 * holds the state lock may do this. Throws where something that is needed is missing.
 */
export async function stageRestore(
  { config, catalogs }: RestoreOptions,
  from: string | undefined,
): Promise<StagedRestore[]> {
  const folder = from === undefined ? undefined : resolve(from)
  const contents = folder === undefined ? undefined : await readContents(folder)
  const staged: StagedRestore[] = []
  for (const catalog of catalogs) {
    const files = contents?.catalogs.find(({ catalog: name }) => name === catalog.name)?.files
    if (folder !== undefined && !files) continue
    const dir = stateDirOf(config, catalog.name)
    await makeFolder(dir)
    const backup = folder !== undefined && files ? { folder: join(folder, catalog.name), files } : undefined
    const one = await stageCatalog({ catalog, dir, backup })
    staged.push({ ...one, catalog: catalog.name, at: contents?.at })
  }
  if (staged.length > 0) return staged
  const names = contents?.catalogs.map(({ catalog }) => catalog).join(', ')
  throw new ConfigError('backup-of-others', `${folder} holds no catalog of this configuration, but ${names}`)
}

/** Removes what was made ready, where it was not put in place. */
export async function discardRestore(staged: readonly StagedRestore[]): Promise<void> {
  for (const { staging } of staged) await rm(staging, { recursive: true, force: true })
}

/** Throws a StorageError that says which accepted files the archive would have to hold. */
export function requireFiles({ catalog, dir, gone }: StagedRestore): void {
  if (gone.length === 0) return
  const shown = gone.slice(0, 10).map(({ sequence, feed, name }) => `import ${sequence} (${feed}, ${name})`)
  const more = gone.length > shown.length ? ` and ${gone.length - shown.length} more` : ''
  throw new StorageError(
    'archive-incomplete',
    `${catalog}: files are needed that are no longer in ${join(dir, 'archive')}: ${shown.join(', ')}${more}`,
    {
      hint: 'Take a newer backup, or put them back; with --skip-missing-files they are passed over: then drop a full file of each of these feeds',
    },
  )
}

/**
 * Puts in place what was made ready. Killed at any step it leaves what was there, or a state folder that no daemon starts
 * on; then `restore` is to be run again.
 */
export async function finishRestore({ dir, staging, gone }: StagedRestore, clock: Clock): Promise<void> {
  // First: without databases beside it, it is refused, and never the other way round.
  await moveIfPresent(staging, dir, manifestFileName)
  await moveIfPresent(staging, dir, stateIdName)
  await syncFolder(dir)
  await passOver(gone, dir, clock)
  const databases = databaseNames.filter((name) => existsSync(join(staging, name)))
  // The log of one database must never stand beside another.
  for (const name of databases.toReversed()) {
    for (const end of ['', '-wal', '-shm']) await removeIfPresent(join(dir, name + end))
    await syncFolder(dir)
  }
  for (const name of databases) {
    await moveIfPresent(staging, dir, name)
    await syncFolder(dir)
  }
}

/** Files that nobody has any more count as refused. */
async function passOver(gone: readonly AcceptLine[], dir: string, clock: Clock): Promise<void> {
  if (gone.length === 0) return
  await using manifest = await openManifest({ dir, clock })
  const at = new Date(clock.now()).toISOString()
  await manifest.append(gone.map(({ sequence: of }) => ({ kind: 'outcome', of, outcome: 'refused', at })))
}

async function moveIfPresent(from: string, to: string, name: string): Promise<void> {
  if (existsSync(join(from, name))) await rename(join(from, name), join(to, name))
}
