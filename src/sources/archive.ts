import { link, rename, stat } from 'node:fs/promises'
import { join } from 'node:path'
import {
  copyDurably,
  copyInParts,
  makeFolder,
  removeIfPresent,
  syncFile,
  writeDurably,
} from '../lib/durable.ts'
import { systemErrorCode } from '../lib/errors.ts'
import { syncFolder } from '../lib/system.ts'
import { claimFileName, partsOf } from './claim-name.ts'
import { compressContent, hashContent, startsCompressed } from './compress.ts'
import { linkUnsupported } from './folder-access.ts'
import { lstatIfPresent } from './folder-scan.ts'
import { claimOfReport, compressName, failedDirOf, failedReportSuffix, layoutOf } from './layout.ts'
import type { Manifest } from './manifest.ts'
import type { ManifestIndex, ManifestView } from './manifest-index.ts'
import type { AcceptLine, ArchiveLine } from './model.ts'
import { isFull } from './space.ts'

const copyBytesMax = 64 * 2 ** 20

/** Whether the copy of a refused file is made after its import. */
export function isLarge({ bytes }: AcceptLine): boolean {
  return bytes > copyBytesMax
}

/** The manifest where lines are added, by its writer or by who asks it to. */
export type LineManifest = ManifestView & Pick<ManifestIndex, 'acceptedBytes'> & Pick<Manifest, 'append'>

interface ArchiveOptions {
  dir: string
  manifest: LineManifest
}

/** Opens the archive of a catalog; `dir` is `state/<catalog>`. */
export async function openArchive({ dir, manifest }: ArchiveOptions): Promise<Archive> {
  const { archiveDir, failedDir } = layoutOf(dir)
  await makeFolder(archiveDir)
  await makeFolder(failedDir)
  return new Archive(dir, manifest)
}

/**
 * The accepted files. A file stands under its claim in `archive/` until it is archived, and then compressed in a folder
 * of its day. In both places `accept.bytes` bounds what belongs to it: an archived file is never longer.
 */
export class Archive {
  readonly #dir: string
  readonly #archiveDir: string
  readonly #manifest: LineManifest

  constructor(dir: string, manifest: LineManifest) {
    this.#dir = dir
    this.#archiveDir = layoutOf(dir).archiveDir
    this.#manifest = manifest
  }

  /** Where the file is now. Whether it is compressed is for the reader to find out: feeds may be, too. */
  pathOf(accept: AcceptLine): string {
    return pathInArchive(this.#dir, accept, this.#manifest)
  }

  /**
   * What to read of an accepted file now. A compressed copy belongs to the acceptance as a whole; of the plain file,
   * which may grow, only the bytes that were accepted do.
   */
  async sourceOf(accept: AcceptLine): Promise<{ path: string; bytes: number }> {
    return sourceIn(this.#dir, accept, this.#manifest)
  }

  /**
   * Compresses a file and notes its hash, after its import; nothing depends on when. Interrupted, it is done again.
   * The plain file goes unless it has grown meanwhile (then the growth watch removes it).
   */
  async archiveFile(accept: AcceptLine, signal?: AbortSignal): Promise<ArchiveLine> {
    const known = this.#manifest.archived(accept.claim)
    if (known) return known
    const plain = join(this.#archiveDir, fileNameOf(accept))
    const day = accept.acceptedAt.slice(0, 10)
    const stored = await this.#store({ accept, plain, day, signal })
    await syncFolder(join(this.#archiveDir, day))
    const line: ArchiveLine = { kind: 'archive', claim: accept.claim, ...stored }
    await this.#manifest.append([line])
    const stats = await lstatIfPresent(plain)
    if (stats?.size === this.#manifest.acceptedBytes(accept)) await removeIfPresent(plain)
    return line
  }

  /**
   * Puts a copy of a refused file under `failed/<feed>/`, with `report` as `<name>.report.json` beside it; the archive
   * keeps the original. The copy of a large file is left to `copyRefused`, since all other imports would wait for it. On
   * a full disk the report stands alone. Safe to repeat. Returns the path of the report.
   */
  async failFile(
    accept: AcceptLine,
    report: object,
    copying: { onPart?: () => void; signal?: AbortSignal } = {},
  ): Promise<string> {
    const dir = failedDirOf(this.#dir, accept.feed)
    await makeFolder(dir)
    const name = await freeName(dir, accept)
    const { source, path } = this.#refusedPaths(accept, join(dir, name))
    try {
      // Not a link: an editor that corrects the copy must not change the archive.
      if (!isLarge(accept)) await copyInParts(source, path, copying)
    } catch (error) {
      if (!isFull(error)) throw error
      await removeIfPresent(path)
    }
    const { claim, sequence, feed, acceptedAt } = accept
    const text = JSON.stringify(
      { claim, sequence, feed, name: accept.name, acceptedAt, ...report },
      undefined,
      2,
    )
    const reportPath = join(dir, `${name}${failedReportSuffix}`)
    await writeDurably(reportPath, `${text}\n`, join(dir, `.${claim}.tmp`))
    return reportPath
  }

  /**
   * Makes the copy that `failFile` left out, where the report still stands and nobody has put a file beside it. Safe to
   * repeat; a copy that was interrupted is begun again.
   */
  async copyRefused(accept: AcceptLine, signal?: AbortSignal): Promise<void> {
    const dir = failedDirOf(this.#dir, accept.feed)
    const name = await freeName(dir, accept)
    const isAwaited = async () =>
      (await claimOfReport(join(dir, `${name}${failedReportSuffix}`))) === accept.claim
    const { source, path } = this.#refusedPaths(accept, join(dir, name))
    if (!(await isAwaited()) || (await lstatIfPresent(path))) return
    const temporary = join(dir, `.${accept.claim}.copy`)
    try {
      await copyInParts(source, temporary, signal ? { signal } : {})
      if (await isAwaited()) await rename(temporary, path)
    } catch (error) {
      if (!isFull(error)) throw error
    } finally {
      await removeIfPresent(temporary)
    }
  }

  /** Where the refused file is, and where its copy goes: compressed if the archive has it so. */
  #refusedPaths(accept: AcceptLine, plain: string): { source: string; path: string } {
    const source = this.pathOf(accept)
    const isRecompressed = source.endsWith('.zst') && !accept.name.endsWith('.zst')
    return { source, path: isRecompressed ? `${plain}.zst` : plain }
  }

  async #store({ accept, plain, day, signal }: Storing): Promise<Pick<ArchiveLine, 'path' | 'sha256'>> {
    const fileName = fileNameOf(accept)
    const reading = { from: plain, bytes: accept.bytes, signal }
    const asItIs = join(day, fileName)
    const put = (act: () => Promise<void>) => putInto(join(this.#archiveDir, day), act)
    const temporary = join(this.#archiveDir, compressName(fileName))
    if (await startsCompressed(plain)) {
      const sha256 = await hashContent(reading)
      await put(() => this.#link(plain, asItIs, temporary))
      return { path: asItIs, sha256 }
    }
    try {
      const sha256 = await compressContent(reading, temporary)
      const isSmaller = (await syncFile(temporary)) <= accept.bytes
      const path = isSmaller ? `${asItIs}.zst` : asItIs
      const target = join(this.#archiveDir, path)
      await put(() => (isSmaller ? rename(temporary, target) : this.#link(plain, path, temporary)))
      return { path, sha256 }
    } finally {
      await removeIfPresent(temporary)
    }
  }

  /** A second name for the same content where the file system has such, else a copy. */
  async #link(plain: string, path: string, temporary: string): Promise<void> {
    const target = join(this.#archiveDir, path)
    try {
      await link(plain, target)
    } catch (error) {
      const code = systemErrorCode(error) ?? ''
      // Taken already: an earlier run came as far as this.
      if (code === 'EEXIST') return
      if (!linkUnsupported.has(code)) throw error
      await copyDurably(plain, target, temporary)
    }
  }
}

interface Storing {
  accept: AcceptLine
  plain: string
  day: string
  signal: AbortSignal | undefined
}

/** Retention removes the folder of a day whenever it is empty: it is made right before, and once more where it is gone. */
async function putInto(folder: string, put: () => Promise<void>): Promise<void> {
  await makeFolder(folder)
  try {
    await put()
  } catch (error) {
    if (systemErrorCode(error) !== 'ENOENT') throw error
    await makeFolder(folder)
    await put()
  }
}

/** Two refused files of one name: the later one carries its claim. */
async function freeName(dir: string, accept: AcceptLine): Promise<string> {
  const other = await claimOfReport(join(dir, `${accept.name}${failedReportSuffix}`))
  return other === undefined || other === accept.claim ? accept.name : `${accept.claim}-${accept.name}`
}

/** Relative to the archive folder. */
export function placeInArchive(accept: AcceptLine, manifest: Pick<ManifestView, 'archived'>): string {
  return manifest.archived(accept.claim)?.path ?? fileNameOf(accept)
}

type Places = Pick<ManifestView, 'archived'>

/** `dir`: `state/<catalog>`. */
export function pathInArchive(dir: string, accept: AcceptLine, manifest: Places): string {
  return join(layoutOf(dir).archiveDir, placeInArchive(accept, manifest))
}

/** `Archive.sourceOf`, for who only reads. */
export async function sourceIn(
  dir: string,
  accept: AcceptLine,
  manifest: Places,
): Promise<{ path: string; bytes: number }> {
  const path = pathInArchive(dir, accept, manifest)
  if (!path.endsWith(`${fileNameOf(accept)}.zst`)) return { path, bytes: accept.bytes }
  // Whoever reads the file says it better when it is not there.
  const bytes = await stat(path).then(
    ({ size }) => size,
    () => accept.bytes,
  )
  return { path, bytes }
}

function fileNameOf(accept: AcceptLine): string {
  return claimFileName(partsOf(accept))
}
