import { Command, Option } from 'commander'
import { ExitCode, OperatingError } from '../lib/errors.ts'
import { safeStream } from '../lib/terminal-text.ts'
import { readVersion } from '../lib/version.ts'
import { adoptCommand } from './adopt.ts'
import { alertCommand } from './alert.ts'
import { backupCommand } from './backup.ts'
import { checkCommand } from './check.ts'
import { configCommand } from './config.ts'
import { consentCommand } from './consent.ts'
import {
  CommandContext,
  type CommandDefinition,
  type CommonOptions,
  type OptionDefinition,
  type Surroundings,
} from './context.ts'
import { deadCommand } from './dead.ts'
import { approveCommand, discardCommand, pauseCommand, resumeCommand, resyncCommand } from './decisions.ts'
import { diffCommand } from './diff.ts'
import { reportFailure } from './failures.ts'
import { importsCommand } from './imports.ts'
import { initCommand } from './init.ts'
import { intentCommand } from './intent.ts'
import { loadCommand } from './load.ts'
import { restoreCommand } from './restore.ts'
import { sandboxCommand } from './sandbox.ts'
import { stackCommand } from './stack.ts'
import { startCommand } from './start.ts'
import { statusCommand } from './status.ts'
import { verifyCommand } from './verify.ts'

/**
 * All commands, in the order and under the headings of `--help`. A command is a file of its own that exports a
 * `CommandDefinition` (command.ts) and stands here; nothing else is needed:
 *
 * ```ts
 * export const statusCommand: CommandDefinition<{ all: boolean }> = {
 *   usage: 'status [feed]',
 *   summary: 'what waits, what runs, what is wrong',
 *   examples: ['catalogd status --json'],
 *   options: [{ flags: '--all', description: 'show what is well, too', default: false }],
 *   async run(context, { args: [feed], options }) {
 *     const { openStatus } = await import('../service.ts') // late: `--help` needs no stage
 *     const catalog = await context.catalog() // --config and --catalog are dealt with
 *     context.print(status, formatStatus) // --json too
 *     return ExitCode.done
 *   },
 * }
 * ```
 *
 * A command that cannot do its work throws an OperatingError; the message, the hint and the exit code are its own. One
 * that runs long ends when `context.signal` is aborted: well (exit code 0, `start` and `sandbox`), or by throwing the
 * signal's reason when its work is not done (exit code 130 or 143).
 */
const allCommands: readonly CommandDefinition[] = [
  ...under('Set-up', [initCommand, configCommand, sandboxCommand]),
  ...under('The daemon', [startCommand, statusCommand, alertCommand]),
  ...under('Feeds and imports', [
    checkCommand,
    diffCommand,
    loadCommand,
    importsCommand,
    approveCommand,
    discardCommand,
  ]),
  ...under('Delivery', [deadCommand, pauseCommand, resumeCommand, resyncCommand]),
  ...under('State', [backupCommand, restoreCommand, adoptCommand]),
  ...under('Consents', [consentCommand]),
  ...under('Shopper intent', [intentCommand, verifyCommand]),
  ...under('The Stack', [stackCommand]),
]

function under(heading: string, commands: readonly CommandDefinition[]): CommandDefinition[] {
  return commands.map((command) => ({ ...command, heading }))
}

export interface ProgramOptions extends Surroundings {
  /** Without the executable and the script. */
  argv: readonly string[]
  commands?: readonly CommandDefinition[]
}

/** Runs one command line. Answers the exit code; never throws. */
export async function runProgram({
  argv,
  commands = allCommands,
  ...given
}: ProgramOptions): Promise<number> {
  const { signal } = given
  // All that is written goes through these two.
  const [stdout, stderr] = [safeStream(given.stdout), safeStream(given.stderr)]
  const surroundings = { ...given, stdout, stderr, logStream: given.stderr }
  const program = new Command('catalogd')
    .description('Turns the feed files an ERP drops into the smallest stream of product upserts.')
    .version(readVersion())
    .option(
      '--config <file>',
      'configuration (default: $CATALOGD_CONFIG, config/catalogd.yaml or catalogd.yaml)',
    )
    .option('--catalog <name>', 'catalog to work on (default: the only one)')
    .option('--json', 'print JSON instead of text')
    .commandsGroup('Other commands:')
    .helpCommand('help [command]', 'show how a command is used')
    .exitOverride()
    .configureHelp({ showGlobalOptions: true })
    .configureOutput({
      writeOut: (text) => stdout.write(text),
      writeErr: (text) => stderr.write(text),
      // Failures are reported in one place, below.
      outputError: () => {},
    })
  let exitCode: number = ExitCode.done
  const run: Run = async (definition, command) => {
    const options = command.optsWithGlobals<CommonOptions>()
    const context = new CommandContext(surroundings, options, definition.logLevel ?? 'warn')
    exitCode = (await definition.run?.(context, { args: command.args, options })) ?? ExitCode.done
  }
  addCommands(program, commands, run)
  addExamples(program, ['catalogd init', 'catalogd config check', 'catalogd sandbox'])
  try {
    await program.parseAsync(argv, { from: 'user' })
    return exitCode
  } catch (error) {
    const failure = signal.aborted && isAbort(error) ? signal.reason : error
    return reportFailure(failure, { stderr, json: argv.includes('--json') })
  }
}

type Run = (definition: CommandDefinition, command: Command) => Promise<void>

function addCommands(parent: Command, definitions: readonly CommandDefinition[], run: Run): void {
  for (const definition of definitions) {
    // Not addCommand: a child made this way inherits how the parent prints and ends.
    const command = parent.command(definition.usage).summary(definition.summary)
    command.description(describe(definition))
    if (definition.heading !== undefined) command.helpGroup(`${definition.heading}:`)
    for (const option of definition.options ?? []) command.addOption(toOption(option))
    if (definition.run) command.action(() => run(definition, command))
    addCommands(command, definition.commands ?? [], run)
    addExamples(command, definition.examples)
  }
}

function describe({ summary, details }: CommandDefinition): string {
  const sentence = `${summary.charAt(0).toUpperCase()}${summary.slice(1)}.`
  return details === undefined ? sentence : `${sentence}\n${details}`
}

function toOption({ flags, description, default: preset, parse }: OptionDefinition): Option {
  const option = new Option(flags, description)
  if (preset !== undefined) option.default(preset)
  if (parse !== undefined) option.argParser((text, before) => parse(text, before))
  return option
}

function addExamples(command: Command, examples: readonly string[]): void {
  const title = examples.length === 1 ? 'Example' : 'Examples'
  command.addHelpText('after', `\n${title}:\n${examples.map((example) => `  $ ${example}`).join('\n')}`)
}

function isAbort(error: unknown): boolean {
  if (error instanceof OperatingError) return error.code === 'call-aborted'
  return error instanceof Error && error.name === 'AbortError'
}
