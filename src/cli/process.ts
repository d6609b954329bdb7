import { readEnvironment } from '../config/environment.ts'
import { systemClock } from '../lib/clock.ts'
import { openInterrupts } from './interrupts.ts'
import { runProgram } from './program.ts'

/** Runs a command line in the real process. Answers the exit code. */
export async function runProcess(argv: readonly string[]): Promise<number> {
  using interrupts = openInterrupts(process)
  return await runProgram({
    argv,
    stdout: process.stdout,
    stderr: process.stderr,
    stdin: () => process.stdin,
    environment: readEnvironment(),
    clock: systemClock,
    signal: interrupts.signal,
  })
}
