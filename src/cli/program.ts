import { Command, Option } from 'commander'
import { ExitCode, OperatingError } from '../lib/errors.ts'
import { safeStream, type TextStream } from '../lib/terminal-text.ts'
import { readVersion } from '../lib/version.ts'
import { BarLine } from './bar-line.ts'
import { readCommands } from './commands.ts'
import type { CommandDefinition, CommonOptions, OptionDefinition, Surroundings } from './context.ts'
import { reportFailure } from './failures.ts'

export interface ProgramOptions extends Surroundings {
  /** Without the executable and the script. */
  argv: readonly string[]
  commands?: readonly CommandDefinition[]
}

/** Runs one command line. Answers the exit code; never throws. */
export async function runProgram({ argv, commands, ...given }: ProgramOptions): Promise<number> {
  const { signal } = given
  // All that is written goes through these two.
  const barLine = given.stderr.isTTY ? new BarLine(given.stderr) : undefined
  const above = (stream: TextStream) => barLine?.above(stream) ?? stream
  const [colourStream, logStream] = [above(given.stdout), above(given.stderr)]
  const [stdout, stderr] = [safeStream(colourStream), safeStream(logStream)]
  const surroundings = { ...given, stdout, stderr, barLine, logStream, colourStream }
  let exitCode: number = ExitCode.done
  const run: Run = async (definition, command) => {
    const options = command.optsWithGlobals<CommonOptions>()
    const { CommandContext } = await import('./context.ts')
    const context = new CommandContext(surroundings, options, definition)
    const input = { args: command.args, options, readProgram }
    exitCode = (await definition.run?.(context, input)) ?? ExitCode.done
  }
  const readProgram = async (words: readonly string[]) => {
    const program = createProgram({ stdout, stderr })
    addCommands(program, await readCommands(words, { namesOnly: true }), run)
    return program
  }
  const program = createProgram({ stdout, stderr })
  addCommands(program, commands ?? (await readCommands(argv)), run)
  addExamples(program, ['catalogd init', 'catalogd config check', 'catalogd sandbox'])
  try {
    await program.parseAsync(argv, { from: 'user' })
    return exitCode
  } catch (error) {
    const failure = signal.aborted && isAbort(error) ? signal.reason : error
    return reportFailure(failure, { stderr, json: argv.includes('--json') })
  }
}

/** Without its commands. */
function createProgram({ stdout, stderr }: Pick<Surroundings, 'stdout' | 'stderr'>): Command {
  return new Command('catalogd')
    .description('Turns the feed files an ERP drops into the smallest stream of product upserts.')
    .version(readVersion())
    .option(
      '--config <file>',
      'configuration (default: $CATALOGD_CONFIG, config/catalogd.yaml or catalogd.yaml)',
    )
    .option('--catalog <catalog>', 'catalog to work on (default: the only one)')
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
}

type Run = (definition: CommandDefinition, command: Command) => Promise<void>

function addCommands(parent: Command, definitions: readonly CommandDefinition[], run: Run): void {
  for (const definition of definitions) {
    // Not addCommand: a child made this way inherits how the parent prints and ends.
    const command = parent.command(definition.usage).summary(definition.summary)
    command.description(describe(definition))
    if (definition.heading !== undefined) command.helpGroup(`${definition.heading}:`)
    for (const option of definition.options ?? []) command.addOption(toOption(option))
    for (const argument of command.registeredArguments) {
      const choices = definition.choices?.[argument.name()]
      if (choices) argument.choices(choices)
    }
    if (definition.run) command.action(() => run(definition, command))
    const { needsConfigFile = false, commands = [] } = definition
    addCommands(
      command,
      needsConfigFile ? commands.map((one) => ({ ...one, needsConfigFile })) : commands,
      run,
    )
    addExamples(command, definition.examples)
  }
}

function describe({ summary, details }: CommandDefinition): string {
  const sentence = `${summary.charAt(0).toUpperCase()}${summary.slice(1)}.`
  return details === undefined ? sentence : `${sentence}\n${details}`
}

function toOption({ flags, description, default: preset, parse, choices }: OptionDefinition): Option {
  const option = new Option(flags, description)
  if (choices !== undefined) option.choices(choices)
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
