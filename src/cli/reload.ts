import type { CommandDefinition } from './context.ts'

export const reloadCommand: CommandDefinition = {
  usage: 'reload',
  summary: 'let the daemon take up a changed configuration, without a restart',
  details:
    'The configuration is checked first. What it does not change goes on; what is wrong, or needs a restart (state, redis, api.url), is refused as a whole, and the former one stays. The same as a SIGHUP to the daemon, but with an answer. Exit code 2: refused.',
  examples: ['catalogd reload'],
  needsConfigFile: true,
  async run(context) {
    // What is wrong with the file is told without troubling the daemon.
    const { config } = await context.loadedConfig()
    const { reloadDaemon } = await import('../operations/reload.ts')
    const { clock, signal } = context
    const done = await reloadDaemon({ config, clock, signal })
    context.print(done, ({ pid, changed, notes }) =>
      changed.length === 0
        ? `catalogd (pid ${pid}) runs with this configuration already.`
        : [
            `catalogd (pid ${pid}) runs with the new configuration. Changed:`,
            ...changed.map((path) => `  ${path}`),
            ...notes.map((note) => `! ${note}`),
          ].join('\n'),
    )
  },
}
