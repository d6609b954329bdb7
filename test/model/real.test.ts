import fc from 'fast-check'
import { expect, test } from 'vitest'
import { openHarness } from '../outbox/harness.ts'
import type { Command } from './commands.ts'
import { RealSystem } from './real-system.ts'
import { turns } from './steps.ts'
import { type Observed, openModel } from './system.ts'

const runs = Number(process.env.RANDOM_RUNS ?? 60)

const at = fc.constant(0)
const which = fc.nat(1)
const index = fc.nat(2)
const id = fc.constantFrom('a', 'a', 'b')
const values = fc.oneof(
  { weight: 7, arbitrary: fc.record({ price: fc.nat(1) }) },
  { weight: 4, arbitrary: fc.record({ text: fc.nat(1) }) },
  { weight: 1, arbitrary: fc.record({ text: fc.constant(2) }) },
  { weight: 1, arbitrary: fc.record({ form: fc.nat(1) }) },
)
const ending = fc.constantFrom('answered', 'answered', 'unknown', 'failed', 'failed-applied', 'not-sent')

function step(kind: Command['kind'], fields: { [name: string]: fc.Arbitrary<unknown> } = {}) {
  return fc.record({ kind: fc.constant(kind), at, ...fields }).map((each) => [each as unknown as Command])
}

function inARow(...parts: fc.Arbitrary<Command[]>[]) {
  return fc.tuple(...parts).map((lists) => lists.flat())
}

/** Until nothing is left to do: the real loop does in one turn what takes the model several. */
const settled = turns(14)
const settle = fc.constant(settled)
const change = fc.tuple(id, values).map(([product, fields]): Command[] => [
  { kind: 'edit', at: 0, id: product, ...fields },
  { kind: 'import', at: 0, count: 1 },
])
const claim = step('claim', { process: which, mode: fc.constantFrom('any', 'any', 'urgent') })
const send = step('send', { process: which, call: index })
const finish = step('finish', { process: which, call: index, ending })

const call = inARow(
  step('claim', { process: fc.constant(0), mode: fc.constant('any') }),
  step('send', { process: fc.constant(0), call: fc.constant(0) }),
  step('finish', { process: fc.constant(0), call: fc.constant(0), ending }),
)

const steps = fc.oneof(
  { weight: 12, arbitrary: inARow(change, settle, call) },
  { weight: 6, arbitrary: inARow(call, settle) },
  { weight: 3, arbitrary: call },
  { weight: 8, arbitrary: change },
  { weight: 10, arbitrary: settle },
  { weight: 6, arbitrary: inARow(change, settle) },
  { weight: 6, arbitrary: claim },
  { weight: 6, arbitrary: send },
  { weight: 8, arbitrary: finish },
  { weight: 3, arbitrary: step('apply', { request: index }) },
  { weight: 3, arbitrary: step('expire', { process: which }) },
  { weight: 2, arbitrary: step('crash-process', { process: which }) },
  { weight: 4, arbitrary: step('tick', { by: fc.integer({ min: 1, max: 18 }) }) },
  // The real outbox is more careful until the calls of before are over: no echo at all is due before.
  { weight: 1, arbitrary: inARow(step('wipe'), settle, step('tick', { by: fc.constant(18) })) },
  { weight: 2, arbitrary: inARow(step('crash'), settle) },
  { weight: 1, arbitrary: step('resync', { id }) },
)

/** What both show in the same words. */
function comparable({ redis, installations: [first] }: Observed): unknown {
  const { positions: _, refusals: __, paused: ___, acknowledged, ...rest } = redis
  const plain = Object.entries(acknowledged as Record<string, string>).map(([product, value]) => {
    return [product, value.startsWith('=') ? '=' : value]
  })
  const { products, last, offered, applied } = first?.mirror ?? {}
  return {
    redis: { ...rest, acknowledged: Object.fromEntries(plain) },
    mirror: { products, last, offered, applied },
    endpoint: first?.endpoint,
  }
}

test('the real mirror, scripts and loop do what the model does', { timeout: 1_200_000 }, async () => {
  await using box = await openHarness()
  const check = fc.asyncProperty(
    fc.array(steps, { minLength: 5, maxLength: 40, size: 'max' }),
    async (schedule) => {
      await box.connection.flushall()
      box.freshMirror()
      const real = new RealSystem(box)
      const model = openModel()
      for (const commands of [settled, ...schedule]) {
        for (const command of commands) {
          await model.run(command)
          await real.run(command)
        }
        expect(comparable(await real.observe())).toEqual(comparable(await model.observe()))
      }
    },
  )
  await fc.assert(check, { numRuns: runs, verbose: 1 })
})
