import type { CatalogConfig } from '../config/model.ts'
import type { CatalogName } from '../lib/brand.ts'
import { ConfigError } from '../lib/errors.ts'
import type { DeadLetter } from '../mirror/model.ts'
import { listDeadConsents, listDeadLetters } from '../operations/dead-letters.ts'
import { explainProduct } from '../operations/explain-product.ts'
import {
  type CallEntry,
  type CallFilter,
  type CallPage,
  findCall,
  listCalls,
} from '../operations/list-calls.ts'
import { findImport, findReport, type ImportEntry, listImports } from '../operations/list-imports.ts'
import { readStatus, type Status } from '../operations/read-status.ts'
import { findDaemon, type OperationContext } from '../operations/run-here.ts'
import type { ProductStory } from '../operations/story.ts'
import { freeBytes } from '../sources/space.ts'
import { openMirror } from '../storage.ts'
import { type ActionRequest, act } from './act.ts'
import { type HeldSample, HeldSamples } from './held-samples.ts'
import { reasonKey } from './reason-key.ts'
import { type Found, Search } from './search/search.ts'

export type ReadContext = Omit<OperationContext, 'catalog'>

const lettersMax = 20
const callsMax = 50
/** Calls that are looked through for one page: some 5 ms. */
const lookMax = 1_000

/** Dead letters of one reason, the newest ones. */
export interface DeadGroup {
  key: string
  reason: string
  total: number
  letters: DeadLetter[]
}

export interface DeadLetters {
  /** The largest first. */
  groups: DeadGroup[]
  total: number
  consents: number
}

/** `freeBytes`: of the disk of the state folder. */
export type ConsoleStatus = Status & { freeBytes: number }

/** Everything that the pages show of mirror, manifest and reports. It runs in the thread of the console. */
export function openReads(context: ReadContext) {
  const { config } = context
  const catalogs = [...config.catalogs.values()]
  const named = (name: string) => catalogNamed(context, name)
  const samples = new HeldSamples(context)
  return {
    ...productReads(context),
    async status(): Promise<ConsoleStatus> {
      const free = await freeBytes(config.stateDir).catch(() => 0)
      return { ...(await readStatus(context, catalogs)), freeBytes: free }
    },
    imports(catalog: string, entriesMax: number): Promise<ImportEntry[]> {
      return listImports({ ...context, catalog: named(catalog) }, entriesMax)
    },
    import(catalog: string, sequence: number): Promise<ImportEntry> {
      return findImport({ ...context, catalog: named(catalog) }, sequence)
    },
    /** Where a file of a report stands; the report itself, or its rejected records. */
    async reportFile(catalog: string, sequence: number, part: 'report' | 'rejects'): Promise<string> {
      const { report } = await findImport({ ...context, catalog: named(catalog) }, sequence)
      const rejects = report?.kind === undefined ? report?.rejectsFile : undefined
      const path =
        part === 'rejects' ? rejects : await findReport({ ...context, catalog: named(catalog) }, sequence)
      if (path !== undefined) return path
      throw new ConfigError('no-report', `import ${sequence} has no such file`)
    },
    /** Some of what an import holds. */
    heldSample(catalog: string, feed: string, sequence: number): Promise<HeldSample> {
      return samples.of(named(catalog), feed, sequence)
    },
    async deadLetters(catalog: string): Promise<DeadLetters> {
      const operation = { ...context, catalog: named(catalog) }
      const letters = await listDeadLetters(operation)
      const hasConsents = operation.catalog.consents.feeds.size > 0
      const consents = hasConsents ? (await listDeadConsents(operation)).length : 0
      return { groups: groupsOf(letters), total: letters.length, consents }
    },
    act(asked: ActionRequest): Promise<string> {
      return act({ ...context, catalog: named(asked.catalog) }, asked)
    },
  }
}

/** The same of products, and of the calls that carried them. */
function productReads(context: ReadContext) {
  const { config } = context
  const named = (name: string) => catalogNamed(context, name)
  const searchOf = (name: string) => new Search({ ...context, catalog: named(name) })
  return {
    story(catalog: string, id: string): Promise<ProductStory> {
      return explainProduct({ ...context, catalog: named(catalog) }, id, { lookMax })
    },
    async calls(catalog: string, filter: CallFilter): Promise<CallPage> {
      using mirror = await openMirror(config, named(catalog))
      return listCalls(mirror, filter, { callsMax, lookMax })
    },
    async call(catalog: string, number: number): Promise<CallEntry & { ids: string[] }> {
      using mirror = await openMirror(config, named(catalog))
      const call = findCall(mirror, number)
      if (call) return call
      throw new ConfigError('call-unknown', `there is no call ${number}, or it is no longer kept`, {
        hint: 'How many are kept says history.calls',
      })
    },
    search(catalog: string, text: string): Promise<Found> {
      return searchOf(catalog).find(text)
    },
    /** Goes on with the index of words; answers the numbers of the mirror that it knows once it is through. */
    async indexWords(catalog: string, forMs: number): Promise<{ known: string | undefined }> {
      const daemon = await findDaemon(context)
      if (daemon?.pid === process.pid) return { known: await searchOf(catalog).work(forMs) }
      // Whoever has the state folder does it: two would write into the same file.
      using mirror = await openMirror(config, named(catalog))
      return { known: JSON.stringify(mirror.identity().last) }
    },
  }
}

export type Reads = ReturnType<typeof openReads>

function catalogNamed({ config }: ReadContext, name: string): CatalogConfig {
  const catalog = config.catalogs.get(name as CatalogName)
  if (catalog) return catalog
  throw new ConfigError('catalog-unknown', `there is no catalog ${name}`)
}

function groupsOf(letters: readonly DeadLetter[]): DeadGroup[] {
  const groups = new Map<string, DeadGroup>()
  for (const letter of letters.toReversed()) {
    const key = reasonKey(letter.reason)
    const group = groups.get(key) ?? { key, reason: key, total: 0, letters: [] }
    group.total += 1
    if (group.letters.length < lettersMax) group.letters.push(letter)
    groups.set(key, group)
  }
  return [...groups.values()].sort((one, other) => other.total - one.total)
}
