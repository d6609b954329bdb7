import { Redis } from 'ioredis'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { CatchUp } from '../../src/consents/catch-up.ts'
import { ConsentOutbox } from '../../src/consents/consent-outbox.ts'
import { settleConsents } from '../../src/consents/dead-letters.ts'
import { digestConsent, encodeConsent } from '../../src/consents/document.ts'
import { ConsentGate } from '../../src/consents/gate.ts'
import { ConsentJournal } from '../../src/consents/journal.ts'
import { positionOf } from '../../src/consents/position.ts'
import type { AcceptSequence, CatalogName, ConsentId } from '../../src/lib/brand.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { catalogKeys } from '../../src/outbox/keys.ts'
import type { Claim } from '../../src/outbox/model.ts'
import { OutboxScripts } from '../../src/outbox/scripts.ts'
import { CatalogWriter } from '../../src/outbox/writer.ts'
import { waitFor } from '../support/events.ts'
import { leakCheck } from '../support/leak-check.ts'
import { collectLog } from '../support/log-lines.ts'
import { startRedis } from '../support/redis-server.ts'
import { tempDir } from '../support/temp-dir.ts'

const leaks = leakCheck()
beforeEach(leaks.remember)
afterEach(leaks.check)

const delivery = {
  callBytes: 1_000,
  concurrency: 4,
  timeoutMs: 1_000,
  horizonMs: 60_000,
  /** So many that none waits for the one before, even within a millisecond. */
  callsPerSecond: 1_000_000_000,
}
const anna = 'anna' as ConsentId
const bert = 'bert' as ConsentId
const at = (sequence: number) => positionOf(sequence as AcceptSequence, 1)

/** The outbox of consents over a real Redis and a real journal, with a writer whose gate is open. */
async function openConsentOutbox() {
  const server = await startRedis()
  const dir = await tempDir('outbox')
  const { log } = collectLog()
  const keys = catalogKeys('main' as CatalogName, 'consents')
  const scripts = await OutboxScripts.read(keys)
  const connection = new Redis(server.url)
  const clock = systemClock
  const journal = await ConsentJournal.open({ path: dir.join('journal'), identity: 'i.s', clock, log })
  const catchUp = new CatchUp({ connection, keys, scripts, journal })
  const gate = new ConsentGate()
  const outbox = new ConsentOutbox({
    ...{ connection, keys, scripts, delivery, clock, journal, catchUp, gate, log },
    deferred: { afterMs: 0, atMostMs: 0 },
    onSettled: () => {},
    waiting: () => ({ [Symbol.dispose]: () => {} }),
  })
  const openWriter = async () =>
    CatalogWriter.open({
      connection: new Redis(server.url),
      ...{ keys, scripts },
      delays: { deferredAfterMs: 0, newAfterMs: 0 },
    })
  const writer = await openWriter()
  await catchUp.follow()
  gate.open(writer)
  return {
    ...{ outbox, keys, connection, journal, catchUp, gate, writer },
    put: (id: ConsentId, consent: boolean, sequence: number) =>
      writer.update([id], () => ({
        writes: [
          {
            productId: id,
            document: encodeConsent({ email: `${id}@example.org`, consent }),
            partial: undefined,
            meta: at(sequence),
            incomplete: undefined,
            offer: { digest: digestConsent(consent), lane: consent ? 'new' : 'urgent' },
          },
        ],
      })),
    async claim(): Promise<Claim | undefined> {
      const answer = await outbox.claim({ mode: 'any' })
      return answer.kind === 'claimed' ? answer.claim : undefined
    },
    settle: (how: 'retry' | 'drop', ids: ConsentId[]) =>
      settleConsents({ connection, keys, scripts, journal, catchUp, clock }, { how, ids }),
    /** What Redis holds, but for what counts. */
    async dump() {
      const [acknowledged, positions, unconfirmed] = await Promise.all([
        connection.hgetallBuffer(keys.acknowledged),
        connection.hgetall(keys.acknowledgedMeta),
        connection.hgetall(keys.unconfirmed),
      ])
      return {
        acknowledged: { ...acknowledged },
        positions: { ...positions },
        unconfirmed: { ...unconfirmed },
      }
    },
    async [Symbol.asyncDispose]() {
      await writer[Symbol.asyncDispose]()
      await outbox.flush()
      await journal[Symbol.asyncDispose]()
      connection.disconnect()
      await server[Symbol.asyncDispose]()
      await dir[Symbol.asyncDispose]()
    },
  }
}

type Opened = Awaited<ReturnType<typeof openConsentOutbox>>

async function take(o: Opened, outcome: 'taken' | 'sent' | 'unknown' | 'refused'): Promise<Claim> {
  const claim = await o.claim()
  if (!claim) throw new Error('nothing is due')
  const ids = claim.products.map(({ productId }) => productId)
  if (outcome === 'taken') await o.outbox.acknowledge(claim.token, claim.products)
  else if (outcome !== 'refused') await o.outbox.release(claim.token, ids, outcome)
  else {
    const refusals = claim.products.map((product) => ({
      ...product,
      reason: 'no',
      status: 400,
      requestId: undefined,
    }))
    await o.outbox.reject(claim.token, refusals)
  }
  await o.outbox.flush()
  return claim
}

test('one consent a claim, revocations first, each once', async () => {
  await using o = await openConsentOutbox()
  await o.put(anna, true, 1)
  await o.put(bert, false, 1)
  const first = await o.claim()
  expect(first?.products.map(({ productId }) => productId)).toEqual([bert])
  expect((await o.claim())?.products.map(({ productId }) => productId)).toEqual([anna])
  expect(await o.claim()).toBeUndefined()
  expect((await o.outbox.lookDue()).anyDue).toBe(false)
})

describe('no claim is granted', () => {
  test('while the gate is closed, or its writer was replaced', async () => {
    await using o = await openConsentOutbox()
    await o.put(anna, true, 1)
    o.gate.close()
    expect(await o.claim()).toBeUndefined()
    expect((await o.outbox.lookDue()).anyDue).toBe(false)
    o.gate.open(o.writer)
    await o.connection.set(o.keys.writer, 'another:99')
    expect(await o.claim()).toBeUndefined()
  })

  test('by a Redis that has lost something of what was applied', async () => {
    await using o = await openConsentOutbox()
    await o.put(anna, true, 1)
    const before = (await o.connection.get(o.keys.writer)) ?? ''
    await o.put(bert, false, 2)
    const now = (await o.connection.get(o.keys.writer)) ?? ''
    await o.connection.set(o.keys.writer, before)
    expect(await o.claim()).toBeUndefined()
    await o.connection.set(o.keys.writer, now)
    expect(await o.claim()).toBeDefined()
  })

  test('of what was acknowledged, by a Redis that has lost the acknowledgement', async () => {
    await using o = await openConsentOutbox()
    await o.put(anna, true, 1)
    const { keys, connection } = o
    const lost = [keys.journal, keys.pending, keys.new] as const
    const before = await Promise.all(lost.map((key) => connection.dumpBuffer(key)))
    await take(o, 'taken')
    for (const [index, key] of lost.entries())
      await connection.restore(key, 0, before[index] as Buffer, 'REPLACE')
    await connection.del(keys.acknowledged, keys.acknowledgedMeta)
    expect((await o.outbox.lookDue()).anyDue).toBe(true)
    expect(await o.claim()).toBeUndefined()
    expect(await connection.hlen(keys.pending)).toBe(0)
    expect(await o.claim()).toBeUndefined()
  })

  test('of what this process is sending, whatever Redis has forgotten', async () => {
    await using o = await openConsentOutbox()
    await o.put(anna, true, 1)
    const first = await o.claim()
    await o.connection.del(o.keys.claimed, o.keys.leases)
    await o.put(anna, false, 2)
    expect(await o.claim()).toBeUndefined()
    if (first) await o.outbox.acknowledge(first.token, first.products)
    await o.outbox.flush()
    const second = await waitFor(() => o.claim())
    expect(second.products[0]?.digest).toEqual(digestConsent(false))
  })
})

test('what Redis is told again, from the beginning or a second time, changes nothing', async () => {
  await using o = await openConsentOutbox()
  const { connection, keys } = o
  for (const id of [anna, bert]) {
    await o.put(id, true, 1)
    await take(o, 'taken')
  }
  await o.put(anna, false, 2)
  await take(o, 'sent')
  await o.journal.append({ event: 'unconfirmed', id: bert, position: at(3), at: 5 })
  await o.journal.append({ event: 'unconfirmed', id: bert, position: at(3), at: 6 })
  await o.outbox.flush()
  const before = await o.dump()
  expect(before.acknowledged).toEqual({ anna: Buffer.alloc(0), bert: Buffer.alloc(0) })
  expect(before.unconfirmed).toEqual({ bert: `${at(3)} 5` })
  for (const loses of [
    [keys.journal],
    [keys.journal, keys.acknowledged, keys.acknowledgedMeta, keys.unconfirmed],
  ]) {
    await connection.del(...loses)
    o.catchUp.distrust()
    await o.catchUp.follow()
    expect(await o.dump()).toEqual(before)
  }
})

test('an acknowledgement of an older record does not hide a newer one', async () => {
  await using o = await openConsentOutbox()
  await o.put(anna, true, 1)
  const claim = await o.claim()
  await o.put(anna, false, 2)
  if (claim) await o.outbox.acknowledge(claim.token, claim.products)
  await o.outbox.flush()
  const next = await take(o, 'taken')
  expect(next.products[0]?.digest).toEqual(digestConsent(false))
  await o.journal.append({ event: 'acknowledged', id: anna, consent: true, position: at(1), at: 1 })
  await o.outbox.flush()
  expect((await o.dump()).positions[anna]).toBe(at(2))
  expect(await o.connection.hgetBuffer(o.keys.acknowledged, anna)).toEqual(digestConsent(false))
})

describe('dead letters', () => {
  test('that are retried are due again, and those that are dropped settle until a newer record, also after a loss', async () => {
    await using o = await openConsentOutbox()
    await o.put(anna, true, 1)
    await take(o, 'refused')
    expect(await o.claim()).toBeUndefined()
    expect(await o.settle('retry', [anna, bert])).toEqual([anna])
    await take(o, 'refused')
    expect(await o.settle('drop', [anna])).toEqual([anna])
    expect([await o.connection.hlen(o.keys.dead), await o.connection.hlen(o.keys.pending)]).toEqual([0, 0])
    await o.connection.del(o.keys.journal, o.keys.acknowledged, o.keys.acknowledgedMeta)
    o.catchUp.distrust()
    await o.catchUp.follow()
    expect((await o.dump()).positions[anna]).toBe(at(1))
    await o.put(anna, true, 2)
    await take(o, 'taken')
  })

  test('of a grant that was not confirmed: retry sends it once more', async () => {
    await using o = await openConsentOutbox()
    await o.put(anna, true, 1)
    await o.journal.append({ event: 'unconfirmed', id: anna, position: at(1), at: 1 })
    await o.outbox.flush()
    expect(await o.claim()).toBeUndefined()
    expect(await o.connection.hlen(o.keys.dead)).toBe(1)
    expect(await o.settle('retry', [anna])).toEqual([anna])
    await take(o, 'taken')
  })
})
