import type { ConsentIntake } from '../consents/model.ts'
import type { AcceptSequence, FeedName } from '../lib/brand.ts'
import type { Clock } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import { ReleaseStack } from '../lib/release-stack.ts'
import type { Mirror, MirrorChunk } from '../mirror/model.ts'
import { CatalogWriter } from '../outbox/writer.ts'
import type { RedisConnections } from '../redis/connections.ts'
import type { Manifest } from '../sources/manifest.ts'
import type { ImportStore } from './import-runner.ts'
import { keyOf } from './manifest-steps.ts'
import { tallyNames } from './tally.ts'
import { WriterLease } from './writer-lease.ts'

const verifyEveryMs = 2_000
/** A call carries one consent: nothing is gained by waiting. */
const delays = { deferredAfterMs: 0, newAfterMs: 0 }

interface StoreOptions {
  intake: ConsentIntake
  connections: RedisConnections
  manifest: Manifest
  /** Identity of the manifest: its sequences mean nothing to another one. */
  stateId: string
  clock: Clock
  log: Log
  onOffered: () => void
  signal: AbortSignal
}

/** Consents still stand in Redis: this makes it look like a mirror to whoever imports them. */
export async function openConsentStore(options: StoreOptions): Promise<ImportStore> {
  const { intake, connections, stateId, clock, log, signal } = options
  const { keys, scripts } = intake
  const connection = connections.commands
  await connections.waitUntilReady({ signal })
  const stack = new ReleaseStack()
  try {
    const lease = stack.use(
      'lease',
      await WriterLease.take({ connection, keys, stateId, clock, log, signal }),
    )
    await intake.begin()
    const writer = stack.use(
      'writer',
      await CatalogWriter.open({ connection: await connections.openWriter(), keys, scripts, delays }),
    )
    const known = await connection.get(keys.origin)
    if (known !== stateId) await writer.update([], () => ({ writes: [], origin: stateId }))
    const ended = new AbortController()
    const broken = new AbortController()
    const verifying = verifyUntil(ended.signal, options, writer).catch((error: unknown) =>
      broken.abort(error),
    )
    stack.push('verifying', async () => {
      ended.abort()
      await verifying
    })
    const state = {
      applied: await connection.hgetall(keys.applied),
      counts: await connection.hgetall(keys.counts),
    }
    return {
      mirror: mirrorOf(writer, state, options),
      lost: AbortSignal.any([lease.lost, broken.signal]),
      onCaughtUp: () => intake.gate.open(writer),
      [Symbol.asyncDispose]: () => stack[Symbol.asyncDispose](),
    }
  } catch (error) {
    await stack[Symbol.asyncDispose]()
    throw error
  }
}

/** A Redis that loses what it holds while nothing is imported would otherwise be noticed with the next file only. */
async function verifyUntil(
  until: AbortSignal,
  { clock, intake }: StoreOptions,
  writer: CatalogWriter,
): Promise<void> {
  while (!until.aborted) {
    await clock.sleep(verifyEveryMs, until).catch(() => undefined)
    if (until.aborted) return
    await writer.verify()
    await intake.keepKey()
  }
}

interface RedisState {
  applied: Record<string, string>
  counts: Record<string, string>
}

/** The writer is the only one that changes what is kept here beside it. */
function mirrorOf(
  writer: CatalogWriter,
  { applied, counts }: RedisState,
  { manifest, onOffered }: StoreOptions,
): Mirror {
  const notHere = () => {
    throw new Error('consents have nothing like this')
  }
  const sequenceOf = (claim: string) => manifest.fileOf(claim)?.sequence ?? 0
  const remember = (chunk: MirrorChunk) => {
    if (chunk.applied) applied[chunk.applied.scope] = String(chunk.applied.sequence)
    for (const [name, by] of Object.entries(chunk.counts?.add ?? {})) {
      const key = `${sequenceOf(chunk.counts?.claim ?? '')}:${name}`
      counts[key] = String(Number(counts[key] ?? 0) + by)
    }
  }
  const none = () => new Map<FeedName, string>()
  return {
    async update(ids, plan) {
      let chunk: MirrorChunk | undefined
      await writer.update(ids, (stored) => {
        chunk = plan(stored)
        if (!chunk) return undefined
        const { applied: step, counts: counted, forgetCounts, writes, progress } = chunk
        return {
          writes,
          ...(progress ? { progress } : {}),
          ...(step ? { applied: { scope: step.scope, sequence: step.sequence } } : {}),
          ...(counted ? { counts: { sequence: sequenceOf(counted.claim), add: counted.add } } : {}),
          ...(forgetCounts
            ? { forgetCounts: { sequence: sequenceOf(forgetCounts), names: tallyNames } }
            : {}),
        }
      })
      if (!chunk) return
      remember(chunk)
      if (chunk.writes.some(({ offer }) => offer !== undefined)) onOffered()
    },
    *applied(scope) {
      const sequence = Number(applied[scope] ?? 0)
      const [step] = manifest.after((sequence - 1) as AcceptSequence)
      if (step?.sequence === sequence) yield { sequence, key: keyOf(step) }
    },
    isApplied: () => false,
    counts: (claim) =>
      Object.fromEntries(
        tallyNames.map((name) => [name, Number(counts[`${sequenceOf(claim)}:${name}`] ?? 0)]),
      ),
    keyFields: () => [],
    held: none,
    progress: none,
    ...{ updateByKey: notHere, read: notHere, lookUp: notHere, pages: notHere, isUnsent: notHere },
    ...{ nextSwitch: notHere, switchesDue: notHere, heldIds: notHere, fullAsOf: notHere, notices: notHere },
    ...{ calls: notHere, count: notHere, incomplete: notHere, deadLetters: notHere, deadLetter: notHere },
    ...{
      absentSince: notHere,
      madeAtMs: notHere,
      deadDigests: notHere,
      repair: notHere,
      [Symbol.dispose]: () => undefined,
    },
  }
}
