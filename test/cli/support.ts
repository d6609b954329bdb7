import { Readable } from 'node:stream'
import type { CommandDefinition } from '../../src/cli/context.ts'
import { runProgram } from '../../src/cli/program.ts'
import { systemClock } from '../../src/lib/clock.ts'

export interface Ran {
  exitCode: number
  stdout: string
  stderr: string
}

interface RunOptions {
  env?: Record<string, string>
  commands?: readonly CommandDefinition[]
  signal?: AbortSignal
  onOutput?: (text: string) => void
  isTTY?: boolean
  /** Standard input; `answers` are typed at a terminal. */
  input?: string
  answers?: string
}

/** Runs one command line in this process and collects what it writes. */
export async function runCli(argv: readonly string[], options: RunOptions = {}): Promise<Ran> {
  const ran = { exitCode: 0, stdout: '', stderr: '' }
  const stream = (name: 'stdout' | 'stderr') => ({
    isTTY: options.isTTY ?? false,
    write: (text: string) => {
      ran[name] += text
      options.onOutput?.(text)
    },
  })
  ran.exitCode = await runProgram({
    argv,
    stdout: stream('stdout'),
    stderr: stream('stderr'),
    stdin: () => inputOf(options),
    environment: options.env ?? {},
    clock: systemClock,
    signal: options.signal ?? new AbortController().signal,
    ...(options.commands === undefined ? {} : { commands: options.commands }),
  })
  return ran
}

function inputOf({ input = '', answers }: RunOptions) {
  return Object.assign(Readable.from([answers ?? input]), { isTTY: answers !== undefined })
}
