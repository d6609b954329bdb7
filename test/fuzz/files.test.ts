import { expect, it } from 'vitest'
import { fileFormats } from './base-file.ts'
import { describeFailure } from './describe-failure.ts'
import { runBlocks } from './run-blocks.ts'

// A share of `npm run fuzz`, with new files in every run.

const casesEach = 150

it('sends of damaged files what reference parsers read, and survives all of them', {
  timeout: 600_000,
}, async () => {
  const what = 'files'
  const seed = Math.floor(Math.random() * 2 ** 31)
  console.log(`fuzzing of files: --seed ${seed}`)
  const range = { from: 0, to: casesEach * fileFormats.length, workers: 1, blockCases: 90, blockMs: 300_000 }
  const { failures, tally, maxRssBytes } = await runBlocks({ what, seed, ...range })
  expect(failures.map((failure) => describeFailure({ what, seed }, failure)).join('\n')).toBe('')
  for (const format of fileFormats) {
    expect(tally[format]?.cases).toBe(casesEach)
    expect(tally[format]?.documents).toBeGreaterThan(0)
  }
  expect(maxRssBytes).toBeLessThan(400 * 2 ** 20)
})
