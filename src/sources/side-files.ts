import type { FeedMode, SideKind } from '../config/model.ts'
import { compressedSuffix } from './compressed-suffix.ts'
import type { Expectation } from './model.ts'

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
