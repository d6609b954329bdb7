import { createReadStream } from 'node:fs'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { readReport, reportPath } from '../imports/report.ts'
import type { AcceptSequence } from '../lib/brand.ts'
import { ifPresent } from '../lib/errors.ts'
import type { ManifestView } from '../sources/manifest-index.ts'
import type { AcceptLine } from '../sources/model.ts'

/** A rejected record that names the product: what it says counts nowhere. */
export interface Rejection {
  import: number
  feed: string
  /** The rejected records of that import, each with its reason, and where the first one that names the product stands. */
  rejectsFile: string
  line: number
}

const importsMax = 20
/** Of each of their files. */
const bytesMax = 2_000_000

/** Among the last imports, newest first. `dir`: `state/<catalog>`. */
export async function findRejections(dir: string, manifest: ManifestView, id: string): Promise<Rejection[]> {
  const accepts: AcceptLine[] = []
  for (let sequence = manifest.nextSequence - 1; sequence > 0 && accepts.length < importsMax; sequence -= 1) {
    const accept = manifest.file(sequence as AcceptSequence)
    if (accept) accepts.push(accept)
  }
  const reports = await Promise.all(
    accepts.map((accept) => readReport(reportPath(join(dir, 'reports'), accept))),
  )
  const found: Rejection[] = []
  for (const [at, { sequence, feed }] of accepts.entries()) {
    const rejectsFile = reports[at]?.rejectsFile
    const line = rejectsFile === undefined ? undefined : await findLine(rejectsFile, id)
    if (rejectsFile !== undefined && line !== undefined)
      found.push({ import: sequence, feed, rejectsFile, line })
  }
  return found
}

/** The line on which the id stands by itself. What was removed, or is too long, is not looked through to its end. */
async function findLine(file: string, id: string): Promise<number | undefined> {
  // Most files do not name it, and lines take their time.
  if (!(await holdsText(file, id))) return undefined
  const literal = id.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
  const pattern = new RegExp(`(?<![\\p{L}\\p{N}])${literal}(?![\\p{L}\\p{N}])`, 'u')
  const input = createReadStream(file, { encoding: 'utf8', end: bytesMax })
  const lines = createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY })
  let at = 0
  try {
    for await (const line of lines) {
      at += 1
      if (pattern.test(line)) return at
    }
  } catch {
    return undefined
  } finally {
    input.destroy()
  }
  return undefined
}

async function holdsText(file: string, text: string): Promise<boolean> {
  const handle = await ifPresent(open(file))
  if (!handle) return false
  try {
    const { buffer, bytesRead } = await handle.read({ buffer: Buffer.allocUnsafe(bytesMax) })
    return buffer.subarray(0, bytesRead).includes(text)
  } finally {
    await handle.close()
  }
}
