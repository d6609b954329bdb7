import { existsSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { CatalogConfig } from '../config/model.ts'
import { ConsentReader, consentsFileName } from '../consents/reader.ts'
import { readConsentBook } from '../imports/import-consents.ts'
import { staysOut } from '../imports/import-file.ts'
import { appliedUpTo, stepsAfter } from '../imports/manifest-steps.ts'
import { copyDurably, makeFolder, removeIfPresent } from '../lib/durable.ts'
import { StorageError } from '../lib/errors.ts'
import { MirrorReader } from '../mirror/reader.ts'
import { MirrorStore } from '../mirror/store.ts'
import { placeInArchive } from '../sources/archive.ts'
import { layoutOf } from '../sources/layout.ts'
import { manifestFileName } from '../sources/manifest.ts'
import type { ManifestView } from '../sources/manifest-index.ts'
import { readManifest } from '../sources/manifest-reader.ts'
import type { AcceptLine } from '../sources/model.ts'
import { mirrorFileName } from '../storage.ts'
import { type BackupFile, beginAlike, endOfLines, verifyFile } from './backup-files.ts'

/** What is to stand in a catalog's folder, made ready beside what stands there. */
export interface StagedCatalog {
  /** `state/<catalog>`. */
  dir: string
  /** Below it, on the same file system. */
  staging: string
  products: number
  /** Accepted behind the backup, or not applied when it was made: they are imported (again). */
  again: readonly AcceptLine[]
  /** Those of them that are no longer in the archive. */
  gone: readonly AcceptLine[]
}

export interface StagingOptions {
  catalog: CatalogConfig
  dir: string
  /** Absent: the mirror begins empty, and all that the archive holds is imported again. */
  backup: { folder: string; files: readonly BackupFile[] } | undefined
}

/** Checks the backup, and copies it beside what is there. Nothing is changed yet. Throws where it does not fit. */
export async function stageCatalog(options: StagingOptions): Promise<StagedCatalog> {
  const staging = join(options.dir, 'restore')
  await rm(staging, { recursive: true, force: true })
  await makeFolder(staging)
  try {
    return await stageIn(staging, options)
  } catch (error) {
    await rm(staging, { recursive: true, force: true })
    throw error
  }
}

async function stageIn(staging: string, { catalog, dir, backup }: StagingOptions): Promise<StagedCatalog> {
  for (const file of backup?.files ?? []) {
    const from = join(backup?.folder ?? '', file.name)
    await verifyFile(from, file)
    await copyDurably(from, join(staging, file.name), join(staging, '.tmp'))
  }
  const file = join(staging, mirrorFileName)
  const manifestDir = await chooseManifest(dir, staging)
  const isExpected = backup?.files.some(({ name }) => name === mirrorFileName) ?? false
  {
    // What the endpoint was sent since is not known: nothing that the backup believes counts any more.
    using store = MirrorStore.open({ file, isExpected, takesCopy: true })
    store.beginStartOver({})
  }
  using manifest = await readManifest(manifestDir)
  using mirror = new MirrorReader(file)
  // A backup that holds none leaves the one that is there.
  using consents = ConsentReader.open(existsSync(join(staging, consentsFileName)) ? staging : dir)
  const feeds = new Map([...catalog.feeds, ...catalog.consents.feeds])
  const steps = [...feeds].flatMap(([scope, { kind }]) => {
    const book = kind === 'products' ? mirror : readConsentBook(consents, manifest)
    return [...stepsAfter({ book, manifest, scope, after: appliedUpTo(book, manifest, scope) })]
  })
  const again = steps.filter((step) => step.kind === 'accept')
  // A file that was held when the backup was made, and let in since.
  const approved = steps.flatMap((step) =>
    step.kind === 'decision' && step.decision === 'approve' ? (manifest.file(step.import) ?? []) : [],
  )
  const { archiveDir } = layoutOf(dir)
  const isGone = (accept: AcceptLine) =>
    isRead(accept, manifest) && !existsSync(join(archiveDir, placeInArchive(accept, manifest)))
  const gone = [...new Set([...again, ...approved])].filter(isGone)
  return { dir, staging, products: mirror.count().products, again, gone }
}

/** The longer one of both, which begins as the other does. Returns the folder that it is in. */
async function chooseManifest(dir: string, staging: string): Promise<string> {
  const [own, staged] = [join(dir, manifestFileName), join(staging, manifestFileName)]
  const [ownEnd, stagedEnd] = [await endIfPresent(own), await endIfPresent(staged)]
  if (!(await beginAlike(own, staged, Math.min(ownEnd, stagedEnd)))) throw otherManifest(own)
  if (stagedEnd > ownEnd) return staging
  await removeIfPresent(staged)
  return dir
}

async function endIfPresent(path: string): Promise<number> {
  return existsSync(path) ? await endOfLines(path) : 0
}

/** Whether importing the step needs its file. */
function isRead({ sequence }: AcceptLine, manifest: ManifestView): boolean {
  const before = manifest.outcome(sequence)
  return before === undefined || !staysOut(before, manifest)
}

function otherManifest(path: string): StorageError {
  return new StorageError(
    'manifest-diverged',
    `${path} and the manifest of the backup record different files: neither goes on where the other ends`,
    {
      hint: 'Use a backup of this very state folder. If what was accepted there may be lost, move manifest.ndjson away first',
    },
  )
}
