import { CommanderError } from 'commander'
import { ConfigProblemsError } from '../config/problems.ts'
import { ExitCode, OperatingError } from '../lib/errors.ts'
import { redactText } from '../lib/redact.ts'
import type { OutputStream } from './context.ts'
import { InterruptedError } from './interrupts.ts'

/** Of a bug, after `sysexits.h`: none of the documented codes fits. */
const bugExitCode = 70

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
  { stderr, json }: { stderr: OutputStream; json: boolean },
): number {
  if (error instanceof InterruptedError) return error.exitCode
  if (isHelp(error)) return error.exitCode === 0 ? ExitCode.done : ExitCode.usage
  const failure = redactFailure(describeFailure(error))
  const text = json ? JSON.stringify({ error: failure }) : formatFailure(failure)
  stderr.write(`${text}\n`)
  if (error instanceof OperatingError) return error.exitCode
  return error instanceof CommanderError ? ExitCode.usage : bugExitCode
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
    return {
      code: 'usage',
      message: error.message.replace(/^error: /, ''),
      hint: 'Add --help to see how it is used',
    }
  }
  const trace = error instanceof Error ? (error.stack ?? error.message) : String(error)
  return { code: 'bug', message: `catalogd failed in a way that it should not: ${trace}` }
}

/** Problems of the configuration are without secrets already. */
function redactFailure({ code, message, hint, ...rest }: Failure): Failure {
  return { code, message: redactText(message), hint: hint && redactText(hint), ...rest }
}

function formatFailure({ message, hint }: Failure): string {
  return hint === undefined ? message : `${message}\n${hint}`
}
