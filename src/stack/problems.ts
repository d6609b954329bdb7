import { ExitCode, OperatingError } from '../lib/errors.ts'
import type { Place, StackProblem } from './model.ts'

/** Everything that stands in the way of a plan, at once. Nothing was changed. */
export class StackProblemsError extends OperatingError {
  readonly exitCode = ExitCode.data
  readonly problems: readonly StackProblem[]

  constructor(problems: readonly StackProblem[]) {
    super('stack-problems', problems.map(formatProblem).join('\n'), {
      hint: 'Nothing was changed: correct this and run the command again',
    })
    this.problems = problems
  }
}

export function formatPlace({ file, line, column }: Place): string {
  return `${file}:${line}:${column}`
}

function formatProblem({ place, message }: StackProblem): string {
  return place === undefined ? message : `${formatPlace(place)} ${message}`
}
