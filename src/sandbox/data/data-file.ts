import { createReadStream } from 'node:fs'
import { readdir, rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { z } from 'zod'
import { writeDurably } from '../../lib/durable.ts'
import { ConfigError, StorageError, systemErrorCode } from '../../lib/errors.ts'
import { isProcess } from '../../lib/system.ts'
import type { ConsentStore, HeldConsent } from '../consent/consent-store.ts'
import { inChunks } from '../page-query.ts'
import type { HeldProduct, ProductStore } from '../products/product-store.ts'
import { type StackData, type StackStore, stackDataSchema } from '../stack/stack-store.ts'

export interface KeptParts {
  store: ProductStore
  consents: ConsentStore
  stack: StackStore
}

/**
 * Reads what an earlier sandbox kept into the stores; answers the Stack's data, which its store is made of. Undefined: the
 * file is not there yet.
 */
export async function readDataFile(
  path: string,
  stores: Pick<KeptParts, 'store' | 'consents'>,
): Promise<StackData | undefined> {
  let lineNumber = 0
  let stack: StackData | undefined
  let isWhole = false
  try {
    const input = createReadStream(path)
    for await (const text of createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY })) {
      lineNumber += 1
      if (isWhole) throw new Error('there is more after its end')
      const line = parseDataLine(text)
      if (lineNumber === 1 && line.kind !== 'head') throw new Error('it is no data file of a sandbox')
      if (line.kind === 'product') stores.store.restore(productOf(line))
      if (line.kind === 'consent') {
        const { email, consent, times: timesTaken, taken } = line
        stores.consents.restore({ email, consent, timesTaken, taken })
      }
      if (line.kind === 'stack') stack = line.data
      isWhole = line.kind === 'end'
    }
    if (!isWhole) throw new Error('its end is missing')
  } catch (cause) {
    if (systemErrorCode(cause) === 'ENOENT') return undefined
    if (systemErrorCode(cause) !== undefined) throw refusal(path, 'cannot be read', cause)
    const why = cause instanceof Error ? cause.message : 'it is damaged'
    throw refusal(`${path}:${Math.max(lineNumber, 1)}`, `cannot be used: ${why}`, cause)
  }
  return stack
}

function refusal(place: string, problem: string, cause: unknown): ConfigError {
  return new ConfigError('sandbox-data', `the data file ${place} ${problem}`, {
    hint: 'Name another file with --data, or move this one away to begin with an empty sandbox',
    cause,
  })
}

/**
 * Writes everything beside the file and renames it there, in turns of the event loop that stay short whatever there is
 * to write. What changes meanwhile may or may not be in it.
 */
export async function writeDataFile(path: string, parts: KeptParts): Promise<void> {
  const temporary = `${path}.${process.pid}.tmp`
  try {
    const lines = inChunks<string, string>(
      linesOf(parts),
      (line) => `${line}\n`,
      (chunk) => chunk.join(''),
    )
    await writeDurably(path, lines, temporary)
  } catch (cause) {
    throw new StorageError('sandbox-data', `the data file ${path} cannot be written`, {
      hint: 'Check the folder and the space on its disk',
      cause,
    })
  }
}

/** Takes away what writers that were killed left beside the file: it holds all that the file holds, addresses too. */
export async function removeLeftovers(path: string): Promise<void> {
  const folder = dirname(path)
  const begin = `${basename(path)}.`
  const names = await readdir(folder).catch(() => [])
  for (const name of names) {
    const pid = name.startsWith(begin) ? /^(\d{1,9})\.tmp$/.exec(name.slice(begin.length))?.[1] : undefined
    // One that cannot be removed is only in the way. This process writes none before it has looked for them.
    const isAlive = Number(pid) !== process.pid && isProcess(Number(pid))
    if (pid !== undefined && !isAlive) await rm(join(folder, name)).catch(() => undefined)
  }
}

function* linesOf({ store, consents, stack }: KeptParts): Generator<string> {
  yield headLine
  yield JSON.stringify({ kind: 'stack', data: stack })
  for (const product of store.values()) yield productLine(product)
  for (const held of consents.values()) yield consentLine(held)
  yield endLine
}

const times = z.array(z.number()).min(1)

const lineSchema = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('product'),
    id: z.string(),
    times: z.int().min(1),
    receivedAtMs: times,
    /** The bytes that were sent: they are valid UTF-8, so the text holds them exactly. */
    document: z.string(),
  }),
  z.object({
    kind: z.literal('consent'),
    email: z.string(),
    consent: z.boolean(),
    times: z.int().min(1),
    taken: z.array(z.object({ atMs: z.number(), consent: z.boolean() })).min(1),
  }),
  z.object({ kind: z.literal('stack'), data: stackDataSchema }),
  z.object({ kind: z.literal('end') }),
  // The first line: what the file is, so that no other NDJSON file is taken for one.
  z.object({ kind: z.literal('head'), of: z.literal('catalogd sandbox'), version: z.literal(1) }),
])

const headLine = JSON.stringify({ kind: 'head', of: 'catalogd sandbox', version: 1 })
const endLine = JSON.stringify({ kind: 'end' })

type KeptLine = z.infer<typeof lineSchema>

/** Throws what is wrong with the line, in words that name no address. */
function parseDataLine(text: string): KeptLine {
  const result = lineSchema.safeParse(parseJson(text))
  if (result.success) return result.data
  const [issue] = result.error.issues
  throw new Error(`something is wrong with ${issue?.path.join('.') || 'the line'}`)
}

function productOf(line: KeptLine & { kind: 'product' }): HeldProduct {
  const { id, times: timesTaken, receivedAtMs } = line
  // Asked for its fields later: what is no object would fail there.
  const document = parseJson(line.document)
  if (typeof document !== 'object' || document === null) throw new Error('a product is no JSON object')
  return { id, document: Buffer.from(line.document), timesTaken, receivedAtMs }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new Error('the line is no JSON')
  }
}

function productLine({ id, timesTaken, receivedAtMs, document }: HeldProduct): string {
  const kept = { kind: 'product', id, times: timesTaken, receivedAtMs, document: document.toString('utf8') }
  return JSON.stringify(kept)
}

function consentLine({ email, consent, timesTaken, taken }: HeldConsent): string {
  return JSON.stringify({ kind: 'consent', email, consent, times: timesTaken, taken })
}
