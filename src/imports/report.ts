import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import path from 'node:path'
import type { FeedConfig, FeedMode } from '../config/model.ts'
import type { FeedName } from '../lib/brand.ts'
import type { Log } from '../lib/log.ts'
import { privateFileMode, privateFolderMode } from '../lib/private-modes.ts'
import type { Dialect, RecordIssue } from '../records/model.ts'
import { compilePatterns } from '../sources/file-patterns.ts'
import type { AcceptLine, ImportOutcome } from '../sources/model.ts'
import type { OverriddenField, RecordFates } from './record-fates.ts'
import type { Tally } from './tally.ts'

export interface ProblemSummary {
  /** Stable, kebab-case: `not-a-number`, `required-empty` … */
  code: string
  /** Contract field or column that is wrong; left out where records as a whole are. */
  field: string | undefined
  /** `reject`: the records are not applied. `warn`: they are. */
  severity: RecordIssue['severity']
  /** How often it occurs, all records counted. */
  count: number
  /** The first five of them in file order, with `line`, `value`, `message` and `remedy`. */
  examples: RecordIssue[]
}

/** What `reports/<sequence>-<feed>.json` holds. */
export interface ImportReport {
  sequence: number
  /** Left out for products. Of consents `changes` counts revocations as urgent and grants as new. */
  kind?: 'consents'
  feed: FeedName
  file: string
  bytes: number
  mode: FeedMode
  acceptedAt: string
  /** As of when the file holds, where it says so. */
  asOf?: string
  finishedAt: string
  seconds: number
  outcome: ImportOutcome
  /** Why the file was refused or is late, or what is held; `hint`: what to do. */
  reason?: string
  hint?: string
  records: number
  /** Where several rows make a product, of which each is one record. */
  rows?: number
  rejected: number
  warned: number
  unchanged: number
  /** What became of every record; left out where the file was refused. */
  became?: RecordFates
  /** Most frequent first: what records say that is not used, since another feed writes the field. */
  overridden?: OverriddenField[]
  /** Of a full file: records that stood in the last one, which were not looked into. `because`: why there are none. */
  skipped?: { records: number; because?: string }
  /** Products of the feed that the file no longer names, and out of how many. */
  removals?: { missing: number; of: number; held: boolean }
  changes: Tally
  /** How the file was read: `csv`, delimiter, encoding … */
  dialect?: string
  warnings: string[]
  /** Most frequent first: the first 200 kinds that occur in the file. */
  problems: ProblemSummary[]
  /** By code, how often it occurs: all kinds and records. */
  issues: Readonly<Record<string, number>>
  /** The rejected records as a file that can be corrected and dropped again. */
  rejectsFile?: string
  /** Of the rejected ones, those that this file was too long for. */
  rejectsLeftOut?: number
}

const examplesMax = 5
const problemsMax = 200

export class ProblemCollector {
  readonly #byKey = new Map<string, ProblemSummary>()
  readonly #byCode = new Map<string, number>()
  rejected = 0
  warned = 0

  add(issues: readonly RecordIssue[]): void {
    if (issues.length === 0) return
    if (issues.some((issue) => issue.severity === 'reject')) this.rejected += 1
    else this.warned += 1
    for (const issue of issues) this.#count(issue)
  }

  /** Most frequent first. */
  summaries(): ProblemSummary[] {
    return [...this.#byKey.values()].sort((one, other) => other.count - one.count)
  }

  /** By code, most frequent first. */
  counts(): Record<string, number> {
    return Object.fromEntries([...this.#byCode].sort(([, one], [, other]) => other - one))
  }

  #count(issue: RecordIssue): void {
    this.#byCode.set(issue.code, (this.#byCode.get(issue.code) ?? 0) + 1)
    const key = `${issue.severity} ${issue.code} ${issue.field ?? ''}`
    const known = this.#byKey.get(key)
    if (known) {
      known.count += 1
      if (known.examples.length < examplesMax) known.examples.push(issue)
    } else if (this.#byKey.size < problemsMax) {
      const { code, field, severity } = issue
      this.#byKey.set(key, { code, field, severity, count: 1, examples: [issue] })
    }
  }
}

/** Extensions that say what a file is; others say nothing. */
const typesByExtension: ReadonlyMap<string, Dialect['type']> = new Map([
  ['csv', 'csv'],
  ['tsv', 'csv'],
  ['tab', 'csv'],
  ['ndjson', 'ndjson'],
  ['jsonl', 'ndjson'],
  ['json', 'json'],
  ['xml', 'xml'],
])

/** Where an import's report stands. Sorted by sequence when listed. */
export function reportPath(reportsDir: string, accept: AcceptLine): string {
  return `${stemOf(reportsDir, accept)}.json`
}

interface Rejects {
  reportsDir: string
  dialect: Pick<Dialect, 'type'>
  files: FeedConfig['files']
}

/**
 * Where its rejected records stand: with the extension of the file, unless it says something else than what they are
 * written as, and under a name that the feed takes, if one of its patterns allows that.
 */
export function rejectsPath(accept: AcceptLine, { reportsDir, dialect, files }: Rejects): string {
  const { type } = dialect
  const own = path.extname(accept.name.replace(/\.(gz|zst|zip)$/i, '')).slice(1)
  const isPlain =
    own !== '' && !/^xls[xm]?$/i.test(own) && (typesByExtension.get(own.toLowerCase()) ?? type) === type
  const extension = isPlain ? own : type
  const stem = `${path.basename(stemOf(reportsDir, accept))}.rejects`
  const modeOf = compilePatterns(files)
  const isTaken = (name: string) => modeOf(name) !== undefined
  const fitting = files
    .toSorted((one, other) => Number(other.mode === 'delta') - Number(one.mode === 'delta'))
    .map(({ pattern }) => pattern.replace('*', stem))
    .find(
      (name) =>
        name.includes(stem) && !/[*?[\]{}()!/]/.test(name) && name.endsWith(`.${extension}`) && isTaken(name),
    )
  const plain = `${stem}.${extension}`
  return path.join(reportsDir, isTaken(plain) ? plain : (fitting ?? plain))
}

function stemOf(reportsDir: string, { sequence, feed }: AcceptLine): string {
  return path.join(reportsDir, `${String(sequence).padStart(8, '0')}-${feed}`)
}

/** Whole or not at all: a reader never sees half a report. */
export async function writeReport(file: string, report: ImportReport): Promise<void> {
  await mkdir(path.dirname(file), { recursive: true, mode: privateFolderMode })
  await writeFile(`${file}.tmp`, `${JSON.stringify(report, undefined, 2)}\n`, { mode: privateFileMode })
  await rename(`${file}.tmp`, file)
}

export async function readReport(file: string): Promise<ImportReport | undefined> {
  const text = await readFile(file, 'utf8').catch(() => undefined)
  return text === undefined ? undefined : (JSON.parse(text) as ImportReport)
}

/** One line for each file: information when all of it went in, a warning when something did not. */
export function logImport(log: Log, report: ImportReport): void {
  const { feed, file, sequence, outcome, records, rejected, unchanged, changes, seconds } = report
  const { reason, hint, rejectsFile, warnings } = report
  const told = Object.entries({ records, rejected, unchanged, ...changes }).filter(([, count]) => count > 0)
  const line = {
    ...{ feed, file, sequence, outcome, reason, hint, ...Object.fromEntries(told), seconds },
    ...(rejectsFile === undefined ? {} : { rejectsFile }),
    ...(warnings.length === 0 ? {} : { warnings }),
  }
  const isWhole = outcome === 'imported' && rejected === 0 && warnings.length === 0
  if (isWhole) log.info(line, 'imported')
  else log.warn(line, messageOf(report))
}

/** What `status` shows of a feed's newest file until a better one comes; undefined: nothing is wrong with it. */
export function describeTrouble(report: ImportReport, feed: FeedConfig | undefined): string | undefined {
  const { outcome, sequence, reason, hint, file, rejected, records, problems } = report
  if (outcome === 'refused') {
    return `Import ${sequence} was refused: ${reason}${hint === undefined ? '' : `. ${hint}`}`
  }
  if (outcome === 'late') return `Import ${sequence} came late: ${reason}. ${hint}`
  const isMuch = rejected > records * (feed?.rejects.atMost ?? 0) || (rejected > 0 && rejected === records)
  if (!isMuch) return undefined
  const example = problems.find(({ severity }) => severity === 'reject')?.examples[0]
  const first = example
    ? `, for example record ${example.record} (line ${example.line}): ${example.message}`
    : ''
  return `Import ${sequence}: ${rejected} of ${records} records of ${file} were rejected${first}. ${remedyOf(report)}`
}

function remedyOf({ rejectsFile, rejectsLeftOut }: ImportReport): string {
  if (rejectsLeftOut === undefined) return `Correct ${rejectsFile} and drop it again`
  return `Correct them where the file comes from and drop it again: ${rejectsFile} lacks ${rejectsLeftOut} of them`
}

function messageOf({ outcome, rejected, records, removals, changes }: ImportReport): string {
  const isPartly = Object.values(changes).some((count) => count > 0)
  if (outcome === 'refused' && isPartly) return 'refused after a part of the file was applied'
  if (outcome === 'refused') return 'refused: nothing of the file was applied'
  if (outcome === 'late') return 'late: nothing of the file was applied'
  const what =
    rejected > 0
      ? `imported, but ${rejected} of ${records} records ${rejected === 1 ? 'was' : 'were'} rejected`
      : 'imported'
  if (outcome === 'imported') return rejected > 0 ? what : 'imported with a warning'
  return removals ? `${what}; the removals are held` : 'held: nothing of the file was applied'
}
