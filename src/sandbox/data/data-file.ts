import { createReadStream } from 'node:fs'
import { open, readdir, rename, rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { ConfigError, StorageError, systemErrorCode } from '../../lib/errors.ts'
import type { ConsentStore } from '../consent/consent-store.ts'
import type { ProductStore } from '../products/product-store.ts'
import type { StackData, StackStore } from '../stack/stack-store.ts'
import { consentLine, endLine, headLine, parseDataLine, productLine, stackLine } from './data-line.ts'

export interface KeptParts {
  store: ProductStore
  consents: ConsentStore
  stack: StackStore
}

const chunkBytes = 256 * 1024

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
      if (line.kind === 'product') stores.store.restore(line.product)
      if (line.kind === 'consent') stores.consents.restore(line.held)
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
    const file = await open(temporary, 'w', 0o600)
    try {
      for (const chunk of chunksOf(parts)) await file.appendFile(chunk)
      await file.sync()
    } finally {
      await file.close()
    }
    await rename(temporary, path)
    await syncFolder(dirname(path))
  } catch (cause) {
    await rm(temporary, { force: true })
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
    // One that cannot be removed is only in the way.
    if (pid !== undefined && !isRunning(Number(pid))) await rm(join(folder, name)).catch(() => undefined)
  }
}

/** This process writes none before it has looked for them. */
function isRunning(pid: number): boolean {
  if (pid === process.pid) return false
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return systemErrorCode(error) === 'EPERM'
  }
}

async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r')
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}

function* chunksOf(parts: KeptParts): Generator<string> {
  let lines: string[] = []
  let length = 0
  for (const line of linesOf(parts)) {
    lines.push(line, '\n')
    length += line.length
    if (length < chunkBytes) continue
    yield lines.join('')
    lines = []
    length = 0
  }
  yield lines.join('')
}

function* linesOf({ store, consents, stack }: KeptParts): Generator<string> {
  yield headLine
  yield stackLine(stack)
  for (const product of store.values()) yield productLine(product)
  for (const held of consents.values()) yield consentLine(held)
  yield endLine
}
