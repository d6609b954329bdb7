import { once } from 'node:events'
import { loadBullmq } from './bullmq.ts'
import { loadDuckdb, runDiff } from './changes.ts'
import { loadBulk, runFetchLoop } from './loads.ts'
import { runOutbox } from './outbox.ts'
import { loadPapaparse, loadUdsv, runCsvParse } from './parsers.ts'

// A process of one peer: loads it, says so, waits for the word, does the work, says what came of it.

type Work = (...args: string[]) => Promise<unknown>

/** What loads a peer and gives its work. */
const peers: Record<string, (...args: string[]) => Promise<Work>> = {
  'csv-parse': async () => runCsvParse,
  papaparse: loadPapaparse,
  udsv: loadUdsv,
  bulk: loadBulk,
  'fetch-loop': async () => runFetchLoop,
  duckdb: loadDuckdb,
  diff: async () => runDiff,
  bullmq: loadBullmq,
  outbox: runOutbox,
}

const [name = '', ...args] = process.argv.slice(2)
const load = peers[name]
if (!load) throw new Error(`no such peer: ${name}`)
const work = await load(...args)
process.send?.('ready')
await once(process, 'message')
const answer = await work(...args)
process.send?.({ answer, peakMegabytes: process.resourceUsage().maxRSS / 1000 })
