import { createHash } from 'node:crypto'
import { open, rename } from 'node:fs/promises'
import { join } from 'node:path'
import type { FeedConfig, FeedMode } from '../config/model.ts'
import type { AcceptSequence } from '../lib/brand.ts'
import { removeIfPresent } from '../lib/durable.ts'
import { SourceError, systemErrorCode } from '../lib/errors.ts'
import { privateFileMode } from '../lib/private-modes.ts'
import { syncFolder } from '../lib/system.ts'
import type { Acceptor } from './acceptor.ts'
import { compileNameTime } from './as-of.ts'
import { type ClaimParts, claimFileName, partsOf } from './claim-name.ts'
import { hashContent } from './compress.ts'
import { cleanName } from './entry-name.ts'
import { compilePatterns } from './file-patterns.ts'
import { copyName } from './layout.ts'
import type { AcceptLine } from './model.ts'
import { fullError, isFull } from './space.ts'
import type { AcceptingParts, Upkeep } from './upkeep.ts'

/** A file that somebody sends instead of dropping it. */
export interface PushedFile {
  feed: FeedConfig
  /** As it appears among the imports. */
  name: string
  /** Undefined: as the feed's patterns say of the name. */
  mode: FeedMode | undefined
  body: AsyncIterable<Uint8Array>
  /** Of the body, where its sender has said so. */
  bytes: number | undefined
  bytesMax: number
  /** Ends the body, whose sender is to come again. */
  breakOff: () => void
  /** What the sender calls this push: repeated under the same key it is accepted once. */
  key: string | undefined
}

export interface AcceptedPush {
  sequence: AcceptSequence
  bytes: number
  /** It was accepted before, under the same key, with the same body. */
  isRepeated: boolean
}

/**
 * Accepts a pushed file durably. Throws a SourceError with code `push-mode`, `push-empty`, `push-too-large`, `push-running`
 * (the same key is being received), `push-other` (the key was used for another body), `push-busy`, `push-closed` or
 * `disk-full`, and what the body throws when its sender breaks off; then nothing was accepted.
 */
export type AcceptPushed = (file: PushedFile) => Promise<AcceptedPush>

interface PushOptions extends Pick<AcceptingParts, 'acceptor' | 'log' | 'onAccepted'> {
  upkeep: Upkeep
}

const runningMax = 64
/** So long those that arrive go on when all is closed for a changed configuration. */
const closeWithinMs = 30_000
/** While a body arrives the disk may fill up by others. */
const lookAtSpaceEveryBytes = 64 * 1024 * 1024

/** Takes pushed files into the archive as the drop folders' are, and ends, when disposed, with those that arrive. */
export class PushAcceptor implements AsyncDisposable {
  readonly #options: PushOptions
  readonly #running = new Map<Promise<unknown>, PushedFile>()
  readonly #keys = new Set<string>()
  #isStopping = false

  constructor(options: PushOptions) {
    this.#options = options
  }

  accept: AcceptPushed = async (file) => {
    if (this.#isStopping) throw new SourceError('push-closed', 'This process ends and accepts nothing more')
    if (this.#running.size >= runningMax) {
      throw new SourceError('push-busy', `${runningMax} files are being received`, {
        hint: 'Try again later',
      })
    }
    const accepting = file.key === undefined ? this.#accept(file) : this.#acceptOnce(file, file.key)
    this.#running.set(accepting, file)
    try {
      return await accepting
    } finally {
      this.#running.delete(accepting)
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isStopping = true
    const cut = setTimeout(() => {
      for (const { breakOff } of this.#running.values()) breakOff()
    }, closeWithinMs)
    await Promise.allSettled(this.#running.keys())
    clearTimeout(cut)
  }

  async #acceptOnce(file: PushedFile, key: string): Promise<AcceptedPush> {
    const pushKey = digestOf(file.feed, key)
    const known = this.#options.acceptor.manifest.pushed(pushKey)
    if (known) return this.#repeated(file, known)
    if (this.#keys.has(pushKey)) {
      throw new SourceError('push-running', 'A push with the same Idempotency-Key is being received', {
        hint: 'Wait for its end, then ask again',
      })
    }
    this.#keys.add(pushKey)
    try {
      return await this.#accept(file, pushKey)
    } finally {
      this.#keys.delete(pushKey)
    }
  }

  async #repeated({ bytes, body }: PushedFile, known: AcceptLine): Promise<AcceptedPush> {
    if (bytes !== undefined && bytes !== known.bytes) throw otherBody(known, `has ${bytes}`)
    const hash = createHash('sha256')
    let found = 0
    for await (const chunk of body) {
      found += chunk.length
      if (found > known.bytes) throw otherBody(known, 'has more')
      hash.update(chunk)
    }
    if (found < known.bytes) throw otherBody(known, `has ${found}`)
    if (hash.digest('hex') !== (await this.#hashOf(known))) throw otherBody(known, 'has others')
    return { sequence: known.sequence, bytes: known.bytes, isRepeated: true }
  }

  /** Of what was pushed: the manifest has it once the file is archived, and the plain file may go at any time then. */
  async #hashOf(known: AcceptLine): Promise<string> {
    const { archiveDir, manifest } = this.#options.acceptor
    const from = join(archiveDir, claimFileName(partsOf(known)))
    const archived = manifest.archived(known.claim)
    if (archived) return archived.sha256
    try {
      return await hashContent({ from, bytes: known.bytes, signal: undefined })
    } catch (error) {
      const archivedNow = manifest.archived(known.claim)
      if (systemErrorCode(error) !== 'ENOENT' || !archivedNow) throw error
      return archivedNow.sha256
    }
  }

  async #accept(file: PushedFile, pushKey?: string): Promise<AcceptedPush> {
    const { acceptor } = this.#options
    const { feed, bytes = 0, bytesMax } = file
    const mode = modeOf(file)
    if (bytes > bytesMax) throw tooLarge(bytesMax)
    await acceptor.requireSpace(bytes)
    const claim = acceptor.claimIds.next()
    const name = cleanName(file.name)
    const asOfMs = compileNameTime(feed.asOf)?.(name)
    const parts: ClaimParts = { claim, feed: feed.name, mode, name, asOfMs, pushKey }
    return acceptor.whileInFlight([claim], () => this.#take(file, parts))
  }

  async #take({ feed, body, bytesMax }: PushedFile, parts: ClaimParts): Promise<AcceptedPush> {
    const { acceptor, upkeep, log, onAccepted } = this.#options
    const fileName = claimFileName(parts)
    const path = join(acceptor.archiveDir, fileName)
    const temporary = join(acceptor.archiveDir, copyName(fileName))
    try {
      const bytes = await receive(body, { path: temporary, bytesMax, acceptor })
      await upkeep.completeClaims()
      await rename(temporary, path)
      const [line] = await this.#giveLine(parts, bytes)
      if (!line) throw new Error('a claim of a pushed file had a line already')
      log.info({ feed: feed.name, sequence: line.sequence, bytes }, 'accepted a pushed file')
      onAccepted([line])
      return { sequence: line.sequence, bytes, isRepeated: false }
    } catch (error) {
      await removeIfPresent(temporary).catch(() => undefined)
      throw isFull(error) ? fullError(acceptor.archiveDir, { cause: error }) : error
    }
  }

  /** A file that stands there without a line is for recovery: another process may be at it already. */
  async #giveLine(parts: ClaimParts, bytes: number): Promise<AcceptLine[]> {
    const { acceptor } = this.#options
    try {
      await syncFolder(acceptor.archiveDir)
      return await acceptor.append([acceptor.lineOf(parts, bytes)])
    } catch (error) {
      acceptor.leaveClaims(acceptor.archiveDir)
      throw error
    }
  }
}

interface Receiving {
  path: string
  bytesMax: number
  acceptor: Acceptor
}

/** Writes the body as it comes and makes it durable. Returns its bytes. */
async function receive(
  body: AsyncIterable<Uint8Array>,
  { path, bytesMax, acceptor }: Receiving,
): Promise<number> {
  await using file = await open(path, 'wx', privateFileMode)
  let bytes = 0
  let lookAt = lookAtSpaceEveryBytes
  for await (const chunk of body) {
    bytes += chunk.length
    if (bytes > bytesMax) throw tooLarge(bytesMax)
    if (bytes >= lookAt) {
      await acceptor.requireSpace(0)
      lookAt += lookAtSpaceEveryBytes
    }
    await file.writeFile(chunk)
  }
  if (bytes === 0) {
    throw new SourceError('push-empty', 'The body is empty', {
      hint: 'Send the file itself: curl --data-binary @file',
    })
  }
  await file.sync()
  return bytes
}

function modeOf({ feed, name, mode: asked }: PushedFile): FeedMode {
  const modes = new Set(feed.files.map(({ mode }) => mode))
  if (asked !== undefined && feed.kind === 'consents' && asked === 'full') {
    throw new SourceError('push-mode', `Feed ${feed.name} has no full files`, {
      hint: 'Leave mode out: a consent that a file does not name stays as it is',
    })
  }
  if (asked !== undefined) return asked
  const [only] = modes
  const mode = modes.size === 1 ? only : compilePatterns(feed.files)(name)
  if (mode !== undefined) return mode
  throw new SourceError('push-mode', `Feed ${feed.name} takes full and delta files`, {
    hint: 'Say which with ?mode=full or ?mode=delta, or give a name that one of its patterns matches',
  })
}

function otherBody(known: AcceptLine, found: string): SourceError {
  const message = `The Idempotency-Key was used for a body of ${known.bytes} bytes, this one ${found}`
  return new SourceError('push-other', message, { hint: 'Use a new key for each file' })
}

function tooLarge(bytesMax: number): SourceError {
  return new SourceError('push-too-large', `The body has more than ${bytesMax} bytes`, {
    hint: 'Raise console.maxBytes, compress the body, or use a drop folder',
  })
}

/** Keys are the sender's; a digest has one length and is safe in file names. */
function digestOf({ name }: FeedConfig, key: string): string {
  return createHash('sha256').update(`${name}\n${key}`).digest('hex').slice(0, 32)
}
