import { relative, resolve } from 'node:path'
import type { ConfigDocument } from './document.ts'
import { feedPaths, soundPart } from './parts.ts'
import { patternsOverlap } from './pattern-overlap.ts'
import { type ConfigPath, formatPath } from './problems.ts'
import { feedShape } from './schema.ts'

interface Drop {
  path: ConfigPath
  /** Absolute. */
  folder: string
  patterns: readonly string[]
}

/** Which file belongs to which feed must be beyond doubt, over all catalogs. */
export function checkDropFolders(document: ConfigDocument, folder: string): void {
  const state = document.at(['state'])
  const stateFolder = resolve(folder, typeof state === 'string' ? state : './state')
  const drops: Drop[] = []
  for (const drop of readDrops(document, folder)) {
    const path = [...drop.path, 'drop']
    if (isInside(drop.folder, stateFolder)) {
      document.addProblem(path, 'found a folder inside the state folder, expected one outside of it')
    }
    const other = drops.find((earlier) => earlier.folder === drop.folder && overlap(earlier, drop))
    if (other !== undefined) {
      const found = `found the folder of ${formatPath(other.path)}, where one file could belong to both feeds`
      document.addProblem(
        path,
        `${found}, expected another folder, or "files" patterns that no name can both match`,
      )
    }
    drops.push(drop)
  }
}

function isInside(folder: string, parent: string): boolean {
  const way = relative(parent, folder)
  return way === '' || !(way === '..' || way.startsWith('../'))
}

function overlap(a: Drop, b: Drop): boolean {
  return a.patterns.some((first) => b.patterns.some((second) => patternsOverlap(first, second)))
}

function readDrops(document: ConfigDocument, folder: string): Drop[] {
  return feedPaths(document).flatMap((path): Drop[] => {
    const drop = soundPart(document, [...path, 'drop'], feedShape.drop)
    const files = soundPart(document, [...path, 'files'], feedShape.files)
    if (drop === undefined || files === undefined) return []
    const patterns = typeof files === 'string' ? [files] : [files.full, files.delta]
    return [{ path, folder: resolve(folder, drop), patterns: patterns.filter((one) => one !== undefined) }]
  })
}
