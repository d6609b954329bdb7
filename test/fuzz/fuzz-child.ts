import { modelKind } from '../model/model-kind.ts'
import type { Kind } from './kind.ts'
import { mutateFiles } from './mutate-files.ts'
import { parserKinds, runCases } from './run-cases.ts'

/** What a process of a run is asked to do: cases by their numbers. */
export interface Block {
  what: 'parsers' | 'files' | 'model'
  seed: number
  from: number
  to: number
}

// Works on one block after the other, until its parent has no more.
process.on('message', async ({ what, seed, from, to }: Block) => {
  const range = { from, to }
  const kinds = what === 'model' ? [modelKind as Kind] : parserKinds
  const result = what === 'files' ? await mutateFiles(seed, range) : await runCases(seed, range, kinds)
  process.send?.({ ...result, maxRssBytes: process.resourceUsage().maxRSS * 1024 })
})
