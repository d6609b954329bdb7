import { ExitCode } from '../lib/errors.ts'
import { safeLine } from '../lib/terminal-text.ts'
import type { PlannedStack } from '../operations/stack-files.ts'
import type { CommandDefinition } from './command.ts'
import type { CommandContext } from './context.ts'
import { formatPlan } from './stack-format.ts'
import { dirOption, withStack } from './stack-session.ts'

interface PlanOptions {
  dir: string
  prune: boolean
  exitCode: boolean
}

export const pruneOption = {
  flags: '--prune',
  description: 'delete rules, moderation views and terms that their file does not name; users never',
  default: false,
}

export const stackPlanCommand: CommandDefinition<PlanOptions> = {
  usage: 'plan',
  summary: 'show what apply would create, change, replace and delete; changes nothing',
  details:
    'Items are known by their names: rules and terms by name, moderation views by view_name, users by username (without one by email). A kind without a file is left alone.',
  examples: ['catalogd stack plan', 'catalogd stack plan --prune --json', 'catalogd stack plan --exit-code'],
  options: [
    dirOption,
    pruneOption,
    { flags: '--exit-code', description: 'end with 1 when there is something to do', default: false },
  ],
  async run(context, { options }) {
    const { planStackFiles } = await import('../operations/stack-files.ts')
    const planned = await withStack(context, (client) =>
      planStackFiles(client, { ...options, signal: context.signal }),
    )
    noteIgnored(context, planned)
    const { plan } = planned
    context.print(plan, () => formatPlan({ plan, prune: options.prune }))
    return options.exitCode && plan.steps.length > 0 ? ExitCode.data : ExitCode.done
  },
}

export function noteIgnored(context: CommandContext, { ignored }: PlannedStack): void {
  if (ignored.length > 0) context.note(`Not read: ${ignored.map(safeLine).join(', ')}`)
}
