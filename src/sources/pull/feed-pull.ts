import { createHash } from 'node:crypto'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { FeedConfig, FeedMode, PullConfig } from '../../config/model.ts'
import { makeFolder, removeIfPresent } from '../../lib/durable.ts'
import { compileNameTime } from '../as-of.ts'
import { type ClaimParts, claimFileName, parseClaimFileName } from '../claim-name.ts'
import { cleanName } from '../entry-name.ts'
import { compilePatterns } from '../file-patterns.ts'
import type { AcceptLine } from '../model.ts'
import type { AcceptingParts, Upkeep } from '../upkeep.ts'
import { PartFile } from './part-file.ts'
import { PullError } from './pull-error.ts'
import {
  type PulledVersion,
  type PullState,
  pullDirOf,
  type RemoteFile,
  readPullState,
  writePullState,
} from './pull-state.ts'

export interface FeedPullOptions extends Pick<AcceptingParts, 'acceptor' | 'clock' | 'log' | 'onAccepted'> {
  feed: FeedConfig
  pull: PullConfig
  /** `state/<catalog>`. */
  dir: string
  upkeep: Upkeep
}

/** What a fetch needs, wherever the files come from. */
export interface FetchOptions extends Pick<FeedPullOptions, 'clock' | 'log'> {
  feedName: string
  feedPull: FeedPull
  silenceMs: number
  signal: AbortSignal
}

/** A file that was fetched whole and is durable; its name is its claim. */
export interface Fetched {
  path: string
  parts: ClaimParts
  version?: PulledVersion
  remote?: RemoteFile
}

export function digestOfPlace(place: string): string {
  return createHash('sha256').update(place).digest('hex')
}

/**
 * The fetched files of one feed on their way to the acceptor, each exactly once: fetched whole under its claim → noted as
 * pending → accepted → noted as taken. A crash between two steps is settled by the manifest: a pending claim with a line
 * was accepted; one without a line is forgotten, its file with it, and fetched again.
 */
export class FeedPull {
  readonly dir: string
  readonly #options: FeedPullOptions
  #state: PullState | undefined

  constructor(options: FeedPullOptions) {
    this.#options = options
    this.dir = pullDirOf(options.dir, options.feed.name)
  }

  get isLoaded(): boolean {
    return this.#state !== undefined
  }

  async load(): Promise<void> {
    await makeFolder(this.dir)
    this.#state ??= await readPullState(this.dir)
  }

  get state(): PullState {
    if (this.#state === undefined) throw new Error('a pull was not loaded')
    return this.#state
  }

  /** Settles what an earlier run left; after `load`, and never beside a run. */
  async open(place: string): Promise<void> {
    const { acceptor, upkeep } = this.#options
    // A claim may stand in the archive without its line.
    await upkeep.completeClaims()
    const digest = digestOfPlace(place)
    const left = this.state.pending.filter(({ claim }) => acceptor.manifest.fileOf(claim) !== undefined)
    if (this.state.pending.length > 0) await this.#settle(left)
    if (this.state.place !== digest) {
      const { lastAt, succeededAt } = this.state
      this.#state = { place: digest, taken: [], pending: [], lastAt, succeededAt }
    }
    for (const name of await readdir(this.dir)) {
      if (name.startsWith('.part-') || parseClaimFileName(name)) await removeIfPresent(join(this.dir, name))
    }
  }

  /** Opens a file to fetch into. It lies there until `finish`, or the next run removes it. */
  openPart(): Promise<PartFile> {
    const { acceptor, pull } = this.#options
    const path = join(this.dir, `.part-${acceptor.claimIds.next()}`)
    return PartFile.open({
      path,
      bytesMax: pull.bytesMax,
      requireSpace: (bytes) => acceptor.requireSpace(bytes),
    })
  }

  /** Where a file of this name stands once it is whole, under a claim of its own. */
  claimFor(name: string, mode: FeedMode): Pick<Fetched, 'path' | 'parts'> {
    const { acceptor, feed } = this.#options
    const claim = acceptor.claimIds.next()
    const asOfMs = compileNameTime(feed.asOf)?.(name)
    const parts: ClaimParts = { claim, feed: feed.name, mode, name: cleanName(name), asOfMs }
    return { path: join(this.dir, claimFileName(parts)), parts }
  }

  /** By the patterns of the feed. A URL names one file: with one pattern it belongs to the feed whatever it is called. */
  modeOf(name: string): FeedMode {
    const { files } = this.#options.feed
    const [first, ...others] = files
    const mode = compilePatterns(files)(name) ?? (others.length === 0 ? first?.mode : undefined)
    if (mode !== undefined) return mode
    throw new PullError('name', `the file is called ${name}, which no pattern of files matches`, {
      hint: 'Set name beside url, or correct files',
    })
  }

  /** Whether a version may have been cut off on its way: it came without a length, and its import refused it. */
  isDoubtful({ claim, isLengthUnknown }: PulledVersion): boolean {
    const { manifest } = this.#options.acceptor
    const accept = claim === undefined || !isLengthUnknown ? undefined : manifest.fileOf(claim)
    return accept !== undefined && manifest.outcome(accept.sequence)?.outcome === 'refused'
  }

  /** Hands files to the acceptor; then what was noted with them holds. */
  async accept(files: readonly Fetched[]): Promise<AcceptLine[]> {
    const { acceptor, upkeep, onAccepted } = this.#options
    const pending = files.map(({ parts, version, remote }) => ({ claim: parts.claim, version, remote }))
    await this.save({ ...this.state, pending })
    await upkeep.completeClaims()
    const accepted = await acceptor.acceptClaimed(files)
    if (accepted.length > 0) onAccepted(accepted)
    await this.#settle(pending)
    return accepted
  }

  async save(state: PullState): Promise<void> {
    await writePullState(this.dir, state)
    this.#state = state
  }

  #settle(accepted: PullState['pending']): Promise<void> {
    const { version, taken } = this.state
    const remotes = accepted.flatMap(({ remote }) => remote ?? [])
    const names = new Set(remotes.map(({ name }) => name))
    return this.save({
      ...this.state,
      version: accepted.findLast((file) => file.version !== undefined)?.version ?? version,
      taken: [...taken.filter(({ name }) => !names.has(name)), ...remotes],
      pending: [],
    })
  }
}
