import type { FeedConfig, FeedMode } from '../config/model.ts'
import { displayName, isTemporaryName, type RawName, shownName } from './entry-name.ts'
import { compileMarkerPattern, compileNames, isSideOf, rejectsFeedOf } from './file-patterns.ts'
import type { FolderEntry } from './folder-scan.ts'

/**
 * What an entry of a drop folder is to a feed, by its name and kind alone. `other`: nothing to tell, such as a marker, a
 * side file, a file that its writer has not finished, or one of another feed.
 */
export type EntryRole =
  | { role: 'file'; mode: FeedMode }
  | { role: 'left-alone'; reason: string }
  | typeof other

/** Entries that are never accepted, for the operator to know. */
export interface LeftAlone {
  count: number
  /** The first of them by name, with the reason. */
  examples: string[]
}

type NamedFeed = Pick<FeedConfig, 'name' | 'files' | 'dropDir' | 'settle'>

const other = { role: 'other' } as const
const examplesMax = 5
const kindWords = { folder: 'a folder', link: 'a symbolic link', device: 'no regular file' }

/** `feeds`: all of the catalog, some of which may share the folder. */
export function compileRoles(feed: NamedFeed, feeds: Iterable<NamedFeed>): (entry: FolderEntry) => EntryRole {
  const isForeign = foreignNames(feed, feeds)
  const modeOf = compileNames(feed)
  const isMarker = markersOfFeed(feed)
  const unmatched = { role: 'left-alone', reason: describeUnmatched(feed) } as const
  return ({ raw, kind }) => {
    const name = displayName(raw)
    if (isTemporaryName(name) || isMarker(name) || isForeign(name)) return other
    if (kind === 'file' && isSideOf(name, modeOf)) return other
    if (kind !== 'file') return { role: 'left-alone', reason: kindWords[kind] }
    const mode = modeOf(name)
    return mode === undefined ? unmatched : { role: 'file', mode }
  }
}

/** The patterns stand in it: who wrote them sees at once where the name departs from them. */
function describeUnmatched({ files }: Pick<NamedFeed, 'files'>): string {
  return `matches none of: ${files.map(({ pattern }) => pattern).join(', ')}`
}

/** Adds one more; the examples stay in the order of their names, whatever order the folder has. */
export function noteLeftAlone(leftAlone: LeftAlone, raw: RawName, reason: string): void {
  leftAlone.count++
  leftAlone.examples.push(`${shownName(raw)} (${reason})`)
  leftAlone.examples.sort()
  leftAlone.examples.length = Math.min(leftAlone.examples.length, examplesMax)
}

/** Undefined: there are none. */
export function describeLeftAlone(dropDir: string, { count, examples }: LeftAlone): string | undefined {
  if (count === 0) return undefined
  const others = count > examples.length ? ` and ${count - examples.length} more` : ''
  return `Left alone in ${dropDir}: ${examples.join(', ')}${others}. Only regular files that the feed's pattern matches are taken: move them elsewhere, or correct files`
}

/** Whether another feed takes files of that name from the same folder. */
function foreignNames(feed: NamedFeed, feeds: Iterable<NamedFeed>): (name: string) => boolean {
  const others = [...feeds].filter(({ name, dropDir }) => name !== feed.name && dropDir === feed.dropDir)
  const matchers = others.map((each) => claimsOf(each))
  const names = new Set<string | undefined>(others.map(({ name }) => name))
  const ownMode = compileNames(feed)
  const isOwn = (name: string) => ownMode(name) !== undefined || isSideOf(name, ownMode)
  // Rejects of another feed are its own, even if a pattern of this one matches them.
  return (name) =>
    names.has(rejectsFeedOf(name)) || (!isOwn(name) && matchers.some((matches) => matches(name)))
}

function claimsOf(feed: NamedFeed): (name: string) => boolean {
  const modeOf = compileNames(feed)
  const isMarker = markersOfFeed(feed)
  return (name) => modeOf(name) !== undefined || isMarker(name) || isSideOf(name, modeOf)
}

function markersOfFeed({ settle }: Pick<NamedFeed, 'settle'>): (name: string) => boolean {
  return settle.kind === 'marker' ? compileMarkerPattern(settle.pattern) : () => false
}
