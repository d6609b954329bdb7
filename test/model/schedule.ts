import fc from 'fast-check'
import type { Command } from './commands.ts'
import { run } from './commands.ts'
import { checkAlways, violationsAtRest } from './rest.ts'
import type { Rules } from './rules.ts'
import { freshWorld } from './world.ts'

// Random schedules: few products and few values, so that values return to what they were.

const id = fc.constantFrom('a', 'a', 'a', 'a', 'b', 'b', 'c')
const process = fc.nat(1)
const index = fc.nat(2)
const few = fc.integer({ min: 1, max: 6 })
const backBy = fc.oneof({ weight: 5, arbitrary: few }, fc.integer({ min: 1, max: 24 }), fc.constant(0))
const at = fc.oneof({ weight: 40, arbitrary: fc.constant(0) }, fc.constant(1))
const lane = fc.constantFrom('urgent', 'urgent', 'new', 'deferred')

type Fields = { [name: string]: fc.Arbitrary<unknown> }

/** A command of one kind. */
function one(kind: Command['kind'], fields: Fields = {}): fc.Arbitrary<Command[]> {
  return fc.record({ kind: fc.constant(kind), ...fields }).map((command) => [command as unknown as Command])
}

function often(weight: number, kind: Command['kind'], fields: Fields = {}): fc.WeightedArbitrary<Command[]> {
  return { weight, arbitrary: one(kind, fields) }
}

/** Some that make sense one after the other. */
function inARow(weight: number, ...parts: fc.Arbitrary<Command[]>[]): fc.WeightedArbitrary<Command[]> {
  return { weight, arbitrary: fc.tuple(...parts).map((lists) => lists.flat()) }
}

const values = fc.oneof(
  { weight: 7, arbitrary: fc.record({ price: fc.nat(1) }) },
  { weight: 4, arbitrary: fc.record({ text: fc.nat(1) }) },
  { weight: 1, arbitrary: fc.record({ text: fc.constant(2) }) },
  { weight: 1, arbitrary: fc.record({ form: fc.nat(1) }) },
)
const edit = fc
  .tuple(at, id, values)
  .map(([where, product, fields]): Command[] => [{ kind: 'edit', at: where, id: product, ...fields }])
const imports = one('import', { at: fc.constant(0), count: fc.integer({ min: 1, max: 3 }) })
const ending = fc.oneof(
  { weight: 5, arbitrary: fc.constant('answered') },
  { weight: 3, arbitrary: fc.constant('unknown') },
  fc.constantFrom('failed', 'failed-applied', 'not-sent'),
)
const mode = fc.oneof({ weight: 3, arbitrary: fc.constant('any') }, fc.constant('urgent'))
const claim = one('claim', { at, process: fc.constant(0), mode })
const send = one('send', { at, process: fc.constant(0), call: index })
const finish = one('finish', { at, process: fc.constant(0), call: index, ending })
const beats = fc.constant<Command[]>([
  { kind: 'beat', at: 0 },
  { kind: 'beat', at: 0 },
])
const pump = one('pump', { at: fc.constant(0), lane })
const drain = one('drain', { at: fc.constant(0) })
const turn = fc.constant<Command[]>([{ kind: 'turn', at: 0 }])
const turns = fc
  .integer({ min: 1, max: 7 })
  .map((count) => Array<Command>(count).fill({ kind: 'turn', at: 0 }))

const someCommands = fc.oneof(
  inARow(14, edit, imports),
  inARow(4, edit, imports, turn, claim, send, finish, turn),
  inARow(6, claim, send, finish),
  inARow(4, claim, send),
  inARow(4, edit, imports, turn, claim, send),
  inARow(6, beats, pump),
  inARow(4, beats, drain, drain),
  inARow(3, edit, imports, edit, imports),
  inARow(5, edit, imports, beats, pump, pump),
  inARow(3, beats, drain, drain, drain),
  inARow(4, claim, send, finish, beats, pump, drain, drain, drain, pump),
  { weight: 12, arbitrary: turns },
  { weight: 4, arbitrary: edit },
  often(3, 'import', { at, count: fc.integer({ min: 1, max: 3 }) }),
  often(4, 'turn', { at }),
  often(2, 'beat', { at }),
  often(6, 'drain', { at }),
  often(4, 'pump', { at, lane }),
  often(3, 'serve', { at }),
  often(2, 'number', { at }),
  often(2, 'compare', { at }),
  often(3, 'repair', { at }),
  often(2, 'start-over', { at }),
  often(3, 'claim', { at, process, mode }),
  often(3, 'send', { at, process, call: index }),
  often(8, 'finish', { at, process, call: index, ending }),
  often(2, 'renew', { at, process, call: index }),
  often(4, 'expire', { at, process }),
  often(2, 'crash-process', { at, process }),
  often(5, 'apply', { at, request: index }),
  often(1, 'refuse-all', { at, on: fc.boolean() }),
  often(7, 'tick', {
    by: fc.oneof({ weight: 3, arbitrary: few }, fc.integer({ min: 4, max: 20 })),
  }),
  often(4, 'roll-back', { by: backBy }),
  often(1, 'wipe'),
  often(1, 'close-cleanly', { at, by: backBy }),
  often(1, 'power-cut', { at, by: backBy }),
  often(2, 'crash', { at }),
  often(2, 'backup', { at }),
  often(1, 'put-back', { at, which: index, how: fc.constantFrom('restored', 'copied', 'in place') }),
  often(1, 'copy-in-place', { at }),
  often(1, 'adopt', { at }),
  often(2, 'pause', { at, on: fc.boolean() }),
  often(1, 'tell-pause', { at }),
  often(1, 'resync', { at, id }),
  often(2, 'sync', { at }),
)

const opening = Array<Command>(7).fill({ kind: 'turn', at: 0 })

/** The second installation is there in every eighth schedule. Half of them begin with a Redis that is in use. */
export const anySchedule: fc.Arbitrary<Command[]> = fc
  .tuple(fc.nat(7), fc.boolean(), fc.array(someCommands, { minLength: 3, maxLength: 50, size: 'max' }))
  .map(([share, isOpened, parts]) => {
    const commands = [...(isOpened ? opening : []), ...parts.flat()]
    return share === 0
      ? commands
      : commands.map((command) => ('at' in command ? { ...command, at: 0 } : command))
  })

/** What is wrong after a schedule, or at its end when all has come to rest; empty: nothing. */
export function play(commands: readonly Command[], rules: Rules): string[] {
  const world = freshWorld(rules)
  for (const command of commands) {
    run(world, command)
    checkAlways(world)
    if (world.violations.length > 0) return world.violations
  }
  return violationsAtRest(world)
}
