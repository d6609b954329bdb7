import { parentPort, workerData } from 'node:worker_threads'
import type { Config } from '../config/model.ts'
import { configFromPlain } from '../config/plain-config.ts'
import { systemClock as clock } from '../lib/clock.ts'
import { OperatingError } from '../lib/errors.ts'
import { giveBackMemory } from '../lib/give-back-memory.ts'
import type { LogLevel } from '../lib/log.ts'
import { openThreadLog, type SentError, sentError } from '../lib/thread-messages.ts'
import type { RedisAddress } from '../redis/connection-options.ts'
import { RedisConnections } from '../redis/connections.ts'
import { KeptManifests } from '../sources/manifest-reader.ts'
import { openReads, type Reads } from './reads.ts'

// The thread of the console: reads of the mirror and the manifest take the time of nobody else.

export interface ReadWorkerData {
  /** Made by `plainConfig`. */
  config: unknown
  redis: RedisAddress
  logLevel: LogLevel
}

export type ReadRequest =
  | { kind: 'read'; id: number; name: keyof Reads; args: readonly unknown[] }
  | { kind: 'close' }

export type ReadAnswer =
  | { kind: 'answer'; id: number; value: unknown }
  | { kind: 'failed'; id: number; failure: SentError }
  | { kind: 'bug'; id: number; text: string }
  | { kind: 'log'; line: string }

const connectWithinMs = 1_000

if (!parentPort) throw new Error('this file runs in a thread of its own')
const port = parentPort
const tell = (answer: ReadAnswer) => port.postMessage(answer)
const { config, redis, logLevel } = workerData as ReadWorkerData
const log = openThreadLog(logLevel, tell)
const stop = new AbortController()
const connections = new RedisConnections({ address: redis, clock, log, isQuiet: true })
// What is read before would say that Redis is away.
const connected = connections
  .waitUntilReady({ forMs: connectWithinMs, signal: stop.signal })
  .catch(() => undefined)
const manifests = new KeptManifests()
const reads = openReads({
  ...{ config: configFromPlain(config) as Config, connections, clock, log, signal: stop.signal },
  readManifest: manifests.read,
})
port.on('message', (request: ReadRequest) => {
  if (request.kind === 'read') void answer(request)
  else void close()
})

async function answer({ id, name, args }: ReadRequest & { kind: 'read' }): Promise<void> {
  try {
    await connected
    const read = reads[name] as (...given: readonly unknown[]) => Promise<unknown>
    tell({ kind: 'answer', id, value: await read(...args) })
  } catch (error) {
    if (error instanceof OperatingError) tell({ kind: 'failed', id, failure: sentError(error) })
    // A page that fails must not end the daemon.
    else
      tell({ kind: 'bug', id, text: error instanceof Error ? (error.stack ?? error.message) : String(error) })
  }
}

async function close(): Promise<void> {
  stop.abort()
  await connections[Symbol.asyncDispose]()
  manifests[Symbol.dispose]()
  port.close()
  giveBackMemory()
}
