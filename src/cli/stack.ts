import type { CommandDefinition } from './context.ts'
import { stackApplyCommand, stackPlanCommand, stackPullCommand } from './stack-apply.ts'
import { stackRecordCommands } from './stack-records.ts'

export const stackCommand: CommandDefinition = {
  usage: 'stack',
  summary: 'rules, moderation views, terms and users of the Stack: as files, or one by one',
  details: 'Needs the section "stack" of the configuration: address, access token and name of the Stack.',
  examples: [
    'catalogd stack pull',
    'catalogd stack plan',
    'catalogd stack apply',
    'catalogd stack users list --order-by email',
    'catalogd stack terms update 12 --set active=false',
  ],
  needsConfigFile: true,
  commands: [stackPullCommand, stackPlanCommand, stackApplyCommand, ...stackRecordCommands],
}
