import type { ExitCode } from '../lib/errors.ts'
import type { LogLevel } from '../lib/log.ts'
import type { CommandContext } from './context.ts'

export interface OptionDefinition {
  /** As commander reads them: `--port <number>`, `--strict`, `--no-wait`. The camel-cased name is the key in `options`. */
  flags: string
  /** One line; `--help` adds the default. */
  description: string
  default?: string | number | boolean | readonly string[]
  /**
   * Of the text on the command line; the parsers of option-values.ts refuse a wrong one with exit code 2. An option that
   * may be repeated is given what it was before: the default at first.
   */
  parse?: (text: string, before?: unknown) => unknown
}

export interface CommandInput<Options> {
  /** In the order of `usage`, a variadic argument flattened. */
  args: readonly string[]
  options: Options
}

/**
 * One command: a file of `src/cli/`, listed in program.ts. Methods, not function properties, so that commands with
 * different options fit one list.
 */
export interface CommandDefinition<Options extends object = object> {
  /** Name and arguments as commander reads them: `load <feed> <files...>`. */
  usage: string
  /** One line in the list of commands. */
  summary: string
  /** What `--help` says below the summary. */
  details?: string
  /** `--help` ends with them. Each begins with `catalogd`. */
  examples: readonly string[]
  options?: readonly OptionDefinition[]
  /** Heading that it stands under in the list of commands, without the colon; default: Commands. */
  heading?: string
  /** Of a group (`config check`, `config print`); a group has no `run`. */
  commands?: readonly CommandDefinition[]
  /** What is logged unless CATALOGD_LOG says otherwise: `info` for daemons, `warn` (default) for what a person waits for. */
  logLevel?: LogLevel
  /**
   * Does the work. Throws an OperatingError when it cannot (its exit code counts); answers an exit code when it could,
   * but the data has problems. Ends soon when `context.signal` is aborted.
   */
  run?(context: CommandContext, input: CommandInput<Options>): Promise<ExitCode | undefined>
}
