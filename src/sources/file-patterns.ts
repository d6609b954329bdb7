import picomatch from 'picomatch'
import type { FeedConfig, FeedMode } from '../config/model.ts'
import { compressedSuffix } from './compressed-suffix.ts'
import { parseSideName } from './side-files.ts'

/** The mode of a file by its name; undefined when it does not belong to the feed. The first pattern that matches counts. */
export type MatchMode = (name: string) => FeedMode | undefined

/** Each pattern also matches its compressed forms, and never a side file. */
export function compilePatterns(files: FeedConfig['files']): MatchMode {
  const matchers = files.map(({ pattern, mode }) => ({ matches: picomatch(pattern), mode }))
  return (name) => {
    if (parseSideName(name)) return undefined
    const plain = name.replace(compressedSuffix, '')
    return matchers.find(({ matches }) => matches(name) || matches(plain))?.mode
  }
}

/** As the report of an import calls them: `00000025-stock.rejects.csv`. */
const rejectsName = /^\d{8,}-(?<feed>.+)\.rejects\.[a-z0-9]+$/

/** The feed that wrote a file of rejected records, by its name. */
export function rejectsFeedOf(name: string): string | undefined {
  return rejectsName.exec(name.replace(compressedSuffix, ''))?.groups?.feed
}

/**
 * What a feed takes from its drop folder: the names that its patterns match, and its own rejected records, which are not
 * always of the type that its patterns name (those of spreadsheets are CSV).
 */
export function compileNames({ name, files }: Pick<FeedConfig, 'name' | 'files'>): MatchMode {
  const modeOf = compilePatterns(files)
  return (file) => modeOf(file) ?? (rejectsFeedOf(file) === name ? 'delta' : undefined)
}

/**
 * Names of the markers that say a file is complete: `products.csv.gz` by `*.done` is announced by `products.csv.gz.done`,
 * `products.csv.done` or `products.done`. A pattern without `*` is one marker for all files.
 */
export function markersOf(pattern: string, name: string): string[] {
  const stems = [name]
  if (compressedSuffix.test(name)) stems.push(name.replace(compressedSuffix, ''))
  const bare = stems.at(-1)?.replace(/(?<=.)\.[^.]*$/, '')
  if (bare && bare !== stems.at(-1)) stems.push(bare)
  return [...new Set(stems.map((stem) => pattern.replace('*', () => stem)))]
}

export function compileMarkerPattern(pattern: string): (name: string) => boolean {
  return picomatch(pattern, { dot: true })
}
