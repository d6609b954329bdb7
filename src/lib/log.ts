import { createRequire } from 'node:module'
import { type Bindings, type ChildLoggerOptions, type Logger, pino, stdTimeFunctions } from 'pino'
import { ConfigError, errorsWithin, systemErrorCode } from './errors.ts'
import { redactText, redactValue } from './redact.ts'
import { safeLines, safeStream, type TextStream } from './terminal-text.ts'

export type Log = Logger

const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const
export type LogLevel = (typeof logLevels)[number]

/** What `CATALOGD_LOG` asks for, else what the command prefers. */
export function logLevelOf(asked: string | undefined, preferred: LogLevel): LogLevel {
  if (asked === undefined || asked === '') return preferred
  const level = logLevels.find((name) => name === asked.toLowerCase())
  if (level !== undefined) return level
  throw new ConfigError('log-level', `CATALOGD_LOG is "${asked}", expected one of ${logLevels.join(', ')}`, {
    hint: 'Set it to info, or unset it',
  })
}

export interface LogOptions {
  level: LogLevel
  /** Default: standard error, so that standard output stays free for what commands print. */
  stream?: TextStream
  /** Lines for people instead of JSON; default: when the stream is a terminal. */
  pretty?: boolean
}

/** How many causes of an error are written down. */
const causesMax = 5

/**
 * Opens the log: one JSON object a line with `level`, `time` (ISO 8601), `pid`, `msg`. Secrets are hidden by the name
 * of their key at any depth, and inside texts where they are recognisable (`redact.ts`).
 */
export function openLog({ level, stream = process.stderr, pretty = stream.isTTY === true }: LogOptions): Log {
  const log = pino(
    {
      level,
      base: { pid: process.pid },
      timestamp: stdTimeFunctions.isoTime,
      formatters: {
        level: (label) => ({ level: label }),
        log: redactMembers,
      },
      serializers: { err: describeForLog, error: describeForLog, cause: describeForLog },
      hooks: {
        logMethod(args, method) {
          method.apply(this, args.map(redactMessage) as typeof args)
        },
      },
    },
    pretty ? prettyStream(stream) : safeStream(stream),
  )
  // pino gives the bindings of children to no formatter; children inherit this method.
  const openChild = log.child
  log.child = function child<Levels extends string = never>(
    this: Log,
    bindings: Bindings,
    options?: ChildLoggerOptions<Levels>,
  ): Logger<Levels> {
    return Reflect.apply(openChild, this, [redactMembers(bindings), options]) as Logger<Levels>
  }
  return log
}

/** The colours are ours, so the texts are made safe before. */
function prettyStream(stream: TextStream): TextStream {
  // Late: a log that is no terminal does not need its forty files.
  const { prettyFactory } = createRequire(import.meta.url)('pino-pretty') as typeof import('pino-pretty')
  const format = prettyFactory({
    colorize: stream.isTTY === true,
    translateTime: 'SYS:HH:MM:ss.l',
    ignore: 'pid',
    singleLine: true,
  })
  const safe = (_key: string, value: unknown) => (typeof value === 'string' ? safeLines(value) : value)
  return { write: (line) => stream.write(format(JSON.parse(line, safe))) }
}

function redactMembers(members: Record<string, unknown>): Record<string, unknown> {
  return redactValue(members) as Record<string, unknown>
}

function redactMessage(argument: unknown): unknown {
  return typeof argument === 'string' ? redactText(argument) : argument
}

/**
 * What a log line holds of an error: type, code, message, hint, where it happened, its causes. Nothing else is copied,
 * because errors of HTTP and Redis clients carry headers, bodies and whole commands.
 */
function describeForLog(error: unknown, depth = 0): unknown {
  if (!(error instanceof Error)) return redactValue(error)
  const several = errorsWithin(error).slice(0, causesMax)
  return {
    type: error.name,
    message: redactText(error.message),
    ...pickTexts(error, ['code', 'hint', 'syscall', 'path', 'address']),
    // An operating failure is explained by its message and hint; anything else is a bug and needs the place.
    ...(isBug(error) && error.stack !== undefined ? { stack: redactText(error.stack) } : {}),
    ...(error.cause !== undefined && depth < causesMax
      ? { cause: describeForLog(error.cause, depth + 1) }
      : {}),
    ...(several.length > 0 && depth < causesMax
      ? { errors: several.map((entry) => describeForLog(entry, depth + 1)) }
      : {}),
  }
}

/** Node gives codes to bugs, too: of a wrong argument (`ERR_INVALID_ARG_TYPE`), or what an assertion finds. */
function isBug(error: Error): boolean {
  const code = systemErrorCode(error)
  const isProgramming = error instanceof TypeError || error instanceof RangeError
  return code === undefined || code === 'ERR_ASSERTION' || (isProgramming && code.startsWith('ERR_'))
}

function pickTexts(error: object, names: readonly string[]): Record<string, string> {
  const members = error as Record<string, unknown>
  const picked: Record<string, string> = {}
  for (const name of names) {
    const value = members[name]
    if (typeof value === 'string') picked[name] = redactText(value)
  }
  return picked
}
