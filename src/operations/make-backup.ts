import { existsSync } from 'node:fs'
import { chmod, copyFile, rename, rm, truncate } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import type { CatalogConfig, Config } from '../config/model.ts'
import type { Clock } from '../lib/clock.ts'
import { copyDatabase } from '../lib/database.ts'
import { makeFolder, syncFile, writeDurably } from '../lib/durable.ts'
import { ConfigError } from '../lib/errors.ts'
import { privateFileMode } from '../lib/private-modes.ts'
import { syncFolder } from '../lib/system.ts'
import { readVersion } from '../lib/version.ts'
import { missingMirror } from '../mirror/schema.ts'
import { manifestFileName } from '../sources/manifest.ts'
import { mirrorFileName, stateDirOf } from '../storage.ts'
import {
  type BackupContents,
  type BackupFile,
  backupNames,
  contentsName,
  databaseNames,
  digestOf,
  endOfLines,
  formatContents,
} from './backup-files.ts'

interface BackupOptions {
  config: Config
  catalogs: readonly CatalogConfig[]
  clock: Clock
}

export interface Backup extends Pick<BackupContents, 'at' | 'catalogs'> {
  folder: string
}

/**
 * Backs up databases and manifests into a new folder, while a daemon runs or not. Until all is durable the folder has
 * another name, `<folder>.unfinished`, which the next try removes.
 */
export async function makeBackup(options: BackupOptions, to: string): Promise<Backup> {
  const folder = resolve(to)
  if (existsSync(folder)) {
    throw new ConfigError('backup-exists', `${folder} exists already and is left as it is`, {
      hint: 'Name a folder that is not there yet, such as one with the date in its name',
    })
  }
  const unfinished = `${folder}.unfinished`
  await rm(unfinished, { recursive: true, force: true })
  await makeFolder(unfinished)
  try {
    const at = new Date(options.clock.now()).toISOString()
    const catalogs: BackupContents['catalogs'] = []
    for (const { name } of options.catalogs) {
      const files = await copyCatalog(stateDirOf(options.config, name), join(unfinished, name))
      if (files.length > 0) catalogs.push({ catalog: name, files })
    }
    if (catalogs.length === 0) {
      const message = `nothing was ever accepted in ${options.config.stateDir}: there is nothing to back up`
      throw new ConfigError('backup-empty', message)
    }
    const text = formatContents({ version: readVersion(), at, catalogs })
    await writeDurably(join(unfinished, contentsName), text, join(unfinished, '.tmp'))
    await rename(unfinished, folder)
    await syncFolder(dirname(folder))
    return { folder, at, catalogs }
  } catch (error) {
    await rm(unfinished, { recursive: true, force: true })
    throw error
  }
}

async function copyCatalog(from: string, to: string): Promise<BackupFile[]> {
  const files: BackupFile[] = []
  const [mirror, manifest] = [join(from, mirrorFileName), join(from, manifestFileName)]
  if (!existsSync(mirror) && existsSync(manifest) && (await endOfLines(manifest)) > 0)
    throw missingMirror(mirror)
  for (const name of backupNames) {
    const source = join(from, name)
    if (!existsSync(source)) continue
    await makeFolder(to)
    const path = join(to, name)
    if (databaseNames.some((database) => database === name)) copyDatabase(source, path)
    else await copyFile(source, path)
    await chmod(path, privateFileMode)
    // Its writer may be in the middle of a line.
    if (name === manifestFileName) await truncate(path, await endOfLines(path))
    const bytes = await syncFile(path)
    files.push({ name, bytes, sha256: await digestOf(path, bytes) })
  }
  if (files.length > 0) await syncFolder(to)
  return files
}
