import { modelKind, realKind } from '../model/model-kind.ts'
import type { Kind } from './kind.ts'
import { mutateFiles } from './mutate-files.ts'
import { parserKinds, runCases } from './run-cases.ts'

/** What a process of a run is asked to do: cases by their numbers. */
export interface Block {
  what: 'parsers' | 'files' | 'model' | 'real'
  seed: number
  from: number
  to: number
}

const kinds = { parsers: parserKinds, model: [modelKind as Kind], real: [realKind() as Kind] }

// What it has started ends with it.
process.once('SIGTERM', () => process.exit())

// Works on one block after the other, until its parent has no more.
process.on('message', async ({ what, seed, from, to }: Block) => {
  const range = { from, to }
  const result = what === 'files' ? await mutateFiles(seed, range) : await runCases(seed, range, kinds[what])
  process.send?.({ ...result, maxRssBytes: process.resourceUsage().maxRSS * 1024 })
})
