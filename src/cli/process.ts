import { readEnvironment } from '../config/environment.ts'
import { systemClock } from '../lib/clock.ts'
import { openInterrupts } from './interrupts.ts'
import { runProgram } from './program.ts'

/** Runs a command line in the real process. Answers the exit code. */
export async function runProcess(argv: readonly string[]): Promise<number> {
  // Lists of processes show command lines to every user of the machine, for as long as the command waits.
  if (argv.some((word) => word.includes('@'))) process.title = 'catalogd'
  using interrupts = openInterrupts(process, systemClock)
  return await runProgram({
    argv,
    stdout: process.stdout,
    stderr: process.stderr,
    stdin: () => process.stdin,
    environment: readEnvironment(),
    clock: systemClock,
    signal: interrupts.signal,
    onHangUp: (listener) => interrupts.onHangUp(listener),
  })
}
