import { CommanderError } from 'commander'
import { ConfigProblemsError } from '../config/problems.ts'
import { ExitCode, errorsWithin, OperatingError, systemErrorCode } from '../lib/errors.ts'
import { redactText } from '../lib/redact.ts'
import type { TextStream } from '../lib/terminal-text.ts'
import { InterruptedError } from './interrupts.ts'

/** How many causes of a bug are told, and how deep. */
const causesMax = 5

/** Of a bug, after `sysexits.h`: none of the documented codes fits. */
const bugExitCode = 70

const allow = 'Let this user read and write there, or run the command as the user of the daemon'
const makeRoom = 'Make room on that disk and run the command again'
const diskHints: ReadonlyMap<string, string> = new Map([
  ['ENOSPC', makeRoom],
  ['EDQUOT', makeRoom],
  ['EROFS', 'The disk is mounted read-only: mount it writable, or choose another state folder'],
  ['EACCES', allow],
  ['EPERM', allow],
  ['EIO', 'The disk reports an error: check it'],
  ['EMFILE', 'Too many files are open: raise the limit (ulimit -n)'],
  ['ENFILE', 'Too many files are open on this machine: raise the limit (fs.file-max)'],
])

interface Failure {
  code: string
  message: string
  hint?: string | undefined
  problems?: ConfigProblemsError['problems']
}

/**
 * Says why a command failed, on standard error: message and hint, or with `--json` one line
 * `{"error":{"code","message","hint","problems"}}`. Answers the exit code.
 */
export function reportFailure(
  error: unknown,
  { stderr, json }: { stderr: TextStream; json: boolean },
): number {
  if (error instanceof InterruptedError) return error.exitCode
  if (isHelp(error)) return error.exitCode === 0 ? ExitCode.done : ExitCode.usage
  const failure = redactFailure(describeFailure(error))
  const text = json ? JSON.stringify({ error: failure }) : formatFailure(failure)
  stderr.write(`${text}\n`)
  if (error instanceof OperatingError) return error.exitCode
  if (error instanceof CommanderError) return ExitCode.usage
  return diskHintOf(error) === undefined ? bugExitCode : ExitCode.storage
}

/** Help and version are printed already when commander ends the run this way. */
function isHelp(error: unknown): error is CommanderError {
  const codes = ['commander.help', 'commander.helpDisplayed', 'commander.version']
  return error instanceof CommanderError && codes.includes(error.code)
}

function describeFailure(error: unknown): Failure {
  if (error instanceof OperatingError) {
    const { code, message, hint } = error
    const problems = error instanceof ConfigProblemsError ? { problems: error.problems } : {}
    return { code, message, hint, ...problems }
  }
  if (error instanceof CommanderError) {
    const ofIds = error.code === 'commander.unknownOption' ? '. Put -- before an id that begins with -' : ''
    return {
      code: 'usage',
      message: error.message.replace(/^error: /, ''),
      hint: `Add --help to see how it is used${ofIds}`,
    }
  }
  const hint = diskHintOf(error)
  if (error instanceof Error && hint !== undefined) {
    return { code: systemErrorCode(error) ?? 'disk', message: error.message, hint }
  }
  return { code: 'bug', message: `catalogd failed in a way that it should not: ${traceOf(error)}` }
}

/** With what caused it, of which the stack tells nothing. */
function traceOf(error: unknown, depth = 0): string {
  if (!(error instanceof Error)) return String(error)
  const own = error.stack ?? error.message
  if (depth === causesMax) return own
  const several = errorsWithin(error).slice(0, causesMax)
  const causes = error.cause === undefined ? several : [...several, error.cause]
  return [own, ...causes.map((cause) => `caused by ${traceOf(cause, depth + 1)}`)].join('\n')
}

/** What the operating system refuses anywhere is no bug. */
function diskHintOf(error: unknown): string | undefined {
  const code = systemErrorCode(error)
  return code === undefined ? undefined : diskHints.get(code)
}

/** Problems of the configuration are without secrets already. */
function redactFailure({ code, message, hint, ...rest }: Failure): Failure {
  return { code, message: redactText(message), hint: hint && redactText(hint), ...rest }
}

function formatFailure({ message, hint }: Failure): string {
  return hint === undefined ? message : `${message}\n${hint}`
}
