import { mutateFiles } from './mutate-files.ts'
import { runCases } from './run-cases.ts'

/** What a process of a run is asked to do: cases by their numbers. */
export interface Block {
  what: 'parsers' | 'files'
  seed: number
  from: number
  to: number
}

// Works on one block after the other, until its parent has no more.
process.on('message', async ({ what, seed, from, to }: Block) => {
  const range = { from, to }
  const result = what === 'parsers' ? await runCases(seed, range) : await mutateFiles(seed, range)
  process.send?.({ ...result, maxRssBytes: process.resourceUsage().maxRSS * 1024 })
})
