import picomatch from 'picomatch'
import type { FeedConfig, FeedMode, SideKind } from '../config/model.ts'
import type { Expectation } from './model.ts'

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

const sideKinds = ['md5', 'sha256', 'count'] as const satisfies readonly SideKind[]

const sideName = /^(?<stem>.+)\.(?<kind>md5|sha256|count)$/is

/** What a side file speaks of: `products.csv.md5` → `products.csv`. Undefined for other names. */
export function parseSideName(name: string): { stem: string; kind: SideKind } | undefined {
  const { stem, kind } = sideName.exec(name)?.groups ?? {}
  return stem === undefined || kind === undefined ? undefined : { stem, kind: kind.toLowerCase() as SideKind }
}

/** Whether a side file speaks of a file of the feed, by the names that the feed takes. */
export function isSideOf(name: string, modeOf: (name: string) => FeedMode | undefined): boolean {
  const side = parseSideName(name)
  return side !== undefined && modeOf(side.stem) !== undefined
}

/** Names under which the side files of a file are looked for; the number of records also without the compression. */
export function sideNamesOf(name: string): { kind: SideKind; name: string }[] {
  const isUpper = name !== name.toLowerCase() && name === name.toUpperCase()
  const stems = (kind: SideKind) => {
    const plain = name.replace(compressedSuffix, '')
    return kind === 'count' && plain !== name ? [name, plain] : [name]
  }
  return sideKinds.flatMap((kind) =>
    stems(kind).flatMap((stem) => {
      const lower = { kind, name: `${stem}.${kind}` }
      return isUpper ? [lower, { kind, name: `${stem}.${kind.toUpperCase()}` }] : [lower]
    }),
  )
}

/** Names of the files that a side file may speak of. */
export function ownersOf({ stem, kind }: { stem: string; kind: SideKind }): string[] {
  return kind === 'count' ? [stem, ...['.gz', '.zst', '.zip'].map((suffix) => stem + suffix)] : [stem]
}

const hexLength = { md5: 32, sha256: 64 } as const

/**
 * What a side file says of the file called `name`: a number of records, or a hash in lower-case hexadecimal. Knows a
 * bare value, `value  name` (also several such lines, of which one names the file) and `MD5 (name) = value`. Undefined:
 * it says nothing, or is not written yet.
 */
export function parseSide(kind: SideKind, bytes: Buffer, name: string): string | number | undefined {
  const lines = textOf(bytes)
    .split(/\r?\n|\r/)
    .flatMap((line) => line.trim() || [])
  if (kind === 'count') {
    const digits = lines.length === 1 ? /^(\d{1,15})(?:\s.*)?$/.exec(lines[0] ?? '')?.[1] : undefined
    return digits === undefined ? undefined : Number(digits)
  }
  const found = lines.flatMap((line) => parseHashLine(line, hexLength[kind]) ?? [])
  if (lines.length === 1) return found[0]?.hash
  return found.find((line) => line.name === name)?.hash
}

/** Windows' shells write UTF-16. */
function textOf(bytes: Buffer): string {
  const isWide = bytes[0] === 0xff && bytes[1] === 0xfe
  return bytes.toString(isWide ? 'utf16le' : 'utf8').replace(/^\ufeff/, '')
}

function parseHashLine(line: string, length: number): { hash: string; name: string } | undefined {
  const plain = /^\\?(?:[\w-]+:)?([0-9a-f]+)(?:\s+\*?(.*))?$/i.exec(line)
  const tagged = /^[\w-]+ ?\((.*)\) ?= ?([0-9a-f]+)$/i.exec(line)
  const [hash, path] = plain ? [plain[1], plain[2]] : [tagged?.[2], tagged?.[1]]
  if (hash?.length !== length) return undefined
  return { hash: hash.toLowerCase(), name: path?.split(/[/\\]/).at(-1) ?? '' }
}

/**
 * An expectation as a part of the name of a claimed file: what is claimed is checked, whatever crash comes between the
 * claim and its line in the manifest.
 */
export function encodeExpectation({ md5, sha256, count, unreadable }: Expectation): string {
  const compact = (hex: string) => Buffer.from(hex, 'hex').toString('base64url')
  return [
    ...(md5 === undefined ? [] : [`m${compact(md5)}`]),
    ...(sha256 === undefined ? [] : [`s${compact(sha256)}`]),
    ...(count === undefined ? [] : [`c${count}`]),
    ...(unreadable === undefined ? [] : [`u${unreadable}`]),
  ].join('.')
}

export function decodeExpectation(text: string): Expectation {
  const expectation: Expectation = {}
  for (const part of text.split('.')) {
    const [key, value] = [part[0], part.slice(1)]
    if (key === 'm') expectation.md5 = Buffer.from(value, 'base64url').toString('hex')
    else if (key === 's') expectation.sha256 = Buffer.from(value, 'base64url').toString('hex')
    else if (key === 'c') expectation.count = Number(value)
    else expectation.unreadable = sideKinds.find((kind) => kind === value) ?? 'md5'
  }
  return expectation
}

/** Ends the names of compressed files; without it the name is that of the plain file. */
const compressedSuffix = /\.(?:gz|zst|zip)$/i
