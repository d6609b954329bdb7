import type { StackService } from './client-service.ts'
import { type StackRecord, toExistingItems } from './existing-items.ts'
import type { ExistingItem, StackItems, StackKind, StackProblem } from './model.ts'
import { findRepeatedThere } from './plan.ts'
import { StackProblemsError } from './problems.ts'

/** What the service holds of some kinds. One after the other: a rate limit is shared by all calls. */
export async function readStack(
  service: StackService,
  kinds: readonly StackKind[],
): Promise<StackItems<ExistingItem>> {
  const items: Partial<Record<StackKind, ExistingItem[]>> = {}
  for (const kind of kinds) {
    // By id: a page that shifts while others are read may show a record twice.
    const records = new Map<string, StackRecord>()
    for await (const record of service.list(kind)) records.set(String(record.id), record)
    items[kind] = toExistingItems(kind, [...records.values()])
  }
  return items
}

/** Throws when names are given twice: a file could not say which is meant. */
export function refuseRepeatedNames(items: StackItems<ExistingItem>): void {
  const problems: StackProblem[] = Object.entries(items).flatMap(([kind, existing]) =>
    findRepeatedThere(kind as StackKind, existing),
  )
  if (problems.length > 0) throw new StackProblemsError(problems)
}
