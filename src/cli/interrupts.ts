import { constants } from 'node:os'
import type { Writable } from 'node:stream'
import { isatty } from 'node:tty'
import type { Clock } from '../lib/clock.ts'

/** The command was asked to end before it was done. */
export class InterruptedError extends Error {
  readonly signal: NodeJS.Signals

  constructor(signal: NodeJS.Signals) {
    super(`interrupted by ${signal}`)
    this.name = 'InterruptedError'
    this.signal = signal
  }

  /** As shells report a process that a signal ended. */
  get exitCode(): number {
    return 128 + constants.signals[this.signal]
  }
}

const endingSignals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

export interface Interrupts extends Disposable {
  /** Aborted with an InterruptedError by the first signal, or when nobody reads the output any more. */
  readonly signal: AbortSignal
  /** From now on SIGHUP means this; but not when the terminal that the process was started at is gone. */
  onHangUp(listener: () => void): void
}

/** Of one Ctrl-C: a terminal signals the process itself, and npm, which runs it, passes its own signal on. */
const sameWithinMs = 1_000

/** The first signal asks the command to end well; a later one ends the process at once. */
export function openInterrupts(process: NodeJS.Process, clock: Pick<Clock, 'monotonic'>): Interrupts {
  let firstAtMs = 0
  const controller = new AbortController()
  const terminals = [0, 1, 2].filter((stream) => isatty(stream))
  let hungUp: (() => void) | undefined
  const listeners = endingSignals.map((name) => {
    const listener = () => {
      // A terminal that is gone is none any more.
      if (name === 'SIGHUP' && hungUp && terminals.every((stream) => isatty(stream))) return hungUp()
      const error = new InterruptedError(name)
      if (!controller.signal.aborted) firstAtMs = clock.monotonic()
      else if (clock.monotonic() - firstAtMs > sameWithinMs) process.exit(error.exitCode)
      controller.abort(error)
    }
    process.on(name, listener)
    return () => process.off(name, listener)
  })
  // `catalogd … | head` closes the pipe early: that is no failure worth a stack.
  ignoreClosedPipe(process.stdout, () => controller.abort(new InterruptedError('SIGPIPE')))
  ignoreClosedPipe(process.stderr, () => {})
  return {
    signal: controller.signal,
    onHangUp: (listener) => {
      hungUp = listener
    },
    [Symbol.dispose]: () => {
      for (const remove of listeners) remove()
    },
  }
}

function ignoreClosedPipe(stream: Writable, onClosed: () => void): void {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    // EIO: of a terminal that is gone.
    if (error.code !== 'EPIPE' && error.code !== 'EIO') throw error
    onClosed()
  })
}
