import { readFileSync } from 'node:fs'

// count-tests.ts <vitest's JSON report> [names of the steps that failed …]
// Prints the closing line of .ci/run and exits 0 only when there were tests and nothing failed.

interface Report {
  numPassedTests: number
  numFailedTests: number
  numPendingTests: number
  numTodoTests: number
  testResults: { status: string; assertionResults: { status: string }[] }[]
}

const [file = '', ...brokenSteps] = process.argv.slice(2)
const report = readReport(file)
const passed = report?.numPassedTests ?? 0
const skipped = (report?.numPendingTests ?? 0) + (report?.numTodoTests ?? 0)
// A file that cannot be loaded has no tests that could fail, and those behind a hook that fails are skipped, or passed
// before: it counts as one.
const brokenFiles = report?.testResults.filter(
  ({ status, assertionResults }) =>
    status === 'failed' && !assertionResults.some((test) => test.status === 'failed'),
).length
let failed = (report?.numFailedTests ?? 0) + (brokenFiles ?? 0)
// Without a report, without tests, or after an error outside of any test something is wrong that no test shows.
const unexplained =
  report === undefined || passed + failed === 0 || (failed === 0 && brokenSteps.includes('tests'))
if (unexplained) failed += 1
failed += brokenSteps.filter((name) => name !== 'tests').length

console.log(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`)
process.exitCode = failed === 0 ? 0 : 1

function readReport(path: string): Report | undefined {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as Report
  } catch {
    return undefined
  }
}
