import type { Failure } from './run-cases.ts'

/** What differs, on which input, and how to see it again. */
export function describeFailure(
  { what, seed }: { what: string; seed: number },
  failure: Failure | undefined,
): string {
  if (failure === undefined) return ''
  const { kind, difference, text, settings } = failure
  return [
    `${kind}, case ${failure.case}: ${difference}`,
    `  again: npm run fuzz -- ${what} --seed ${seed} --case ${failure.case}`,
    `  input: ${JSON.stringify(text)}`,
    `  ${JSON.stringify(settings)}`,
  ].join('\n')
}
