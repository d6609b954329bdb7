import type { Applied, StepFailure } from '../stack/apply-steps.ts'
import { kindRules } from '../stack/kinds.ts'
import type { FieldChange, ItemReference, StackKind, StackPlan, Step } from '../stack/model.ts'
import { cell, countOf, shownValue } from './table.ts'

const listedMax = 20

export function formatPlan({ plan, prune }: { plan: StackPlan; prune: boolean }): string {
  const lines = plan.steps.flatMap(formatStep)
  const deletable = plan.notInFiles.filter(({ kind }) => kind !== 'users')
  const users = plan.notInFiles.filter(({ kind }) => kind === 'users')
  const left = prune ? 'left as they are' : 'left as they are; --prune deletes them'
  lines.push(...formatItems(`Not in the files, ${left}`, deletable))
  lines.push(...formatItems('Users that are not in the files (users are never deleted)', users))
  lines.push(...formatItems('Without a name, so that no file can speak of them', plan.unnamed))
  lines.push(...plan.warnings.map((warning) => `warning: ${cell(warning, 300)}`))
  return [...lines, summarize(plan)].join('\n')
}

function summarize({ steps, unchanged }: StackPlan): string {
  if (steps.length === 0) return `Nothing to do: ${countOf(unchanged, 'item')} as in the files.`
  const parts = [
    ...(['create', 'update', 'replace', 'delete'] as const).flatMap((action) => {
      const count = steps.filter((step) => step.action === action).length
      return count === 0 ? [] : [`${count} to ${action === 'update' ? 'change' : action}`]
    }),
    `${unchanged} unchanged`,
  ]
  return `${parts.join(', ')}.`
}

function formatStep(step: Step): string[] {
  const what = nameItem(step)
  switch (step.action) {
    case 'create':
      return [`+ create   ${what}`]
    case 'update':
      return [`~ change   ${what}`, ...step.changes.map(formatChange)]
    case 'replace': {
      const fixed = step.changes.filter(({ createOnly }) => createOnly).map(({ field }) => field)
      const why = `deleted and created again under another id, because ${fixed.join(', ')} cannot be changed`
      return [`± replace  ${what}: ${why}`, ...step.changes.map(formatChange)]
    }
    case 'delete':
      return [`- delete   ${what}`]
    default:
      return step satisfies never
  }
}

function formatChange({ field, before, after, createOnly }: FieldChange): string {
  const note = createOnly ? '  (given only when it is created)' : ''
  return `      ${cell(field)}: ${shownValue(before)} → ${shownValue(after)}${note}`
}

function nameItem({ kind, name, id }: { kind: StackKind; name: string; id?: ItemReference['id'] }): string {
  return `${kindRules[kind].word} ${shownValue(name, 60)}${id === undefined ? '' : ` (id ${cell(id)})`}`
}

function formatItems(title: string, items: readonly ItemReference[]): string[] {
  if (items.length === 0) return []
  const shown = items.slice(0, listedMax).map((item) => `      ${nameItem(item)}`)
  const more =
    items.length > listedMax ? [`      and ${items.length - listedMax} more (--json lists all)`] : []
  return [`${title}:`, ...shown, ...more]
}

/** What came of the steps: what failed is listed with its reason. */
export function formatApplied({ done, failed, notTried }: Applied): string {
  const lines = failed.map(formatFailure)
  if (notTried.length > 0) {
    lines.push(
      `${countOf(notTried.length, 'step')} not tried, because they would have failed in the same way.`,
    )
  }
  const outcome =
    failed.length === 0
      ? `Done: ${countOf(done.length, 'step')}.`
      : `${countOf(done.length, 'step')} done, ${failed.length} failed. Run catalogd stack apply again to go on.`
  return [...lines, outcome].join('\n')
}

const halves = {
  'both-exist': ' The new one exists, and the old one still does: delete the old one by its id.',
  'neither-exists': ' The old one is gone, and the new one is missing: apply again to create it.',
} as const

function formatFailure({ step, error, halfDone }: StepFailure): string {
  const hint = error.hint === undefined ? '' : `\n      ${error.hint}`
  const half = halfDone === undefined ? '' : halves[halfDone]
  return `failed: ${step.action} ${nameItem(step)}: ${cell(error.message, 600)}${half}${hint}`
}
