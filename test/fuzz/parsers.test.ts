import { expect, it } from 'vitest'
import { describeFailure } from './describe-failure.ts'
import { runBlocks } from './run-blocks.ts'

// A share of `npm run fuzz`, with new texts in every run.

it('reads every text as csv-parse, saxes, JSON.parse and the decoders do', { timeout: 600_000 }, async () => {
  const what = 'parsers'
  const seed = Math.floor(Math.random() * 2 ** 31)
  console.log(`fuzzing of parsers: --seed ${seed}`)
  const range = { from: 0, to: 40_000, workers: 1, blockCases: 4000, blockMs: 300_000 }
  const { failures, tally } = await runBlocks({ what, seed, ...range })
  expect(failures.map((failure) => describeFailure({ what, seed }, failure)).join('\n')).toBe('')
  const cases = Object.values(tally).reduce((sum, counts) => sum + counts.cases, 0)
  expect(cases).toBe(range.to)
  // Most texts must be read, or there would be little to compare.
  for (const counts of Object.values(tally)) expect(counts.refused).toBeLessThan(counts.cases * 0.7)
})
