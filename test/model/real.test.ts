import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Command } from './commands.ts'
import { openRealBox } from './real-play.ts'
import { realSchedule, settled } from './real-schedule.ts'
import { change, claim, deliver, higher, lower, tick, turns, wipe } from './steps.ts'

const runs = Number(process.env.RANDOM_RUNS ?? 250)

const second = { at: 1, process: 0 }
const refuseAll = (on: boolean): Command[] => [{ kind: 'refuse-all', at: 0, on }]
const done = [...settled, ...deliver(), ...settled]
const added = [...change('a', { price: 0 }), ...done]
const putBack = (how: 'restored' | 'copied' | 'in place'): Command[] => [
  { kind: 'put-back', at: 0, which: -1, how },
]
const adopt: Command[] = [...settled, { kind: 'adopt', at: 0 }, ...settled]

/** Each showed a difference, or is one that must stay as it is. */
const cases: Record<string, Command[][]> = {
  'two echoes are due at one moment': [
    [
      ...change('b', { price: 0 }),
      ...settled,
      ...deliver('unknown'),
      ...change('a', { price: 0 }),
      ...settled,
    ],
    [...deliver('unknown'), ...settled, ...deliver()],
    [...tick(10), ...claim()],
    settled,
  ],
  'an emptied Redis is started over on: calls wait for those of before': [
    [...added, { kind: 'backup', at: 0 }, ...higher, ...done, ...lower, ...done],
    [...higher, ...settled, ...claim(1), { kind: 'send', at: 0, process: 1, call: 0 }],
    [...putBack('in place'), ...settled, ...wipe, ...adopt],
    [...tick(17), ...deliver()],
    [...tick(1), ...done],
  ],
  'Redis is emptied while calls wait after a restore: they wait on': [
    [...added, { kind: 'backup', at: 0 }, ...change('b', { price: 1 }), ...settled],
    [...claim(1), { kind: 'send', at: 0, process: 1, call: 0 }],
    [...putBack('restored'), ...settled, ...wipe, ...settled, ...change('b', { price: 0 }), ...settled],
    [...deliver(), ...settled],
    [...tick(18), ...done],
  ],
  'as many are refused in a row as end the line, with drains between': [
    [...refuseAll(true), ...change('b', { text: 1 }), ...done],
    [...change('a', { price: 0 }), ...done],
    [...change('c', { price: 0 }), ...done],
    [...refuseAll(false), { kind: 'pause', at: 0, on: false }, ...settled],
    [...deliver(), ...done],
  ],
  'two fresh installations of one name: the second is refused, and takes the keys that were emptied': [
    [...added, ...change('b', { price: 0 }, 1), ...turns(20, 1), { kind: 'claim', ...second, mode: 'any' }],
    [...wipe, { kind: 'crash', at: 1 }, ...turns(20, 1), { kind: 'claim', ...second, mode: 'any' }],
    [...higher, ...settled, ...deliver()],
  ],
  'a copied state folder beside the original: it is refused, and the original goes on': [
    [...added, { kind: 'copy-beside', at: 1 }, ...turns(20, 1), { kind: 'claim', ...second, mode: 'any' }],
    [...higher, ...done],
    [{ kind: 'wipe' }, { kind: 'crash', at: 1 }, ...turns(20, 1), { kind: 'adopt', at: 1 }, ...turns(20, 1)],
    settled,
  ],
  'Redis was another installation’s meanwhile: after a restore calls wait for those of before': [
    [...added, { kind: 'backup', at: 0 }, { kind: 'copy-beside', at: 1 }, ...turns(20, 1)],
    [...wipe, { kind: 'adopt', at: 1 }, ...turns(20, 1), ...putBack('restored'), ...settled],
    [...wipe, ...higher, ...settled, ...deliver()],
  ],
  'Redis falls back: two products that were added in the reverse order of their ids': [
    [
      { kind: 'edit', at: 0, id: 'c', price: 0 },
      { kind: 'turn-with-edit', at: 0, id: 'a', text: 0 },
      ...settled,
    ],
    [...deliver(), ...settled],
    [{ kind: 'roll-back', at: 0, by: 21 } as Command, ...turns(40), { kind: 'wipe' }, ...turns(20)],
    [{ kind: 'apply', at: 0, request: 0 } as Command, ...settled],
  ],
  'two doubts are told of in the reverse order of their ids': [
    [...change('a', { text: 2 }), ...settled, ...deliver('failed'), ...change('b', { price: 1 }), ...settled],
    [...claim(), { kind: 'send', at: 0, process: 0, call: 0 }, ...change('b', { price: 0 }), ...settled],
    [{ kind: 'finish', at: 0, process: 0, call: 0, ending: 'unknown' }, ...settled],
    [
      ...change('a', { price: 0 }),
      ...settled,
      ...deliver('unknown'),
      ...change('b', { text: 2 }),
      ...settled,
    ],
    [...tick(10), ...done],
    [...deliver(), ...done],
  ],
  'Redis falls back while the operator has paused': [
    [...added, ...higher, ...settled, { kind: 'pause', at: 0, on: true }, ...settled],
    [{ kind: 'roll-back', at: 0, by: 22 } as Command, ...settled, ...claim()],
    [{ kind: 'pause', at: 0, on: false }, ...settled, ...deliver()],
  ],
}

test.each(Object.entries(cases))('%s', async (_, schedule) => {
  await using box = await openRealBox()
  const difference = await box.play([settled, ...schedule])
  expect(difference?.real).toEqual(difference?.model)
})

// `npm run fuzz -- real` plays as many as one likes.
test('the real mirror, scripts and loop do what the model does', { timeout: 1_200_000 }, async () => {
  await using box = await openRealBox()
  const check = fc.asyncProperty(realSchedule, async (schedule) => {
    const difference = await box.play(schedule)
    expect(difference?.real).toEqual(difference?.model)
  })
  await fc.assert(check, { numRuns: runs })
})
