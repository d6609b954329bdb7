import type { Clock } from '../lib/clock.ts'
import { describeError } from '../lib/errors.ts'
import type { Log } from '../lib/log.ts'
import type { Acceptor } from './acceptor.ts'
import { describeFolderError, isOperatingFailure } from './folder-access.ts'
import type { GrowthWatch } from './growth.ts'
import type { AcceptLine } from './model.ts'
import type { NoticeBoard } from './notices.ts'
import { recoverArchive, recoverHidden } from './recover.ts'
import { isFull } from './space.ts'
import { Waker } from './waker.ts'

interface UpkeepOptions {
  acceptor: Acceptor
  growth: GrowthWatch
  hiddenDirs: readonly string[]
  clock: Clock
  notices: NoticeBoard
  log: Log
  rescanMs: number
  onAccepted: (accepted: AcceptLine[]) => void
}

const growthMs = 1000

/**
 * What accepting leaves to be done: claims without a line get one (at the start, and after a failure that could not be
 * undone), and files that grow are watched. What fails is tried again.
 */
export class Upkeep implements AsyncDisposable {
  readonly #options: UpkeepOptions
  readonly #waker: Waker
  #running: Promise<void> | undefined
  #turn: Promise<unknown> = Promise.resolve()
  #recoverAtMs = 0
  #isStopping = false

  constructor(options: UpkeepOptions) {
    this.#options = options
    this.#waker = new Waker(options.clock)
  }

  /** Completes what a crash cut off; then goes on in the background. */
  async start(): Promise<void> {
    const { acceptor, hiddenDirs } = this.#options
    for (const dir of [...hiddenDirs, acceptor.archiveDir]) acceptor.leaveClaims(dir)
    await this.#recoverAll()
    this.#running = this.#run()
  }

  /**
   * Gives claims that were left in the archive, and in a hidden folder, their lines. Call before accepting: a file that
   * was claimed earlier must not come after a newer one. Throws what stands in the way.
   */
  async completeClaims(hiddenDir?: string): Promise<void> {
    const { acceptor } = this.#options
    const hasLeft = (dir: string | undefined) => dir !== undefined && acceptor.hasLeftClaims(dir)
    if (!hasLeft(hiddenDir) && !hasLeft(acceptor.archiveDir)) return
    const recovered = this.#turn.then(() => this.#recover(hiddenDir))
    this.#turn = recovered.catch(() => undefined)
    await recovered
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isStopping = true
    this.#waker.wake()
    await this.#running
  }

  async #run(): Promise<void> {
    const { growth, acceptor, clock, rescanMs } = this.#options
    while (!this.#isStopping) {
      await this.#try('growth', acceptor.archiveDir, async () => this.#tell(await growth.check()))
      if (clock.monotonic() >= this.#recoverAtMs) await this.#recoverAll()
      if (!this.#isStopping) await this.#waker.sleep(Math.min(growthMs, rescanMs))
    }
  }

  /** A drop folder that cannot be read does not hold up the others. */
  async #recoverAll(): Promise<void> {
    const { acceptor, hiddenDirs, clock, rescanMs } = this.#options
    for (const dir of hiddenDirs) {
      if (await this.#try('recovery', dir, () => this.completeClaims(dir))) continue
      this.#recoverAtMs = clock.monotonic() + rescanMs
    }
    await this.#try('recovery', acceptor.archiveDir, () => this.completeClaims())
  }

  async #recover(hiddenDir: string | undefined): Promise<void> {
    const { acceptor, growth, log } = this.#options
    const recovery = { acceptor, growth, log }
    const isHidden = hiddenDir !== undefined && acceptor.takeLeftClaims(hiddenDir)
    try {
      if (isHidden) await recoverHidden(recovery, hiddenDir)
      if (!acceptor.takeLeftClaims(acceptor.archiveDir) && !isHidden) return
      this.#tell(await recoverArchive(recovery))
      // The originals of copies that have their lines now.
      if (isHidden) await recoverHidden(recovery, hiddenDir)
    } catch (error) {
      if (isHidden) acceptor.leaveClaims(hiddenDir)
      acceptor.leaveClaims(acceptor.archiveDir)
      throw error
    }
  }

  /** False when it failed; then a notice says so until it succeeds. */
  async #try(key: 'recovery' | 'growth', dir: string, step: () => Promise<void>): Promise<boolean> {
    const { notices } = this.#options
    try {
      await step()
      notices.clear('disk', `${key} ${dir}`)
      notices.clear(key, dir)
      return true
    } catch (error) {
      if (!isOperatingFailure(error)) throw error
      if (isFull(error)) notices.raise('disk', `${key} ${dir}`, describeError(error))
      else notices.raise(key, dir, describeFolderError(dir, error))
      return false
    }
  }

  #tell(accepted: AcceptLine[]): void {
    if (accepted.length > 0) this.#options.onAccepted(accepted)
  }
}
