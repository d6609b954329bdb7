import { once } from 'node:events'
import { stat } from 'node:fs/promises'
import { compareConfigs } from '../config/compare-configs.ts'
import type { LoadedConfig } from '../config/load.ts'
import { printConfig } from '../config/print.ts'
import type { Settings } from '../console/page.ts'
import {
  ConfigError,
  describeError,
  describeErrorLines,
  ExitCode,
  ifPresent,
  OperatingError,
  systemErrorCode,
} from '../lib/errors.ts'
import { readVersion } from '../lib/version.ts'
import type { DaemonRecord, ReloadOutcome } from '../operations/daemon-record.ts'
import type { openService, Role } from '../service.ts'
import type { CommandContext, CommandDefinition } from './context.ts'

const shutdownMsMax = 12_000
const allRoles = 'watch,import,deliver,console'

export const startCommand: CommandDefinition<{ roles: string }> = {
  usage: 'start',
  summary: 'run the daemon: watch the drop folders, fetch, import, deliver',
  details:
    'Ends well on SIGTERM and Ctrl+C: running calls get 10 s to finish. SIGHUP, or catalogd reload, makes it take up a changed configuration. A second daemon on the same state folder stands by and takes over. Further processes may run with --roles deliver on the same Redis. Where state folder, Redis and endpoint do not belong together nothing is sent: see restore and adopt.',
  examples: ['catalogd start', 'catalogd start --roles deliver'],
  logLevel: 'info',
  options: [
    {
      flags: '--roles <list>',
      description: 'some of them, separated by commas',
      default: allRoles,
      choices: allRoles.split(','),
      // Several.
      parse: String,
    },
  ],
  needsConfigFile: true,
  async run(context, { options }) {
    const chosen = await parseRoles(options.roles)
    const fatal = new AbortController()
    const ended = AbortSignal.any([context.signal, fatal.signal])
    const service = await openDaemon(context, { chosen, onFatal: (error) => fatal.abort(error) })
    context.log.info({ roles: [...chosen] }, 'catalogd runs')
    if (!ended.aborted) await once(ended, 'abort')
    if (fatal.signal.aborted) {
      context.log.error('catalogd cannot go on and ends')
      // Whatever stands still may keep the shutdown from finishing, and the failure from being told at the end.
      setTimeout(() => {
        context.log.fatal({ err: fatal.signal.reason }, 'catalogd does not end well')
        process.exit(ExitCode.storage)
      }, shutdownMsMax).unref()
    }
    await service[Symbol.asyncDispose]()
    if (fatal.signal.aborted) throw fatal.signal.reason
    context.log.info('catalogd has ended')
  },
}

async function openDaemon(
  context: CommandContext,
  options: { chosen: Set<Role>; onFatal: (error: unknown) => void },
) {
  const { openService } = await import('../service.ts')
  const { openStorage } = await import('../storage.ts')
  const { registerPages } = await import('../console/pages.ts')
  const loaded = await context.loadedConfig()
  const { config, warnings } = loaded
  for (const warning of warnings) context.log.warn(warning)
  const catalogs = await context.catalogs()
  const { clock, log, signal } = context
  const reloads = new Reloads(context, loaded)
  const storage = await openStorage({ config, clock, log, signal, mayBeDown: true })
  try {
    const service = await openService({
      pages: (configured) => (app, limit) =>
        registerPages(app, {
          ...{ configured, connections: storage.connections, limit, clock, log },
          settings: settingsReader(context, reloads),
        }),
      config,
      catalogs,
      roles: options.chosen,
      connections: storage.connections,
      clock,
      log,
      onFatal: options.onFatal,
      onStandby: (holder) => log.info({ holder }, 'another catalogd works on this state folder; standing by'),
      onActive: () => {
        log.info({ catalogs: catalogs.map(({ name }) => name) }, 'watching and importing')
        reloads.noteActive()
      },
    })
    context.onHangUp(() => void reloads.reload(service).catch(options.onFatal))
    return {
      async [Symbol.asyncDispose]() {
        context.onHangUp(() => undefined)
        await service[Symbol.asyncDispose]()
        await storage[Symbol.asyncDispose]()
      },
    }
  } catch (error) {
    await storage[Symbol.asyncDispose]()
    throw error
  }
}

type Service = Awaited<ReturnType<typeof openService>>

/** Takes up a changed configuration, one after another, and writes down what became of it for those who asked. */
class Reloads {
  readonly #context: CommandContext
  #running: LoadedConfig
  #loadedAt: string
  #outcome: ReloadOutcome | undefined
  #number = 0
  /** Only who holds the state folder writes there. */
  #isActive = false
  #turn: Promise<void> = Promise.resolve()

  constructor(context: CommandContext, running: LoadedConfig) {
    this.#context = context
    this.#running = running
    this.#loadedAt = this.#now()
  }

  get running(): LoadedConfig {
    return this.#running
  }

  get loadedAt(): string {
    return this.#loadedAt
  }

  noteActive(): void {
    this.#isActive = true
    this.#turn = this.#turn.then(() => this.#write())
  }

  reload(service: Service): Promise<void> {
    this.#turn = this.#turn.then(async () => {
      this.#outcome = await this.#take(service)
      await this.#write()
    })
    return this.#turn
  }

  async #take(service: Service): Promise<ReloadOutcome> {
    const { log } = this.#context
    const outcome = { at: this.#now(), number: ++this.#number, changed: [], notes: [] }
    try {
      const next = await this.#context.readConfig()
      const changes = compareConfigs(this.#running, next)
      const { paths } = changes
      const { notesOf } = await import('../operations/reload.ts')
      const notes = notesOf(this.#running.config, next.config)
      if (paths.length > 0) {
        log.info({ changed: paths }, 'the configuration has changed: reloading')
        const catalogs = this.#context.chosenOf(next)
        await service.reload({ config: next.config, catalogs }, changes)
        this.#running = next
        this.#loadedAt = outcome.at
        for (const warning of [...next.warnings, ...notes]) log.warn(warning)
      }
      service.noteRefusal(undefined)
      log.info({ changed: paths.length }, 'the configuration is reloaded')
      return { ...outcome, changed: [...paths], notes }
    } catch (error) {
      if (!(error instanceof OperatingError)) throw error
      const { describeReloadError } = await import('../operations/reload.ts')
      service.noteRefusal(describeError(error))
      log.error({ err: error }, 'the configuration was not reloaded; the former one stays')
      return { ...outcome, error: describeReloadError(error) }
    }
  }

  async #write(): Promise<void> {
    if (!this.#isActive) return
    const { writeDaemonRecord } = await import('../operations/daemon-record.ts')
    const { noteShown } = await import('../operations/shown-config.ts')
    const { config, digest, text } = this.#running
    const shown = noteShown(this.#running)
    const record: DaemonRecord = {
      ...{ pid: process.pid, configFile: config.file, loadedAt: this.#loadedAt, digest, text },
      ...(shown === undefined ? {} : { shown: { version: readVersion(), config: shown } }),
      ...(this.#outcome ? { reload: this.#outcome } : {}),
    }
    await writeDaemonRecord(config.stateDir, record).catch((error: unknown) => {
      if (systemErrorCode(error) === undefined) throw error
      this.#context.log.warn({ err: error }, 'what the daemon runs with could not be written down')
    })
  }

  #now(): string {
    return new Date(this.#context.clock.now()).toISOString()
  }
}

/** What runs, beside what a start would run now: read again when the file is another one. */
function settingsReader(context: CommandContext, reloads: Reloads): () => Promise<Settings> {
  let last: { version: string; settings: Settings } | undefined
  return async () => {
    const file = await ifPresent(stat(reloads.running.config.file))
    const version = `${file?.mtimeMs} ${file?.size} ${file?.ino} ${reloads.loadedAt}`
    if (last?.version !== version)
      last = { version, settings: await readSettings(context, printConfig(reloads.running)) }
    return last.settings
  }
}

async function readSettings(context: CommandContext, running: string): Promise<Settings> {
  try {
    return { running, inFile: printConfig(await context.readConfig()) }
  } catch (error) {
    if (!(error instanceof OperatingError)) throw error
    return { running, inFile: undefined, problem: describeErrorLines(error).join('\n') }
  }
}

async function parseRoles(text: string): Promise<Set<Role>> {
  const { roles } = await import('../service.ts')
  const named = text.split(',').map((name) => name.trim())
  const unknown = named.filter((name) => !(roles as readonly string[]).includes(name))
  if (unknown.length === 0) return new Set(named as Role[])
  throw new ConfigError('role-unknown', `--roles: ${unknown.join(', ')} is no role`, {
    hint: `Roles: ${roles.join(', ')}`,
  })
}
