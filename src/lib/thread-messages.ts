import { OperatingError, StorageError } from './errors.ts'
import { type Log, type LogLevel, openLog } from './log.ts'

/** An operating failure on its way between threads; anything else is a bug, and ends the thread. */
export interface SentError {
  code: string
  message: string
  hint: string | undefined
}

export function sentError(error: unknown): SentError {
  if (!(error instanceof OperatingError)) throw error
  return { code: error.code, message: error.message, hint: error.hint }
}

export function receivedError({ code, message, hint }: SentError): StorageError {
  return new StorageError(code, message, hint === undefined ? {} : { hint })
}

/** The log of a thread: `tell` hands its lines to the thread that started it. */
export function openThreadLog(level: LogLevel, tell: (answer: { kind: 'log'; line: string }) => void): Log {
  return openLog({ level, stream: { write: (line) => tell({ kind: 'log', line }) }, pretty: false })
}

/** A line of a thread's log goes out as one of this thread's. */
export function writeLine(log: Log, line: string): void {
  const { level, msg, time: _, pid: __, ...members } = JSON.parse(line) as Record<string, unknown>
  log[level as Exclude<LogLevel, 'silent'>](members, String(msg))
}
