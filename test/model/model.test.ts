import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Command, run } from './commands.ts'
import { durabilityCases, lossCases, ownerCases, restoreCases } from './loss-schedules.ts'
import { allRules, type RuleName, ruleNames, without } from './rules.ts'
import { anySchedule, play } from './schedule.ts'
import { changeCases, echoCases, undoneCases } from './schedules.ts'
import { installationOf } from './state.ts'
import { change, deliver, delivered, turns } from './steps.ts'
import { openModel } from './system.ts'
import { freshWorld } from './world.ts'

// The reference model of mirror, outbox and endpoint: what must not happen does not, and each rule is needed for that.

const groups = {
  'Redis forgets something': lossCases,
  'the power is lost': durabilityCases,
  'an edit is undone': undoneCases,
  'the mirror is another one': restoreCases,
  'an echo waits': echoCases,
  'products change': changeCases,
  'Redis belongs to somebody': ownerCases,
}

describe.each(Object.entries(groups))('%s', (_, cases) => {
  it.each(cases)('$title', ({ commands, without: names }) => {
    expect(play(commands, allRules)).toEqual([])
    expect(play(commands, without(...names)), `without: ${names.join()}`).not.toEqual([])
  })
})

describe('lanes', () => {
  const ids = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']

  /** Deferred edits fill their lane; then one price changes, and only urgent products are claimed. */
  function claimedAfterDeferred(...taken: RuleName[]): string[] {
    const world = freshWorld(without(...taken))
    for (const command of delivered(...ids)) run(world, command)
    for (const id of ids.slice(1)) for (const command of change(id, { text: 1 })) run(world, command)
    for (const command of [
      { kind: 'tick', by: 5 } as const,
      ...turns(3),
      ...change('a', { price: 1 }),
      ...turns(2),
    ]) {
      run(world, command)
    }
    run(world, { kind: 'claim', at: 0, process: 0, mode: 'urgent' })
    return installationOf(world, 0).processes.flatMap(({ calls }) =>
      calls.flatMap(({ documents }) => [...documents.keys()]),
    )
  }

  it('let an urgent change pass where deferred ones have filled their lane', () => {
    expect(claimedAfterDeferred()).toEqual(['a'])
    expect(claimedAfterDeferred('a limit for each lane')).toEqual([])
  })

  it('are all limited, the urgent one too', () => {
    const commands = [...delivered(...ids), ...ids.flatMap((id) => change(id, { price: 1 })), ...turns(4)]
    expect(play(commands, allRules)).toEqual([])
    expect(play(commands, without('urgent has a limit'))).toEqual(['8 documents wait in urgent'])
  })

  /** Whether a product is sent that changes each time before others are sent, which change as well. */
  function isSentInTheEnd(...taken: RuleName[]): boolean {
    const world = freshWorld(without(...taken))
    for (const command of delivered(...ids)) run(world, command)
    const products = installationOf(world, 0).endpoint.products
    const first = products.get('a')
    for (let round = 1; round < 12; round++) {
      for (const id of [...ids.slice(1), 'a']) {
        for (const command of change(id, { price: round })) run(world, command)
      }
      for (const command of [...turns(1), ...deliver()]) run(world, command)
    }
    return products.get('a') !== first
  }

  /** Whether a full lane gets room although all that waits there changes before it is sent, by who has the mirror. */
  function hasRoomInTheEnd(...taken: RuleName[]): boolean {
    const world = freshWorld(without(...taken))
    for (const command of delivered('a', 'b')) run(world, command)
    for (const price of [1, 2]) {
      for (const id of ['a', 'b']) for (const command of change(id, { price })) run(world, command)
      if (price === 1) for (const command of turns(2)) run(world, command)
    }
    for (const command of deliver('answered', 1)) run(world, command)
    return world.redis.pending.size === 0
  }

  it('have room when newer documents are sent than were offered', () => {
    expect(hasRoomInTheEnd()).toBe(true)
    expect(hasRoomInTheEnd('a newer document settles the claimed one')).toBe(false)
  })

  it('send a product that changes more often than its lane moves', () => {
    expect(isSentInTheEnd()).toBe(true)
    expect(isSentInTheEnd('an unread place keeps its number')).toBe(false)
  })
})

describe('what the model shows', () => {
  const observed = async (commands: readonly Command[]) => {
    const system = openModel()
    for (const command of commands) await system.run(command)
    return await system.observe()
  }

  it('says what is due, and nothing of names that each system makes for itself', async () => {
    const { redis, installations } = await observed([
      ...delivered('a'),
      ...change('a', { price: 1 }),
      ...turns(1),
    ])
    expect(redis).toMatchObject({
      isOpen: true,
      pending: { a: '0100' },
      lanes: { a: 'urgent' },
      acknowledged: {},
    })
    expect(installations[0]?.mirror).toMatchObject({
      products: { a: { digest: '0100', acknowledged: '0000', lane: 'urgent', number: 1, sinceAgo: 0 } },
      offered: { urgent: 1, new: 1, deferred: 0 },
    })
    expect(installations[0]?.endpoint).toEqual({ a: '0000' })
  })
})

describe('the rules', () => {
  const tried = Object.values(groups).flatMap((cases) => cases.flatMap(({ without: names }) => names))
  const inLanes: RuleName[] = [
    'a limit for each lane',
    'urgent has a limit',
    'an unread place keeps its number',
    'a newer document settles the claimed one',
  ]

  it('are each taken out in some test', () => {
    expect(new Set([...tried, ...inLanes])).toEqual(new Set(ruleNames))
  })

  // `npm run fuzz -- model` plays as many as one likes.
  it('hold in random schedules', () => {
    fc.assert(
      fc.property(anySchedule, (commands) => {
        expect(play(commands, allRules)).toEqual([])
      }),
      { numRuns: 12_000 },
    )
  })
})
