import { type Log, openLog } from '../../src/lib/log.ts'

export interface LogLine {
  level: string
  msg: string
  [field: string]: unknown
}

/** A log whose lines a test can look at. */
export function collectLog(): { log: Log; lines: LogLine[] } {
  const lines: LogLine[] = []
  const stream = { write: (text: string) => lines.push(JSON.parse(text)) }
  return { log: openLog({ level: 'debug', stream, pretty: false }), lines }
}
