import type { ProblemSummary } from '../imports/report.ts'
import { reasonOf } from '../lib/reason-of.ts'
import type { RecordIssue } from '../records/model.ts'
import { countOf } from './table.ts'

const problemsMax = 10
/** Of a value: the reason shows the beginning of most. */
const comparedCharacters = 40

/** The most frequent problems: how often, the first example with its line and value, and what to do. */
export function formatProblems(problems: readonly ProblemSummary[]): string[] {
  const shown = problems
    .slice(0, problemsMax)
    .flatMap(({ field, code, severity, count, examples }) => [
      `  ${severity === 'reject' ? 'rejected' : 'warning'}  ${countOf(count, 'record')}  ${field ?? 'record'}  ${code}`,
      ...examples.slice(0, 1).flatMap(formatExample),
    ])
  const more = problems.length - problemsMax
  return more > 0 ? [...shown, `  and ${countOf(more, 'further kind')} of problem`] : shown
}

function formatExample(issue: RecordIssue): string[] {
  const { record, line, value, remedy } = issue
  const reason = reasonOf(issue)
  const isShown = value === undefined || reason.includes(beginningOf(value))
  return [
    `    record ${record}, line ${line}: ${reason}`,
    ...(isShown ? [] : [`    value: ${value}`]),
    ...(remedy === undefined ? [] : [`    → ${remedy}`]),
  ]
}

/** As it stands in quotes. */
function beginningOf(value: string): string {
  return JSON.stringify(value.slice(0, comparedCharacters)).slice(1, -1)
}
