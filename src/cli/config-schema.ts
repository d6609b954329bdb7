import { productFields } from '../api/contract/product.ts'
import { configJsonSchema, configJsonSchemaText } from '../config/json-schema.ts'
import { ExitCode } from '../lib/errors.ts'
import type { CommandDefinition } from './command.ts'

export const configSchemaCommand: CommandDefinition = {
  usage: 'schema',
  summary: 'print the JSON Schema of the configuration',
  details:
    'Editors with a YAML language server complete and check the configuration when its first line is\n# yaml-language-server: $schema=catalogd.schema.json',
  examples: ['catalogd config schema > config/catalogd.schema.json'],
  async run(context) {
    context.print(configJsonSchema(productFields), () => configJsonSchemaText(productFields))
    return ExitCode.done
  },
}
