import { describeConfig, printConfig } from '../config/print.ts'
import { ExitCode } from '../lib/errors.ts'
import type { CommandDefinition } from './command.ts'

export const configPrintCommand: CommandDefinition = {
  usage: 'print',
  summary: 'print the configuration as it counts, with secrets masked',
  details: 'The environment and all defaults are filled in, and paths are absolute.',
  examples: ['catalogd config print', 'catalogd config print --json | jq .catalogs.main.delivery'],
  async run(context) {
    const loaded = await context.loadedConfig()
    context.print(describeConfig(loaded), () => printConfig(loaded))
    return ExitCode.done
  },
}
