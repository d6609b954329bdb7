import { expect, test } from 'vitest'
import type { ProductId } from '../../src/lib/brand.ts'
import type { Claim } from '../../src/outbox/model.ts'
import { type Harness, openHarness } from './harness.ts'

// What comes between the steps of a drain, or between an echo and its end, leaves no place behind and no doubt out.

/** Its loop does `work` once, after the mirror has taken over what was drained, and before that is removed. */
function openInterrupted(box: Harness, work: () => Promise<unknown>) {
  let isDone = false
  const scripts = new Proxy(box.scripts, {
    get: (target, name) => {
      if (name !== 'run') return target[name as 'append'].bind(target)
      return async (...[connection, script, args]: Parameters<typeof target.run>) => {
        if (script === 'drained' && !isDone) {
          isDone = true
          await work()
        }
        return target.run(connection, script, args)
      }
    },
  })
  box.loop.forget()
  return box.openLoop({ scripts })
}

const refusalsOf = ({ products }: Claim) =>
  products.map((product) => ({ ...product, status: 400, requestId: undefined, reason: 'no' }))

async function endUnknown(box: Harness): Promise<void> {
  await box.outbox.release((await box.claim()).token, ['a' as ProductId], 'unknown')
}

test('an echo that is acknowledged while an acknowledgement of the same document is drained keeps no place', async () => {
  await using box = await openHarness()
  await box.put('a', '1')
  await endUnknown(box)
  await box.deliver()
  await box.makeEchoDue('a')
  // Acknowledged once more by a call that began before the echo was due.
  await box.connection.hset(box.keys.acknowledged, 'a', box.digestOf('1'))
  const loop = openInterrupted(box, async () => {
    const echo = await box.claim()
    await box.outbox.acknowledge(echo.token, echo.products)
  })
  await box.settle(loop)
  expect(box.places()).toEqual([])
  expect(await box.remains()).toEqual([])
})

test('a refusal that is decided while it is drained keeps no place', async () => {
  await using box = await openHarness()
  await box.put('a', '1')
  await box.put('b', '1')
  const refused = await box.claim('any', 4)
  await box.outbox.rejectUnnamed(refused.token, refusalsOf(refused))
  const loop = openInterrupted(box, async () => {
    const taken = await box.claim()
    await box.outbox.acknowledge(taken.token, taken.products)
  })
  await box.settle(loop)
  expect(box.deadIds()).toEqual(['a'])
  expect(box.places()).toEqual([])
  expect(await box.remains()).toEqual([])
})

test('a document that is refused like the one before, between two turns, becomes the dead letter', async () => {
  await using box = await openHarness()
  await box.put('a', 'bad')
  await endUnknown(box)
  const refused = await box.claim()
  await box.settle()
  await box.outbox.reject(refused.token, refusalsOf(refused))
  box.commit('a', 'worse', 'urgent')
  // Drains the letter and offers what came after it.
  await box.loop.turn()
  const again = await box.claim()
  await box.outbox.reject(again.token, refusalsOf(again))
  await box.settle()
  expect(box.deadIds()).toEqual(['a'])
})

/** The price was raised with an unknown outcome, then lowered and taken; the raise is applied late, and the echo is due. */
async function openLateRaise() {
  const box = await openHarness()
  await box.put('a', '1')
  await box.deliver()
  await box.put('a', '2', 'urgent')
  await endUnknown(box)
  await box.put('a', '1', 'urgent')
  await box.deliver()
  await box.makeEchoDue('a')
  return box
}

test('an echo that goes along with a document that is refused has healed nothing: the edit that is undone is sent', async () => {
  await using box = await openLateRaise()
  await box.put('a', 'bad', 'urgent')
  const refused = await box.claim()
  await box.outbox.reject(refused.token, refusalsOf(refused))
  await box.put('a', '1', 'urgent')
  const [sent] = (await box.claim()).products
  expect(sent?.document.toString()).toBe('1')
})

test('an echo outlives the refusal of a document that was replaced meanwhile', async () => {
  await using box = await openLateRaise()
  await box.put('a', 'bad', 'urgent')
  const refused = await box.claim()
  await box.put('a', '3', 'urgent')
  await box.outbox.reject(refused.token, refusalsOf(refused))
  await box.put('a', '1', 'urgent')
  const [sent] = (await box.claim()).products
  expect(sent?.document.toString()).toBe('1')
})
