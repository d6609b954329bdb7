import { parseArgs } from 'node:util'
import { faultsUsage, main as runFaults } from '../fault/table/main.ts'
import { describeFailure } from './describe-failure.ts'
import { type RunOptions, runBlocks } from './run-blocks.ts'

const usage = `usage: npm run fuzz -- [parsers] [files] [model] [real] [options], or faults [rows]
  parsers           records of generated texts against csv-parse, saxes and JSON.parse (default 5,000,000 cases)
  files             mutated files of each format against reference readers (default 90,000 cases, 10,000 each)
  model             random schedules of mirror, outbox and endpoint (default 200,000)
  real              random schedules of the real mirror and scripts on a real Redis, held against the model (default 5,000)
${faultsUsage}
  --cases <number>  how many cases
  --seed <number>   of all random numbers (default: a new one, which is printed)
  --case <number>   this one case alone
  --workers <number>  processes at one time (default 2)`

const defaults = { parsers: 5_000_000, files: 90_000, model: 200_000, real: 5_000 } as const
const names = Object.keys(defaults) as (keyof typeof defaults)[]

async function main(): Promise<number> {
  if (process.argv[2] === 'faults') return runFaults(process.argv.slice(3))
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      cases: { type: 'string' },
      seed: { type: 'string' },
      case: { type: 'string' },
      workers: { type: 'string', default: '2' },
    },
  })
  const known = (name: string): name is RunOptions['what'] => Object.hasOwn(defaults, name)
  const unknown = positionals.find((name) => !known(name))
  if (unknown !== undefined) {
    console.error(`unknown: ${unknown}\n${usage}`)
    return 2
  }
  const seed = Number(values.seed ?? Math.floor(Math.random() * 2 ** 31))
  let failed = 0
  for (const what of positionals.length > 0 ? positionals.filter(known) : names) {
    const from = values.case === undefined ? 0 : Number(values.case)
    const to = values.case === undefined ? Number(values.cases ?? defaults[what]) : from + 1
    failed += await run({ what, seed, from, to, workers: Number(values.workers) })
  }
  return failed === 0 ? 0 : 1
}

async function run(range: Pick<RunOptions, 'what' | 'seed' | 'from' | 'to' | 'workers'>): Promise<number> {
  const { what, seed, from, to } = range
  console.log(`${what}: ${to - from} cases, --seed ${seed}`)
  const began = performance.now()
  const seconds = () => (performance.now() - began) / 1000
  let shown = 0
  let nextReport = 30
  const { tally, failures, maxRssBytes } = await runBlocks({
    ...range,
    blockCases: what === 'files' || what === 'real' ? 50 : 2000,
    blockMs: what === 'real' ? 600_000 : 180_000,
    onProgress: (done, found) => {
      for (; shown < found.length; shown++) console.log(describeFailure({ what, seed }, found[shown]))
      if (seconds() < nextReport) return
      nextReport += 30
      console.log(`${done} cases in ${Math.round(seconds())} s, ${found.length} differences`)
    },
  })
  for (const [kind, { cases, refused, documents, codes = {} }] of Object.entries(tally)) {
    const found = documents === undefined ? '' : `, ${documents} documents compared`
    console.log(`${kind}: ${cases} cases, ${refused} refused${found}`)
    const often = Object.entries(codes).sort(([, one], [, other]) => other - one)
    for (const [code, count] of often.slice(0, 12)) console.log(`  ${count} × ${code}`)
  }
  const rate = Math.round((to - from) / seconds())
  const megabytes = Math.round(maxRssBytes / 2 ** 20)
  console.log(
    `${what}: ${failures.length} differences; ${Math.round(seconds())} s, ${rate} cases/s, at most ${megabytes} MB per process`,
  )
  return failures.length
}

process.exitCode = await main()
