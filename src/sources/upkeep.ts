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
  #recoverAtMs = 0
  #isStopping = false

  constructor(options: UpkeepOptions) {
    this.#options = options
    this.#waker = new Waker(options.clock)
  }

  /** Completes what a crash cut off; then goes on in the background. */
  async start(): Promise<void> {
    await this.#try('recovery', () => this.#recover())
    this.#running = this.#run()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isStopping = true
    this.#waker.wake()
    await this.#running
  }

  async #run(): Promise<void> {
    const { growth, acceptor, clock, rescanMs } = this.#options
    while (!this.#isStopping) {
      await this.#try('growth', async () => this.#tell(await growth.check()))
      if (clock.monotonic() >= this.#recoverAtMs && acceptor.takeLeftClaims()) {
        await this.#try('recovery', () => this.#recover())
      }
      if (!this.#isStopping) await this.#waker.sleep(Math.min(growthMs, rescanMs))
    }
  }

  async #recover(): Promise<void> {
    const { acceptor, growth, log, hiddenDirs, clock, rescanMs } = this.#options
    this.#recoverAtMs = clock.monotonic() + rescanMs
    try {
      for (const dir of hiddenDirs) await recoverHidden({ acceptor, growth, log }, dir)
    } finally {
      // A drop folder that cannot be read does not hold up the others.
      this.#tell(await recoverArchive({ acceptor, growth, log }))
    }
    // The originals of copies that have their lines now.
    for (const dir of hiddenDirs) await recoverHidden({ acceptor, growth, log }, dir)
  }

  async #try(place: 'recovery' | 'growth', step: () => Promise<void>): Promise<void> {
    const { notices, acceptor } = this.#options
    try {
      await step()
      notices.clear('disk', place)
      notices.clear(place, '')
    } catch (error) {
      if (!isOperatingFailure(error)) throw error
      if (place === 'recovery') acceptor.leaveClaims()
      if (isFull(error)) notices.raise('disk', place, describeError(error))
      else notices.raise(place, '', describeFolderError(acceptor.archiveDir, error))
    }
  }

  #tell(accepted: AcceptLine[]): void {
    if (accepted.length > 0) this.#options.onAccepted(accepted)
  }
}
