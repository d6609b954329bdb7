import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { parseArgs } from 'node:util'
import { tempDir } from '../../support/temp-dir.ts'
import { measureScale, scaleSizes } from '../scale.ts'
import { machine } from '../stage.ts'
import { measureCommands } from './commands.ts'
import { measureDrainOf } from './drain.ts'
import { isRepriced, writeFeed } from './feeds.ts'
import { type Figure, printFigure, type Report } from './figure.ts'
import { measureFormats } from './formats.ts'
import { measureOutbox } from './outbox.ts'
import { measureParsing } from './parsing.ts'
import { type Files, measureLoads } from './reimports.ts'
import { measureUrgent } from './urgent.ts'

interface Mode {
  rows: number
  rounds: number
  /** Products of the outbox, acknowledgements of the drain. */
  products: number
  /** Unless others are named. */
  parts: readonly string[]
}

const quickParts = ['loads', 'urgent', 'outbox', 'drain', 'commands', 'parsing']

const modes = {
  /** About three minutes on a quiet machine. */
  quick: { rows: 100_000, rounds: 3, products: 50_000, parts: quickParts },
  full: { rows: 1_000_000, rounds: 3, products: 1_000_000, parts: [...quickParts, 'formats'] },
  /** 100,000 to 10,000,000 rows, and nothing else. */
  scale: { rows: 0, rounds: 1, products: 0, parts: [] },
} as const satisfies Record<string, Mode>

/** Parts of a run, each with its peers. */
const parts: Record<string, (mode: Mode, files: Files) => Promise<Figure[]>> = {
  loads: ({ rounds }, files) => measureLoads(files, rounds),
  urgent: (_, files) => measureUrgent(files),
  outbox: ({ products, rounds }) => measureOutbox(Math.min(products, 200_000), rounds),
  drain: ({ products }) => measureDrainOf(products),
  formats: ({ products }) => measureFormats(Math.min(products, 100_000)),
  commands: () => measureCommands(),
  parsing: (_, files) => measureParsing(files, 1),
}

/**
 * Every target with its peer in one run, the two in turns; medians. `--quick` (default), `--full` or `--scale`;
 * `--json <file>` writes the figures; `--only <part,…>`, `--rows` and `--rounds` for a look at something.
 */
export async function runSuite(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      ...{ quick: { type: 'boolean' }, full: { type: 'boolean' }, scale: { type: 'boolean' } },
      ...{ rows: { type: 'string' }, rounds: { type: 'string' }, only: { type: 'string' } },
      json: { type: 'string' },
    },
  })
  const name = values.scale ? 'scale' : values.full ? 'full' : 'quick'
  const given = modes[name]
  const mode: Mode = {
    rows: Number(values.rows ?? given.rows),
    rounds: Number(values.rounds ?? given.rounds),
    parts: values.only?.split(',') ?? given.parts,
    products: Math.min(given.products, Number(values.rows ?? Number.POSITIVE_INFINITY)),
  }
  const began = performance.now()
  console.log(machine())
  const figures = name === 'scale' ? await measureScale(scaleSizes) : await runParts(mode)
  const minutes = (performance.now() - began) / 60_000
  console.log(`${minutes.toFixed(1)} minutes`)
  if (values.json === undefined) return
  const commit = execFileSync('git', ['rev-parse', '--short', 'HEAD']).toString().trim()
  const { rows, rounds } = mode
  const report: Report = {
    at: new Date().toISOString(),
    commit,
    machine: machine(),
    mode: name,
    rows,
    rounds,
    figures,
  }
  mkdirSync(dirname(values.json), { recursive: true })
  writeFileSync(values.json, `${JSON.stringify(report, undefined, 2)}\n`)
}

async function runParts(mode: Mode): Promise<Figure[]> {
  const { rows, rounds } = mode
  console.log(
    `${rows} products of 27 columns, ${rounds} rounds in turns, callsPerSecond 200, Redis with AOF everysec`,
  )
  await using dir = await tempDir('bench-feeds')
  const files = { rows, base: dir.join('base.csv'), changed: dir.join('changed.csv') }
  await writeFeed(files.base, 'csv', { products: rows })
  await writeFeed(files.changed, 'csv', { products: rows, isRepriced })
  const figures: Figure[] = []
  for (const part of mode.parts) {
    const measure = parts[part]
    if (!measure) throw new Error(`no part ${part}; there are ${Object.keys(parts).join(', ')}`)
    const found = await measure(mode, files)
    for (const figure of found) printFigure(figure)
    figures.push(...found)
  }
  return figures
}
