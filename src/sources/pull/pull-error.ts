import { SourceError } from '../../lib/errors.ts'

interface Details {
  hint: string
  cause?: unknown
  retryAfterMs?: number | undefined
}

/** A fetch that failed; nothing of it was taken, and it is tried again. */
export class PullError extends SourceError {
  /** The server asked for so much patience. */
  readonly retryAfterMs: number | undefined

  constructor(code: string, message: string, { hint, cause, retryAfterMs }: Details) {
    super(code, message, { hint, cause })
    this.retryAfterMs = retryAfterMs
  }
}
