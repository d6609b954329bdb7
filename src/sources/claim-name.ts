import { randomBytes } from 'node:crypto'
import type { FeedMode } from '../config/model.ts'
import type { FeedName } from '../lib/brand.ts'
import type { Clock } from '../lib/clock.ts'
import { decodeExpectation, encodeExpectation } from './file-patterns.ts'
import type { AcceptLine, ClaimId, Expectation } from './model.ts'

/** What the name of a claimed file says, enough to write its manifest line after a crash. */
export interface ClaimParts {
  claim: ClaimId
  feed: FeedName
  mode: FeedMode
  /** The claim that the content was first accepted as, when it was written on afterwards. */
  grownFrom?: ClaimId | undefined
  /** Every product it names is to be sent again. */
  resend?: boolean | undefined
  /** Of a pushed file whose sender named the push. */
  pushKey?: string | undefined
  /** As of when the content holds, where the name said so: ms since the epoch. */
  asOfMs?: number | undefined
  /** What side files said of it. */
  expect?: Expectation | undefined
  /** Cleaned (`cleanName`). */
  name: string
}

/** Common file systems allow 255 bytes; the rest is for a temporary prefix and `.zst`. */
const fileNameBytesMax = 240
const countersPerMs = 36 ** 4

/**
 * Makes claim ids `20261120T104301123-0000-5f3a9c2e`: UTC time, counter within the millisecond, process. They sort by
 * time as plain text, also when the clock is set back, and never repeat over processes.
 */
export class ClaimIds {
  readonly #clock: Clock
  readonly #process = randomBytes(4).toString('hex')
  #lastMs = 0
  #counter = 0

  constructor(clock: Clock) {
    this.#clock = clock
  }

  next(): ClaimId {
    const now = Math.floor(this.#clock.now())
    if (now > this.#lastMs) {
      this.#lastMs = now
      this.#counter = 0
    } else if (++this.#counter === countersPerMs) {
      this.#lastMs++
      this.#counter = 0
    }
    const stamp = new Date(this.#lastMs).toISOString().replace(/[-:.Z]/g, '')
    return `${stamp}-${this.#counter.toString(36).padStart(4, '0')}-${this.#process}`
  }
}

/** Name of a claimed file in the archive, in a hidden folder and in the inbox. */
export function claimFileName(parts: ClaimParts): string {
  const { claim, feed, mode, grownFrom, name } = parts
  const head = `${claim}~${encodeFeed(feed)}~${mode}${marksOf(parts)}~${grownFrom ?? ''}~`
  return head + cutBytes(name, fileNameBytesMax - Buffer.byteLength(head))
}

function marksOf({ resend, pushKey, asOfMs, expect }: ClaimParts): string {
  return [
    resend ? '+resend' : '',
    pushKey === undefined ? '' : `+key-${pushKey}`,
    asOfMs === undefined ? '' : `+as-of-${asOfMs}`,
    expect === undefined ? '' : `+expect-${encodeExpectation(expect)}`,
  ].join('')
}

/** The parts of an accepted file: the name of the claimed file is made of them again. */
export function partsOf(accept: AcceptLine): ClaimParts {
  const { claim, feed, mode, name, grownFrom, resend, pushKey, isDated, asOf, expect } = accept
  const asOfMs = isDated ? Date.parse(asOf) : undefined
  return { claim, feed, mode, name, grownFrom, resend, pushKey, asOfMs, expect }
}

export function parseClaimFileName(fileName: string): ClaimParts | undefined {
  const match = claimPattern.exec(fileName)?.groups
  if (!match?.claim || !match.feed || !match.name) return undefined
  return {
    claim: match.claim,
    feed: decodeFeed(match.feed) as FeedName,
    mode: match.mode === 'full' ? 'full' : 'delta',
    grownFrom: match.grownFrom || undefined,
    resend: match.resend !== undefined,
    ...(match.pushKey === undefined ? {} : { pushKey: match.pushKey }),
    ...(match.asOf === undefined ? {} : { asOfMs: Number(match.asOf) }),
    ...(match.expect === undefined ? {} : { expect: decodeExpectation(match.expect) }),
    name: match.name,
  }
}

export function isClaimId(text: string): boolean {
  return /^\d{8}T\d{9}-[0-9a-z]{4}-[0-9a-f]{8}$/.test(text)
}

const claimPattern =
  /^(?<claim>\d{8}T\d{9}-[0-9a-z]{4}-[0-9a-f]{8})~(?<feed>[^~]+)~(?<mode>full|delta)(?<resend>\+resend)?(?:\+key-(?<pushKey>[0-9a-f]{32}))?(?:\+as-of-(?<asOf>\d{1,14}))?(?:\+expect-(?<expect>[\w.-]+))?~(?<grownFrom>[^~]*)~(?<name>.+)$/s

/** A feed may be called anything that YAML allows as a key. */
function encodeFeed(feed: FeedName): string {
  return encodeURIComponent(feed).replaceAll('~', '%7E')
}

function decodeFeed(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** Cuts in front of the last extension, at a character boundary. */
export function cutBytes(name: string, bytesMax: number): string {
  if (Buffer.byteLength(name) <= bytesMax) return name
  const extension = /\.[\w]{1,10}(?:\.(?:gz|zst|zip))?$/i.exec(name)?.[0] ?? ''
  const room = bytesMax - extension.length
  let head = ''
  let bytes = 0
  for (const character of name.slice(0, name.length - extension.length)) {
    bytes += Buffer.byteLength(character)
    if (bytes > room) break
    head += character
  }
  return head + extension
}
