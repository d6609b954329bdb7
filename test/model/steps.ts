import type { Command } from './commands.ts'
import type { Ending } from './delivery.ts'
import type { RuleName } from './rules.ts'
import type { Edit, Lane } from './state.ts'

// Words of which the schedules of the tests are made. All are about the first installation and its first process.

export const turns = (count: number, at = 0): Command[] => Array<Command>(count).fill({ kind: 'turn', at })

export const edit = (id: string, fields: Omit<Edit, 'id'>, at = 0): Command[] => [
  { kind: 'edit', at, id, ...fields },
]

/** An edit that is committed as well. */
export const change = (id: string, fields: Omit<Edit, 'id'>, at = 0): Command[] => [
  ...edit(id, fields, at),
  { kind: 'import', at, count: 1 },
]

export const claim = (process = 0): Command[] => [{ kind: 'claim', at: 0, process, mode: 'any' }]

/** A call begins, and nobody knows yet how it ends. */
export const begin = (process = 0): Command[] => [
  ...claim(process),
  { kind: 'send', at: 0, process, call: 0 },
]

export const finish = (ending: Ending, process = 0): Command[] => [
  { kind: 'finish', at: 0, process, call: 0, ending },
]

export const deliver = (ending: Ending = 'answered', process = 0): Command[] => [
  ...begin(process),
  ...finish(ending, process),
]

export const tick = (by: number): Command[] => [{ kind: 'tick', by }]

export const beat: Command[] = [
  { kind: 'beat', at: 0 },
  { kind: 'beat', at: 0 },
]

/** One step of the drain: reading, making durable, removing. */
export const drain: Command[] = [{ kind: 'drain', at: 0 }]

/** One step of the pump: reading, offering. */
export const pump = (lane: Lane = 'urgent'): Command[] => [{ kind: 'pump', at: 0, lane }]

/** One step of serving: reading, handing out. */
export const serve: Command[] = [{ kind: 'serve', at: 0 }]

/** Redis falls back to what it was before the last so many commands; the passing of time is none. */
export const forget = (commands: number): Command[] => [{ kind: 'roll-back', by: commands + 1 }]

export const wipe: Command[] = [{ kind: 'wipe' }]

/** Redis is in use, the products are delivered at price 0, and Redis holds nothing of them. */
export const delivered = (...ids: string[]): Command[] => [
  ...turns(7),
  ...ids.flatMap((id) => [...change(id, { price: 0 }), ...turns(1), ...deliver(), ...turns(1)]),
]

/** What must come to rest well, and must not where the rules are taken out. */
export interface Case {
  title: string
  without: RuleName[]
  commands: Command[]
}

export const higher = change('a', { price: 1 })
export const lower = change('a', { price: 0 })
export const higherOffered = [...delivered('a'), ...higher, ...turns(1)]
/** The outcome of the higher price is not known, its echo waits; the lower price is taken. */
export const higherUnknown = [...higherOffered, ...deliver('unknown'), ...lower, ...turns(1), ...deliver()]
