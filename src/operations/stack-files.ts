import type { StackClient } from '../api/stack-client.ts'
import { type Applied, type ApplyOptions, applySteps } from '../stack/apply-steps.ts'
import { serviceOf } from '../stack/client-service.ts'
import { readStackFiles, type WrittenFile, writeStackFiles } from '../stack/files.ts'
import { type ItemReference, type StackKind, type StackPlan, stackKinds } from '../stack/model.ts'
import { planStack } from '../stack/plan.ts'
import { StackProblemsError } from '../stack/problems.ts'
import { readStack, refuseRepeatedNames } from '../stack/read-stack.ts'

export interface Pulled {
  files: WrittenFile[]
  /** Left out: no file can speak of them. */
  unnamed: ItemReference[]
}

/** Writes what the service holds. Throws StackProblemsError, before anything is written, when names are given twice. */
export async function pullStack(
  client: StackClient,
  { dir, signal }: { dir: string; signal: AbortSignal },
): Promise<Pulled> {
  const existing = await readStack(serviceOf(client, signal), stackKinds)
  refuseRepeatedNames(existing)
  const unnamed = stackKinds.flatMap((kind) =>
    (existing[kind] ?? []).filter(({ name }) => name === '').map(({ id, name }) => ({ kind, id, name })),
  )
  return { files: await writeStackFiles(dir, existing), unnamed }
}

export interface PlannedStack {
  plan: StackPlan
  /** Kinds that have a file; the others are not looked at. */
  kinds: StackKind[]
  /** YAML files of the folder that are none of ours. */
  ignored: string[]
}

/** Compares the files with the service. Throws StackProblemsError with everything that stands in the way. */
export async function planStackFiles(
  client: StackClient,
  { dir, prune, signal }: { dir: string; prune: boolean; signal: AbortSignal },
): Promise<PlannedStack> {
  const { desired, problems, ignored } = await readStackFiles(dir)
  // A file that cannot be read says nothing about its items: planning without them would mislead.
  if (problems.length > 0) throw new StackProblemsError(problems)
  const kinds = stackKinds.filter((kind) => desired[kind] !== undefined)
  const planned = planStack({ desired, existing: await readStack(serviceOf(client, signal), kinds), prune })
  if (planned.kind === 'problems') throw new StackProblemsError(planned.problems)
  return { plan: planned.plan, kinds, ignored }
}

/** Does what the plan says; what fails is told in the result. */
export function applyStackPlan(
  client: StackClient,
  { plan, ...options }: { plan: StackPlan } & Omit<ApplyOptions, 'service'>,
): Promise<Applied> {
  return applySteps(plan.steps, { ...options, service: serviceOf(client, options.signal) })
}
