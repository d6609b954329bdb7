import type { CommandDefinition } from './command.ts'
import { configCheckCommand } from './config-check.ts'
import { configPrintCommand } from './config-print.ts'
import { configSchemaCommand } from './config-schema.ts'

export const configCommand: CommandDefinition = {
  usage: 'config',
  summary: 'check or print the configuration',
  examples: ['catalogd config check'],
  commands: [configCheckCommand, configPrintCommand, configSchemaCommand],
}
