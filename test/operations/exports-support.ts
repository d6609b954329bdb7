import { readdir, readFile } from 'node:fs/promises'
import { extname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { readCheckedConfig } from '../../src/operations/read-config.ts'
import { runCli } from '../cli/support.ts'
import { readFeed } from '../presets/read-preset.ts'
import { tempDir } from '../support/temp-dir.ts'
import { type Difference, differencesOf, type Expectation, type Outcome } from './exports-compare.ts'

const folder = fileURLToPath(new URL('exports/', import.meta.url))
const environment = { CATALOG_API_URL: 'http://127.0.0.1:1', API_PRODUCTS_TOKEN: 'token' }
/** For which time the exports are read; periods in them are over by then, or last for decades. */
const now = '2026-06-01'

export type Verdict = 'right' | 'asked' | 'silently wrong' | 'refused'

export interface Result {
  name: string
  verdict: Verdict
  details: readonly string[]
}

export async function exportNames(): Promise<string[]> {
  const names = await readdir(folder)
  return names.filter((name) => !name.endsWith('.expected.json')).sort()
}

export async function readExpectation(name: string): Promise<Expectation> {
  const file = `${folder}${name.slice(0, -extname(name).length)}.expected.json`
  return JSON.parse(await readFile(file, 'utf8')) as Expectation
}

export async function examine(name: string): Promise<Result> {
  const expected = await readExpectation(name)
  const outcome = await initFrom(name, expected)
  if (typeof outcome === 'string') return { name, verdict: 'refused', details: [outcome] }
  const differences = differencesOf(expected, outcome)
  const details = differences.map(({ kind, text }) => `${kind}: ${text}`)
  return { name, verdict: verdictOf(differences), details }
}

function verdictOf(differences: readonly Difference[]): Verdict {
  const has = (kind: Difference['kind']) => differences.some((difference) => difference.kind === kind)
  if (has('silent')) return 'silently wrong'
  if (has('refused')) return 'refused'
  return has('asked') ? 'asked' : 'right'
}

/** The command as an operator runs it, and what its configuration sends; or the message it refuses with. */
async function initFrom(name: string, { options }: Expectation): Promise<Outcome | string> {
  await using dir = await tempDir('exports')
  const config = dir.join('catalogd.yaml')
  const file = folder + name
  const { exitCode, stdout, stderr } = await runCli([
    ...['--json', '--config', config, 'init', '--from', file, '--yes'],
    ...(options.shopUrl === undefined ? [] : ['--shop-url', options.shopUrl]),
    ...(options.currency === undefined ? [] : ['--currency', options.currency]),
  ])
  const text = await readFile(config, 'utf8').catch(() => undefined)
  if (text === undefined) return `exit ${exitCode}: ${(stderr || stdout).trim().slice(0, 300)}`
  const { open, check } = JSON.parse(stdout) as Printed
  if (check.refused) return check.refused.reason
  if (check.missingColumns) return `missing columns ${JSON.stringify(check.missingColumns)}`
  const loaded = await readCheckedConfig({ file: config, env: environment })
  const feed = [...loaded.config.catalogs.values()][0]?.feeds.values().next().value
  if (feed === undefined) return 'the configuration has no feed'
  const { documents } = await readFeed(feed, file, now)
  const complete = Object.entries(documents).filter(([, document]) => !Array.isArray(document))
  return {
    documents: Object.fromEntries(complete),
    delivered: complete.length,
    rejected: check.rejected + check.incomplete.products,
    checked: checkedKeys(text, open),
  }
}

interface Printed {
  open: readonly string[]
  check: {
    rejected: number
    incomplete: { products: number }
    refused?: { reason: string }
    missingColumns?: readonly unknown[]
  }
}

/** Of lines of the feed and its fields, and of those that stand for themselves. */
function checkedKeys(text: string, open: readonly string[]): Set<string> {
  const lines = text.split('\n').filter((line) => /#.*CHECK/.test(line))
  const keys = lines.flatMap((line) => line.match(/^ {8,10}"?([a-z_A-Z]\w*)"?:/)?.[1] ?? [])
  const named = open.flatMap((line) => line.match(/^(?:fields\.)?([a-z_A-Z]\w*)/)?.[1] ?? [])
  return new Set([...keys, ...named])
}
