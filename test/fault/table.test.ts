import { afterEach, beforeEach, expect, test } from 'vitest'
import { leakCheck } from '../support/leak-check.ts'
import { formatResult, isFailed, runTable } from './table/run-table.ts'

const leaks = leakCheck()
beforeEach(leaks.remember)
afterEach(leaks.check)

// The whole table: `npm run fuzz -- faults`.
test('a few of each fault of the table: at rest the endpoint holds the newest state of every product', {
  timeout: 1_200_000,
}, async () => {
  const results = await runTable({ isShare: true, sideBySide: 6 })
  expect(results.filter(isFailed).map(formatResult)).toEqual([])
})
