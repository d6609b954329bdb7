import type { Failure, Tally } from './run-cases.ts'

export async function mutateFiles(
  _seed: number,
  _range: { from: number; to: number },
): Promise<{ tally: Tally; failures: Failure[] }> {
  return { tally: {}, failures: [] }
}
