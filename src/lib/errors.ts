/** Exit codes of every command (docs/commands.md). */
export const ExitCode = { done: 0, data: 1, usage: 2, endpoint: 3, storage: 4 } as const
export type ExitCode = (typeof ExitCode)[keyof typeof ExitCode]

interface Details {
  /** What the operator can do about it: one imperative sentence. */
  hint?: string
  cause?: unknown
}

/** An operating failure: something outside the program is wrong. Bugs throw plain errors; bad data is a `RecordIssue`. */
export abstract class OperatingError extends Error {
  abstract readonly exitCode: ExitCode
  readonly code: string
  readonly hint: string | undefined

  constructor(code: string, message: string, { hint, cause }: Details = {}) {
    super(message, { cause })
    this.name = new.target.name
    this.code = code
    this.hint = hint
  }
}

/** The configuration or the command line is wrong. */
export class ConfigError extends OperatingError {
  readonly exitCode = ExitCode.usage
}

/** A folder or file of a feed cannot be read, claimed or archived. */
export class SourceError extends OperatingError {
  readonly exitCode = ExitCode.storage
}

/** A whole file is refused: truncated, not decodable, no header. Nothing of it is applied. */
export class FileRefusedError extends OperatingError {
  readonly exitCode = ExitCode.data
}

/** Redis cannot be started, reached, or refuses to write. */
export class StorageError extends OperatingError {
  readonly exitCode = ExitCode.storage
}

/** The endpoint cannot be reached or refuses the credentials. */
export class EndpointError extends OperatingError {
  readonly exitCode = ExitCode.endpoint
}

/** One line for logs and terminals: message, then the hint. */
export function describeError(error: unknown): string {
  if (!(error instanceof OperatingError)) return error instanceof Error ? error.message : String(error)
  const { message, hint } = error
  // A configuration may have several problems, a line each.
  const line = message.replaceAll('\n', '; ')
  if (!hint) return line
  return `${line}${/[.?!…]$/.test(line) ? '' : '.'} ${hint}`
}

/** The same where there is room for several lines: those of the message, and the hint on one of its own. */
export function describeErrorLines(error: OperatingError): string[] {
  return [...error.message.split('\n'), ...(error.hint ? [error.hint] : [])]
}

/** What an error is made of besides its cause: several attempts, or a failure and that of a release after it. */
export function errorsWithin(error: Error): readonly unknown[] {
  if (error instanceof SuppressedError) return [error.error, error.suppressed]
  return error instanceof AggregateError ? error.errors : []
}

/** The `code` of a system error (`ENOENT`, `EACCES` …), or undefined. */
export function systemErrorCode(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null || !('code' in error)) return undefined
  return typeof error.code === 'string' ? error.code : undefined
}

/** Something outside the program is wrong; everything else is a bug. Node gives its own errors codes with `ERR_`. */
export function isOperatingFailure(error: unknown): boolean {
  const code = systemErrorCode(error)
  return error instanceof OperatingError || (code !== undefined && !code.startsWith('ERR_'))
}

/** What is asked of a file or folder; undefined where there is no such. */
export async function ifPresent<T>(asked: Promise<T>): Promise<T | undefined> {
  try {
    return await asked
  } catch (error) {
    if (systemErrorCode(error) === 'ENOENT') return undefined
    throw error
  }
}
