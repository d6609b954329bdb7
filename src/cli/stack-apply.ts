import { ExitCode } from '../lib/errors.ts'
import { safeLine } from '../lib/terminal-text.ts'
import type { PlannedStack, Pulled } from '../operations/stack-files.ts'
import type { Applied } from '../stack/apply-steps.ts'
import type { StackPlan } from '../stack/model.ts'
import { isWanted, type Question } from './confirm.ts'
import type { CommandContext, CommandDefinition } from './context.ts'
import { formatApplied, formatPlan } from './stack-format.ts'
import { dirOption, withStack } from './stack-session.ts'
import { cell, countOf, formatTable } from './table.ts'

interface PlanOptions {
  dir: string
  prune: boolean
  exitCode: boolean
}

const pruneOption = {
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

function noteIgnored(context: CommandContext, { ignored }: PlannedStack): void {
  if (ignored.length > 0) context.note(`Not read: ${ignored.map(safeLine).join(', ')}`)
}

interface ApplyOptions {
  dir: string
  prune: boolean
  yes: boolean
}

export const stackApplyCommand: CommandDefinition<ApplyOptions> = {
  usage: 'apply',
  summary: 'make the Stack as the files want it: shows the plan, asks, and does it',
  details:
    'Goes on after an error and lists what failed at the end. Run again, it does what is still to do. Exit code 1: something was refused; 3: the service was not there or refused the token.',
  examples: ['catalogd stack apply', 'catalogd stack apply --yes', 'catalogd stack apply --prune'],
  options: [dirOption, pruneOption, { flags: '--yes', description: 'do not ask', default: false }],
  async run(context, { options }) {
    const { applyStackPlan, planStackFiles } = await import('../operations/stack-files.ts')
    const { signal } = context
    return await withStack(context, async (client) => {
      const planned = await planStackFiles(client, { ...options, signal })
      noteIgnored(context, planned)
      const { plan } = planned
      if (!context.json) context.print(plan, () => formatPlan({ plan, prune: options.prune }))
      const isSure = plan.steps.length === 0 || options.yes
      if (!(await isWanted(context, questionFor(plan), isSure))) return ExitCode.done
      const onStep = showProgress(context, plan)
      const applied = await applyStackPlan(client, { plan, signal, onStep }).catch((error: unknown) => {
        if (signal.aborted) context.note('Interrupted: run catalogd stack apply again to go on.')
        throw error
      })
      if (context.json || plan.steps.length > 0) {
        context.print({ plan, ...describe(applied) }, () => formatApplied(applied))
      }
      return exitCodeOf(applied)
    })
  },
}

function questionFor({ steps }: StackPlan): Question {
  const count = (action: string) => steps.filter((step) => step.action === action).length
  const replaced = count('replace')
  const deleted = count('delete')
  if (replaced + deleted === 0) return { text: `Do ${countOf(steps.length, 'step')}?`, wants: 'y' }
  const again = replaced === 1 ? 'it again under another id' : 'them again under other ids'
  const losses = [
    ...(replaced > 0 ? [`deletes ${countOf(replaced, 'item')} and creates ${again}`] : []),
    ...(deleted > 0 ? [`deletes ${countOf(deleted, 'item')} for good`] : []),
  ]
  return { text: `This ${losses.join(', and ')}. It cannot be taken back.`, wants: 'word' }
}

const notesMax = 20

/** A line now and then, in even steps; what failed at once. */
function showProgress(context: CommandContext, { steps }: StackPlan): (applied: Readonly<Applied>) => void {
  const every = Math.ceil(steps.length / notesMax)
  return ({ done, failed }) => {
    const tried = done.length + failed.length
    if (tried % every !== 0 || steps.length <= 1) return
    const failures = failed.length === 0 ? '' : `, ${failed.length} failed`
    context.note(`${tried} of ${countOf(steps.length, 'step')}${failures}`)
  }
}

function describe({ done, failed, notTried }: Applied) {
  return {
    done: done.length,
    failed: failed.map(({ step, error, halfDone }) => {
      const { code, message, hint } = error
      return { step, error: { code, message, hint }, ...(halfDone === undefined ? {} : { halfDone }) }
    }),
    notTried,
  }
}

function exitCodeOf({ failed }: Applied): ExitCode {
  if (failed.length === 0) return ExitCode.done
  return failed.some(({ error }) => error.exitCode === ExitCode.endpoint) ? ExitCode.endpoint : ExitCode.data
}

export const stackPullCommand: CommandDefinition<{ dir: string }> = {
  usage: 'pull',
  summary: 'write rules, moderation views, terms and users of the Stack into files',
  details:
    'Replaces the four files. They hold what can be written, ordered by name. users.yaml has e-mail addresses in it: keep it where those may be.',
  examples: ['catalogd stack pull', 'catalogd stack pull --dir ./stack-of-the-shop'],
  options: [dirOption],
  async run(context, { options: { dir } }) {
    const { pullStack } = await import('../operations/stack-files.ts')
    const pulled = await withStack(context, (client) => pullStack(client, { dir, signal: context.signal }))
    context.print(pulled, () => formatPulled(pulled))
  },
}

function formatPulled({ files, unnamed }: Pulled): string {
  const rows = files.map(({ file, items, changed }) => [file, items, changed ? 'written' : 'as before'])
  const left = unnamed.map(({ kind, id }) => `${kind} ${cell(id)}`).join(', ')
  const lines = [formatTable([['file', 'items', ''], ...rows])]
  if (unnamed.length > 0) {
    lines.push(`Left out: ${countOf(unnamed.length, 'item')} without a name (${cell(left, 300)}).`)
  }
  return lines.join('\n')
}
