import { Readable } from 'node:stream'
import type { Command } from 'commander'
import { locateConfig, namedConfig } from '../config/environment.ts'
import type { LoadedConfig } from '../config/load.ts'
import type { CatalogConfig } from '../config/model.ts'
import { suggestion } from '../config/problems.ts'
import type { Environment } from '../config/variables.ts'
import type { CatalogName } from '../lib/brand.ts'
import type { Clock } from '../lib/clock.ts'
import { ConfigError, type ExitCode } from '../lib/errors.ts'
import { type Log, type LogLevel, logLevelOf, openLog } from '../lib/log.ts'
import { safeLines, safeValue, type TextStream } from '../lib/terminal-text.ts'
import type { BarLine } from './bar-line.ts'
import { wrapLines } from './table.ts'

export type InputStream = Readable & { isTTY?: boolean }

/** What a command is run in: the real process, or what a test gives. */
export interface Surroundings {
  stdout: TextStream
  stderr: TextStream
  /** Opened only by who reads it; without it nobody can be asked. */
  stdin?: () => InputStream
  environment: Environment
  clock: Clock
  signal: AbortSignal
  /** What SIGHUP means from now on; by default it ends the command. */
  onHangUp?: (listener: () => void) => void
}

/** Its streams let nothing through that commands a terminal (`safeStream`). */
interface SafeSurroundings extends Surroundings {
  /** Where a person watches: the line at the bottom, above which the others write. */
  barLine: BarLine | undefined
  /** Of the log, which has colours of its own and makes its lines safe itself. */
  logStream: TextStream
  /** Standard output for what makes its lines safe itself, and then colours them. */
  colourStream: TextStream
}

interface Shown<T> {
  text: (shown: T) => string
  /** Adds colours to lines that are fit for a terminal. */
  paint: (lines: string) => string
  again: boolean
}

/** With the cursor at its beginning. */
const clearScreen = '\u001b[H\u001b[2J'

const daemonsConfigIsUsed =
  'the configuration file has a mistake (see catalogd config check); this command works with what the daemon runs with'

/** Options that every command takes. */
export interface CommonOptions {
  config?: string
  catalog?: string
  json?: boolean
}

/** What a command is given: configuration on demand, output, log, and the wish to end. */
export class CommandContext {
  readonly json: boolean
  readonly clock: Clock
  readonly signal: AbortSignal
  readonly #surroundings: SafeSurroundings
  readonly #options: CommonOptions
  readonly #definition: CommandDefinition
  #loaded: Promise<LoadedConfig> | undefined
  #log: Log | undefined

  constructor(surroundings: SafeSurroundings, options: CommonOptions, definition: CommandDefinition) {
    this.#surroundings = surroundings
    this.#options = options
    this.#definition = definition
    this.json = options.json === true
    this.clock = surroundings.clock
    this.signal = surroundings.signal
  }

  /** Opened at the first use; lines go to standard error. */
  get log(): Log {
    const { environment, logStream } = this.#surroundings
    const { logLevel = 'warn' } = this.#definition
    this.#log ??= openLog({ level: logLevelOf(environment.CATALOGD_LOG, logLevel), stream: logStream })
    return this.#log
  }

  /** Whether a person watches the output: progress bars and colours are for them only. */
  get isTerminal(): boolean {
    return this.#surroundings.stdout.isTTY === true && !this.json
  }

  /** For bars; undefined where nobody watches standard error. */
  get barLine(): BarLine | undefined {
    return this.json ? undefined : this.#surroundings.barLine
  }

  get columns(): number {
    return this.#surroundings.stdout.columns ?? 80
  }

  /** Whether a person can be asked: not where JSON is wanted. */
  get canAsk(): boolean {
    return !this.json && this.#surroundings.stdin?.().isTTY === true
  }

  get input(): InputStream {
    return this.#surroundings.stdin?.() ?? Readable.from([])
  }

  /** As `--config` or CATALOGD_CONFIG names it, for what writes a new one. */
  get namedConfigFile(): string | undefined {
    return this.#options.config ?? namedConfig(this.#surroundings.environment)
  }

  /** As `--config`, CATALOGD_CONFIG or one of the usual places names it. */
  get configFile(): string {
    return this.#options.config ?? locateConfig(this.#surroundings.environment, process.cwd())
  }

  onHangUp(listener: () => void): void {
    this.#surroundings.onHangUp?.(listener)
  }

  /**
   * Read once, at the first use. Where the file has a mistake and a daemon runs, what that runs with: an operator's command
   * does not wait until somebody has corrected the file. Only a command that needs the file itself is refused.
   */
  async loadedConfig(): Promise<LoadedConfig> {
    this.#loaded ??= this.#definition.needsConfigFile ? this.readConfig() : this.#readOrAskConfig()
    return this.#loaded
  }

  async #readOrAskConfig(): Promise<LoadedConfig> {
    const { readOrAskConfig } = await import('../operations/running-config.ts')
    const { loaded, problem } = await readOrAskConfig(this.#asked)
    if (problem !== undefined) this.note(daemonsConfigIsUsed)
    return loaded
  }

  /** As it stands in the file now. */
  async readConfig(): Promise<LoadedConfig> {
    const { readCheckedConfig } = await import('../operations/read-config.ts')
    return await readCheckedConfig({ file: this.configFile, env: this.#surroundings.environment })
  }

  /** For a command that only shows something: what it may show, and what is wrong with the file. */
  async shownConfig() {
    const { readOrAskShown } = await import('../operations/running-config.ts')
    return await readOrAskShown(this.#asked)
  }

  get #asked() {
    return { file: this.configFile, env: this.#surroundings.environment, clock: this.clock }
  }

  /** The catalog that `--catalog` names; without it the only one. */
  async catalog(): Promise<CatalogConfig> {
    const [first, ...others] = await this.catalogs()
    if (first !== undefined && others.length === 0) return first
    const names = [first, ...others].map((catalog) => catalog?.name).join(', ')
    throw new ConfigError('catalog-missing', `the configuration has several catalogs: ${names}`, {
      hint: 'Choose one with --catalog',
    })
  }

  /** The catalog that `--catalog` names; without it all of them. */
  async catalogs(): Promise<CatalogConfig[]> {
    return this.chosenOf(await this.loadedConfig())
  }

  chosenOf({ config }: Pick<LoadedConfig, 'config'>): CatalogConfig[] {
    const asked = this.#options.catalog
    if (asked === undefined) return [...config.catalogs.values()]
    const catalog = config.catalogs.get(asked as CatalogName)
    if (catalog !== undefined) return [catalog]
    const meant = suggestion(asked, [...config.catalogs.keys()])
    throw new ConfigError('catalog-unknown', `--catalog: found "${asked}", which is no catalog${meant}`, {
      hint: `Catalogs stand under "catalogs" in ${this.configFile}`,
    })
  }

  /**
   * The result: one JSON document with `--json`, otherwise the text. Both go to standard output. The text is made of what
   * it is given: there the texts of the value are lines that are fit for a terminal, and none forges a further line.
   */
  print<T>(value: T, text: (shown: T) => string): void {
    this.printWhole(value, (shown) => this.#fitted(text(shown)))
  }

  /** The same of a text that is to be copied as it is: no line of it is broken. */
  printWhole<T>(value: T, text: (shown: T) => string): void {
    this.#write(this.json ? JSON.stringify(value, undefined, 2) : text(safeValue(value)))
  }

  /** The same with colours on a terminal, where it may take the place of what was shown before. */
  show<T>(value: T, { text, paint, again }: Shown<T>): void {
    if (!this.isTerminal) {
      this.print(value, text)
      return
    }
    const { environment, colourStream } = this.#surroundings
    const lines = wrapLines(safeLines(text(safeValue(value))), this.columns)
    colourStream.write(`${again ? clearScreen : ''}${environment.NO_COLOR ? lines : paint(lines)}\n`)
  }

  /** One of many results as they come: a line of JSON each with `--json`. */
  printLine<T>(value: T, text: (shown: T) => string): void {
    this.#write(this.json ? JSON.stringify(value) : this.#fitted(text(safeValue(value))))
  }

  /** For the person who waits, on standard error: not part of the result, nothing with `--json`. */
  note(text: string): void {
    if (!this.json) this.#surroundings.stderr.write(`${text}\n`)
  }

  #fitted(text: string): string {
    return this.isTerminal ? wrapLines(text, this.columns) : text
  }

  #write(text: string): void {
    this.#surroundings.stdout.write(text.endsWith('\n') ? text : `${text}\n`)
  }
}

export interface OptionDefinition {
  /** As commander reads them: `--port <number>`, `--strict`, `--no-wait`. The camel-cased name is the key in `options`. */
  flags: string
  /** One line; `--help` adds the default. */
  description: string
  default?: string | number | boolean | readonly string[]
  /** What the value is one of: `--help` lists them, TAB completes them. Nothing else is taken, unless `parse` says so. */
  choices?: readonly string[]
  /**
   * Of the text on the command line; the parsers of option-values.ts refuse a wrong one with exit code 2. An option that
   * may be repeated is given what it was before: the default at first.
   */
  parse?: (text: string, before?: unknown) => unknown
}

interface CommandInput<Options> {
  /** In the order of `usage`, a variadic argument flattened. */
  args: readonly string[]
  options: Options
  /** All that could be run, as commander knows it, for what completes another command line. */
  readProgram(words: readonly string[]): Promise<Command>
}

/**
 * One command: a file of `src/cli/`, listed in commands.ts. Methods, not function properties, so that commands with
 * different options fit one list.
 */
export interface CommandDefinition<Options extends object = object> {
  /** Name and arguments as commander reads them: `load <feed> <files...>`. */
  usage: string
  summary: string
  /** What `--help` says below the summary. */
  details?: string
  /** `--help` ends with them. Each begins with `catalogd`. */
  examples: readonly string[]
  options?: readonly OptionDefinition[]
  /** By the name of an argument: what it is one of. */
  choices?: Readonly<Record<string, readonly string[]>>
  /** Heading that it stands under in the list of commands, without the colon; default: Commands. */
  heading?: string
  /** Of a group (`config check`, `config print`); a group has no `run`. */
  commands?: readonly CommandDefinition[]
  /** What is logged unless CATALOGD_LOG says otherwise: `info` for daemons, `warn` (default) for what a person waits for. */
  logLevel?: LogLevel
  /**
   * It is about the configuration file, or about what no daemon has: while the file has a mistake it is refused. Other
   * commands work with what the running daemon runs with. Of a group: all of its commands.
   */
  needsConfigFile?: boolean
  /**
   * Does the work. Throws an OperatingError when it cannot (its exit code counts); answers an exit code when it could,
   * but the data has problems. Ends soon when `context.signal` is aborted.
   */
  run?(context: CommandContext, input: CommandInput<Options>): Promise<ExitCode | undefined> | Promise<void>
}
