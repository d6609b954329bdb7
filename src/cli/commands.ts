import { parseArgs } from 'node:util'
import type { CommandDefinition } from './context.ts'

/**
 * All commands, in the order and under the headings of `--help`. A command is a file of its own that exports a
 * `CommandDefinition` (context.ts) and stands here; nothing else is needed:
 *
 * ```ts
 * export const statusCommand: CommandDefinition<{ all: boolean }> = {
 *   usage: 'status [feed]',
 *   summary: 'what waits, what runs, what is wrong',
 *   examples: ['catalogd status --json'],
 *   options: [{ flags: '--all', description: 'show what is well, too', default: false }],
 *   async run(context, { args: [feed], options }) {
 *     const { readStatus } = await import('../operations/read-status.ts') // late: `--help` needs no stage
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
const headings: Record<string, Record<string, () => Promise<CommandDefinition>>> = {
  'Set-up': {
    init: async () => (await import('./init.ts')).initCommand,
    config: async () => (await import('./config.ts')).configCommand,
    sandbox: async () => (await import('./sandbox.ts')).sandboxCommand,
    completion: async () => (await import('./completion.ts')).completionCommand,
  },
  'The daemon': {
    start: async () => (await import('./start.ts')).startCommand,
    reload: async () => (await import('./reload.ts')).reloadCommand,
    status: async () => (await import('./status.ts')).statusCommand,
    tail: async () => (await import('./tail.ts')).tailCommand,
    calls: async () => (await import('./calls.ts')).callsCommand,
    why: async () => (await import('./why.ts')).whyCommand,
    alert: async () => (await import('./alert.ts')).alertCommand,
  },
  'Feeds and imports': {
    check: async () => (await import('./check.ts')).checkCommand,
    diff: async () => (await import('./diff.ts')).diffCommand,
    load: async () => (await import('./load.ts')).loadCommand,
    imports: async () => (await import('./imports.ts')).importsCommand,
    approve: async () => (await import('./decisions.ts')).approveCommand,
    discard: async () => (await import('./decisions.ts')).discardCommand,
  },
  Delivery: {
    dead: async () => (await import('./dead.ts')).deadCommand,
    pause: async () => (await import('./decisions.ts')).pauseCommand,
    resume: async () => (await import('./decisions.ts')).resumeCommand,
    resync: async () => (await import('./decisions.ts')).resyncCommand,
  },
  State: {
    backup: async () => (await import('./backup.ts')).backupCommand,
    restore: async () => (await import('./restore.ts')).restoreCommand,
    adopt: async () => (await import('./adopt.ts')).adoptCommand,
  },
  Consents: {
    consent: async () => (await import('./consent.ts')).consentCommand,
  },
  'Shopper intent': {
    intent: async () => (await import('./intent.ts')).intentCommand,
    verify: async () => (await import('./verify.ts')).verifyCommand,
  },
  'The Stack': {
    stack: async () => (await import('./stack.ts')).stackCommand,
  },
}

/**
 * The one command that a command line names, or all where it asks for the list: reading them costs most of a short run.
 * `namesOnly`: of all no more than their names, described by their headings.
 */
export async function readCommands(
  argv: readonly string[],
  { namesOnly = false } = {},
): Promise<CommandDefinition[]> {
  const { values, positionals } = parseArgs({
    args: [...argv],
    strict: false,
    allowPositionals: true,
    options: {
      config: { type: 'string' },
      catalog: { type: 'string' },
      version: { type: 'boolean', short: 'V' },
    },
  })
  if (values.version && positionals.length === 0) return []
  const all = Object.entries(headings).flatMap(([heading, commands]) =>
    Object.entries(commands).map(([name, read]) => ({ heading, name, read })),
  )
  const named = all.filter(({ name }) => name === positionals[0])
  if (namesOnly && named.length === 0)
    return all.map(({ name, heading }) => ({ usage: name, summary: heading, examples: [] }))
  return await Promise.all(
    (named.length > 0 ? named : all).map(async ({ heading, read }) => ({ ...(await read()), heading })),
  )
}
