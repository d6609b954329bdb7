import { ExitCode } from '../lib/errors.ts'
import type { Status } from '../operations/read-status.ts'
import type { CommandContext, CommandDefinition } from './context.ts'
import { formatStatus, paintStatus, redisTrouble } from './status-format.ts'

const againAfterMs = 2_000

export const statusCommand: CommandDefinition<{ watch?: boolean }> = {
  usage: 'status',
  summary: 'show what waits, what runs, and what is wrong',
  details:
    'Exit code 0: all is well; 1: something asks for an operator (held, refused, failed, a configuration that cannot be used, work that waits while no daemon runs); 3: no calls are made; 4: Redis is down (what is on disk is shown all the same), refuses changes, or is short of memory. Where the configuration cannot be used, what the daemon runs with is shown.',
  examples: ['catalogd status', 'catalogd status --watch', 'catalogd status --json'],
  options: [{ flags: '--watch', description: 'again every 2 s, until Ctrl+C; with --json a line each' }],
  async run(context, { options }) {
    const { openStorage } = await import('../storage.ts')
    const { readStatus } = await import('../operations/read-status.ts')
    const used = await context.shownConfig()
    const catalogs = context.chosenOf(used.loaded)
    const { config } = used.loaded
    const { clock, log, signal } = context
    await using storage = await openStorage({ config, clock, log, signal, mayBeDown: true, isQuiet: true })
    const { connections } = storage
    for (let again = false; ; again = true) {
      const status = await readStatus({ config, connections, clock, log, signal }, catalogs, used)
      if (options.watch && context.json) context.printLine(status, () => '')
      else show(context, status, again)
      if (!options.watch) return exitCodeOf(status)
      await clock.sleep(againAfterMs, signal).catch(() => undefined)
      if (signal.aborted) return exitCodeOf(status)
    }
  },
}

function show(context: CommandContext, status: Status, again: boolean): void {
  const nowMs = context.clock.now()
  context.show(status, { text: (shown) => formatStatus(shown, nowMs), paint: paintStatus, again })
}

function exitCodeOf({ redis, configuration, catalogs }: Status): ExitCode {
  if (redisTrouble(redis) !== undefined) return ExitCode.storage
  if (catalogs.some(({ health }) => health === 'stopped')) return ExitCode.endpoint
  const isWell = catalogs.every(({ health }) => health === 'ok') && configuration?.state !== 'unusable'
  return isWell ? ExitCode.done : ExitCode.data
}
