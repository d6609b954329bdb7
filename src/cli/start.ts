import { once } from 'node:events'
import { stat } from 'node:fs/promises'
import type { LoadedConfig } from '../config/load.ts'
import { printConfig } from '../config/print.ts'
import type { Settings } from '../console/page.ts'
import { ConfigError, describeError, ExitCode, ifPresent, OperatingError } from '../lib/errors.ts'
import type { Role } from '../service.ts'
import type { CommandContext, CommandDefinition } from './context.ts'

const shutdownMsMax = 12_000

export const startCommand: CommandDefinition<{ roles: string }> = {
  usage: 'start',
  summary: 'run the daemon: watch the drop folders, fetch, import, deliver',
  details:
    'Ends well on SIGTERM and Ctrl+C: running calls get 10 s to finish. A second daemon on the same state folder stands by and takes over. Further processes may run with --roles deliver on the same Redis. Where state folder, Redis and endpoint do not belong together nothing is sent: see restore and adopt.',
  examples: ['catalogd start', 'catalogd start --roles deliver'],
  logLevel: 'info',
  options: [
    {
      flags: '--roles <list>',
      description: 'of watch, import, deliver, console, separated by commas',
      default: 'watch,import,deliver,console',
    },
  ],
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
  const storage = await openStorage({ config, clock, log, signal, mayBeDown: true })
  try {
    const service = await openService({
      pages: (app) =>
        registerPages(app, {
          ...{ config, catalogs, connections: storage.connections, clock, log },
          settings: settingsReader(context, loaded),
        }),
      config,
      catalogs,
      roles: options.chosen,
      connections: storage.connections,
      clock,
      log,
      onFatal: options.onFatal,
      onStandby: (holder) => log.info({ holder }, 'another catalogd works on this state folder; standing by'),
      onActive: () => log.info({ catalogs: catalogs.map(({ name }) => name) }, 'watching and importing'),
    })
    return {
      async [Symbol.asyncDispose]() {
        await service[Symbol.asyncDispose]()
        await storage[Symbol.asyncDispose]()
      },
    }
  } catch (error) {
    await storage[Symbol.asyncDispose]()
    throw error
  }
}

/** What runs, beside what a start would run now: read again when the file is another one. */
function settingsReader(context: CommandContext, loaded: LoadedConfig): () => Promise<Settings> {
  const running = printConfig(loaded)
  let last: { version: string; settings: Settings } | undefined
  return async () => {
    const file = await ifPresent(stat(loaded.config.file))
    const version = `${file?.mtimeMs} ${file?.size} ${file?.ino}`
    if (last?.version !== version) last = { version, settings: await readSettings(context, running) }
    return last.settings
  }
}

async function readSettings(context: CommandContext, running: string): Promise<Settings> {
  try {
    return { running, inFile: printConfig(await context.readConfigAgain()) }
  } catch (error) {
    if (!(error instanceof OperatingError)) throw error
    return { running, inFile: undefined, problem: describeError(error) }
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
