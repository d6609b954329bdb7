import fc from 'fast-check'
import type { Command } from './commands.ts'
import { turns } from './steps.ts'

// Random schedules for the real thing: one product or two, and few values, so that values return to what they were.

const at = fc.constant(0)
const which = fc.nat(1)
const index = fc.nat(2)
const id = fc.constantFrom('a', 'a', 'b', 'b', 'c')
const values = fc.oneof(
  { weight: 7, arbitrary: fc.record({ price: fc.nat(1) }) },
  { weight: 4, arbitrary: fc.record({ text: fc.nat(1) }) },
  { weight: 1, arbitrary: fc.record({ text: fc.constant(2) }) },
  { weight: 1, arbitrary: fc.record({ form: fc.nat(1) }) },
)
const ending = fc.constantFrom('answered', 'answered', 'unknown', 'failed', 'failed-applied', 'not-sent')
const backBy = fc.oneof({ weight: 5, arbitrary: fc.integer({ min: 1, max: 6 }) }, fc.nat(24))

function step(kind: Command['kind'], fields: { [name: string]: fc.Arbitrary<unknown> } = {}) {
  return fc.record({ kind: fc.constant(kind), at, ...fields }).map((each) => [each as unknown as Command])
}

function inARow(...parts: fc.Arbitrary<Command[]>[]) {
  return fc.tuple(...parts).map((lists) => lists.flat())
}

/** Until nothing is left to do: the real loop does in one turn what takes the model several. */
export const settled = turns(20)
const settle = fc.constant(settled)
const edited = fc
  .tuple(id, values)
  .map(([product, fields]): Command[] => [{ kind: 'edit', at: 0, id: product, ...fields }])
const change = inARow(edited, fc.constant([{ kind: 'import', at: 0, count: 9 }]))
const claim = step('claim', { process: which, mode: fc.constantFrom('any', 'any', 'urgent') })
const send = step('send', { process: which, call: index })
const finish = step('finish', { process: which, call: index, ending })
const first = { process: fc.constant(0), call: fc.constant(0) }
const call = inARow(
  step('claim', { ...first, mode: fc.constant('any') }),
  step('send', first),
  step('finish', { ...first, ending }),
)
const adopt = inARow(settle, step('adopt'), settle)
const putBack = (how: 'restored' | 'copied' | 'in place', chosen: fc.Arbitrary<number>) =>
  step('put-back', { which: chosen, how: fc.constant(how) })
const answered = inARow(
  step('claim', { ...first, mode: fc.constant('any') }),
  step('send', first),
  step('finish', { ...first, ending: fc.constant('answered') }),
)
/** So much that Redis knows more than the mirror did. */
const further = inARow(change, settle, answered, settle, change, settle, answered, settle)

const sentBy = (...more: fc.Arbitrary<Command[]>[]) =>
  inARow(step('claim', { ...first, mode: fc.constant('any') }), step('send', first), ...more)
const took = step('finish', { ...first, ending: fc.constant('answered') })
const ended = step('finish', { ...first, ending })
const refused = id.map((product): Command[] => [
  { kind: 'edit', at: 0, id: product, text: 2 },
  { kind: 'import', at: 0, count: 9 },
])
const passed = (min: number, max: number) => step('tick', { by: fc.integer({ min, max }) })

/** Calls that are refused and then taken, outlast their lease, or whose product is edited meanwhile. */
const slowCalls = fc.oneof(
  inARow(
    ...[step('refuse-all', { on: fc.constant(true) }), change, settle, sentBy(took), settle],
    ...[step('refuse-all', { on: fc.constant(false) }), change, settle, sentBy(took), settle],
  ),
  inARow(change, settle, sentBy(passed(1, 4), step('expire', first), settle, ended), settle),
  inARow(change, settle, sentBy(passed(1, 4), step('renew', first), step('expire', first), ended), settle),
  inARow(
    change,
    settle,
    sentBy(passed(4, 9), step('expire', first), call, ended, settle),
    passed(1, 10),
    call,
  ),
  inARow(refused, settle, sentBy(change, settle, ended), settle),
  inARow(
    change,
    settle,
    sentBy(step('finish', { ...first, ending: fc.constant('unknown') })),
    refused,
    settle,
    passed(9, 14),
    call,
    settle,
    change,
    settle,
    call,
  ),
)

const steps = fc.oneof(
  { weight: 10, arbitrary: slowCalls },
  { weight: 24, arbitrary: inARow(change, settle, call) },
  { weight: 12, arbitrary: inARow(call, settle) },
  { weight: 6, arbitrary: call },
  { weight: 16, arbitrary: change },
  { weight: 20, arbitrary: settle },
  { weight: 12, arbitrary: inARow(change, settle) },
  { weight: 12, arbitrary: claim },
  { weight: 12, arbitrary: send },
  { weight: 16, arbitrary: finish },
  { weight: 2, arbitrary: step('renew', { process: which, call: index }) },
  { weight: 6, arbitrary: step('apply', { request: index }) },
  { weight: 6, arbitrary: step('expire', { process: which }) },
  { weight: 4, arbitrary: step('crash-process', { process: which }) },
  { weight: 8, arbitrary: step('tick', { by: fc.integer({ min: 1, max: 18 }) }) },
  { weight: 3, arbitrary: inARow(step('wipe'), settle) },
  { weight: 6, arbitrary: inARow(step('roll-back', { by: backBy }), settle) },
  { weight: 3, arbitrary: inARow(step('power-cut', { by: backBy }), settle) },
  { weight: 3, arbitrary: inARow(settle, step('close-cleanly', { by: backBy }), settle) },
  { weight: 3, arbitrary: inARow(step('crash'), settle) },
  { weight: 3, arbitrary: step('resync', { id }) },
  { weight: 3, arbitrary: step('refuse-all', { on: fc.boolean() }) },
  { weight: 3, arbitrary: inARow(step('pause', { on: fc.boolean() }), settle) },
  { weight: 3, arbitrary: inARow(step('turn-with-edit', { id, price: fc.nat(1) }), settle) },
  { weight: 2, arbitrary: inARow(edited, step('turn-with-edit', { id, text: fc.nat(1) }), settle) },
  {
    weight: 3,
    arbitrary: inARow(
      step('roll-back', { by: backBy }),
      step('turn-that-dies', { after: fc.integer({ min: 1, max: 4 }) }),
      settle,
    ),
  },
  { weight: 3, arbitrary: step('backup') },
  { weight: 3, arbitrary: inARow(putBack('restored', index), settle) },
  {
    weight: 1,
    arbitrary: inARow(
      putBack('restored', index),
      step('turn-that-dies', { after: fc.integer({ min: 1, max: 4 }) }),
      settle,
    ),
  },
  { weight: 1, arbitrary: inARow(putBack('copied', index), adopt) },
  { weight: 1, arbitrary: inARow(step('copy-in-place'), adopt) },
  {
    weight: 1,
    arbitrary: inARow(step('backup'), further, putBack('in place', fc.constant(-1)), adopt),
  },
  {
    weight: 1,
    arbitrary: inARow(
      ...[step('backup'), further, putBack('in place', fc.constant(-1)), settle],
      ...[step('wipe'), adopt],
    ),
  },
)

/** What may befall two installations of one name on one Redis, in any order. */
const ofEither = fc.oneof(
  {
    weight: 40,
    arbitrary: fc
      .tuple(steps, fc.nat(2))
      .map(([commands, where]) => (where === 0 ? atSecond(commands) : commands)),
  },
  { weight: 2, arbitrary: inARow(step('wipe'), settle).map(atSecond) },
  { weight: 1, arbitrary: inARow(step('copy-beside'), settle, call, settle).map(atSecond) },
)

function atSecond(commands: readonly Command[]): Command[] {
  // It has one process.
  const there = { at: 1, process: 0 }
  return commands.map((command) => ('at' in command ? { ...command, ...there } : command))
}

/** The first step opens Redis. A second installation is there in every fourth schedule. */
export const realSchedule: fc.Arbitrary<Command[][]> = fc
  .tuple(fc.nat(3), fc.array(fc.tuple(steps, ofEither), { minLength: 5, maxLength: 40, size: 'max' }))
  .map(([share, schedule]) => {
    const chosen = schedule.map(([alone, either]) => (share === 0 ? either : alone))
    // A dying turn leaves a guard without an owner, which the model gives one.
    const isPlayed = (each: readonly Command[]) => !each.some(({ kind }) => kind === 'turn-that-dies')
    return [settled, ...(share === 0 ? chosen.filter(isPlayed) : chosen)]
  })
