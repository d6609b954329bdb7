import type { ProblemSummary } from '../imports/report.ts'
import { countOf } from './table.ts'

const problemsMax = 10

/** The most frequent problems, each with its count and an example. */
export function formatProblems(problems: readonly ProblemSummary[]): string[] {
  const shown = problems.slice(0, problemsMax).flatMap(({ field, code, severity, count, examples }) => {
    const [example] = examples
    const where = example ? `record ${example.record}, line ${example.line}: ` : ''
    return [
      `  ${severity === 'reject' ? 'rejected' : 'warning'}  ${countOf(count, 'record')}  ${field ?? 'record'}  ${code}`,
      `    ${where}${example?.message ?? ''}`,
    ]
  })
  const more = problems.length - problemsMax
  return more > 0 ? [...shown, `  and ${countOf(more, 'further kind')} of problem`] : shown
}
