import type { Command } from './commands.ts'
import type { RuleName } from './rules.ts'
import {
  beat,
  begin,
  change,
  claim,
  deliver,
  delivered,
  drain,
  edit,
  finish,
  forget,
  pump,
  serve,
  tick,
  turns,
  wipe,
} from './steps.ts'

/** What must come to rest well, and must not where the rules are taken out. */
export interface Case {
  title: string
  without: RuleName[]
  commands: Command[]
}

const higher = change('a', { price: 1 })
const lower = change('a', { price: 0 })
const higherOffered = [...delivered('a'), ...higher, ...turns(1)]
/** The outcome of the higher price is not known, its echo waits; the lower price is taken. */
const higherUnknown = [...higherOffered, ...deliver('unknown'), ...lower, ...turns(1), ...deliver()]

export const lossCases: Case[] = [
  {
    title: 'only an acknowledgement is lost, positions are equal, and the edit is undone',
    without: ['run ids are compared'],
    commands: [...higherOffered, ...deliver(), ...forget(3), ...lower],
  },
  {
    title: 'the same where Redis tells of it, and nothing is doubted',
    without: ['a loss leaves doubts'],
    commands: [...higherOffered, ...deliver(), ...forget(3), ...lower],
  },
  {
    title: 'only the claim is lost, a newer document is sent, the older call is applied late',
    without: ['a loss leaves echoes'],
    commands: [...higherOffered, ...begin(), ...forget(2), ...lower, ...turns(8), ...finish('unknown')],
  },
  {
    title: 'a call begins just before a power cut, of a product offered just before',
    without: ['offered is noted before the offer'],
    commands: [...higherOffered, ...begin(), { kind: 'power-cut', at: 0, by: 6 }, ...lower],
  },
  {
    title: 'the offer is lost, and the product moves up before that is noticed',
    without: ['a place remembers that it was read'],
    commands: [
      ...turns(7),
      ...change('a', { price: 0 }),
      ...turns(1),
      ...begin(),
      ...forget(3),
      ...higher,
      ...turns(8),
      ...finish('unknown'),
    ],
  },
  {
    title: 'an older copy of Redis is put in place of one that was closed cleanly',
    without: ['a clean close raises the beat'],
    commands: [...higherOffered, ...deliver(), { kind: 'close-cleanly', at: 0, by: 4 }, ...lower],
  },
  {
    title: 'the same, where a beat was just raised',
    without: ['a clean close raises the beat'],
    commands: [
      ...[...higherOffered, { kind: 'beat', at: 0 } as const, ...deliver()],
      ...[{ kind: 'close-cleanly', at: 0, by: 4 } as const, ...lower],
    ],
  },
  {
    title: 'a process goes on with the Redis that fell back',
    without: ['the guard compares run ids'],
    commands: [...higherOffered, ...lower, ...forget(2), { kind: 'compare', at: 0 }, ...claim(), ...claim()],
  },
  {
    title: 'Redis is wiped while the operator has paused',
    without: ['a pause is opened with'],
    commands: [
      ...higherOffered,
      { kind: 'pause', at: 0, on: true },
      { kind: 'tell-pause', at: 0 },
      ...wipe,
      ...turns(9),
      ...claim(),
      ...claim(),
    ],
  },
]

export const durabilityCases: Case[] = [
  {
    title: "the mirror's transaction is lost with the power after its offer",
    without: ['durable before offered', 'a mirror that is behind is refused'],
    commands: [
      ...delivered('a'),
      { kind: 'sync', at: 0 },
      ...higher,
      ...turns(1),
      ...deliver(),
      ...turns(1),
      ...edit('a', { price: 0 }),
      { kind: 'power-cut', at: 0, by: 0 },
    ],
  },
]

const drainBetween = [
  ...higherOffered,
  ...deliver(),
  ...lower,
  ...beat,
  ...pump(),
  ...[...drain, ...drain, ...drain],
  ...pump(),
]

export const undoneCases: Case[] = [
  {
    title: "a drain comes between the pump's read and its EXEC",
    without: ['a drop is checked by the drain'],
    commands: drainBetween,
  },
  {
    title: 'the same, and the product gets no place again',
    without: ['an older acknowledgement gives a place'],
    commands: drainBetween,
  },
  {
    title: 'an acknowledgement is not drained yet',
    without: ['dropped only when nothing is held'],
    commands: [...higherOffered, ...deliver(), ...lower, ...beat, ...pump(), ...pump()],
  },
  {
    title: 'a call took effect though it was answered with 500, and its doubt is drained',
    without: ['a doubt reaches the mirror'],
    commands: [...higherOffered, ...deliver('failed-applied'), ...turns(1), ...lower],
  },
  {
    title: 'a doubt comes while an acknowledgement is drained',
    without: ['only the value that was taken is removed'],
    commands: [
      ...[...higherOffered, ...deliver(), ...beat, ...drain, ...drain],
      ...[...lower, ...pump(), ...pump(), ...deliver('failed-applied'), ...drain, ...higher],
    ],
  },
  {
    title: 'the pump offers between the two halves of a drain',
    without: ['the place stays when it was not read'],
    commands: [
      ...[...higherOffered, ...deliver(), ...beat, ...drain],
      ...[...lower, ...pump(), ...pump(), ...higher, ...drain, ...drain, ...begin()],
      ...[...wipe, { kind: 'crash-process', at: 0, process: 0 } as const],
    ],
  },
]

const lateInFlight = [...delivered('a'), { kind: 'backup', at: 0 } as const, ...higher, ...turns(1)]

export const restoreCases: Case[] = [
  {
    title: 'the acknowledgements of a restored mirror are older than what the endpoint holds',
    without: ['starting over believes nothing'],
    commands: [
      ...[...lateInFlight, ...deliver(), ...turns(1), ...edit('a', { price: 0 })],
      { kind: 'put-back', at: 0, which: 0, how: 'restored' },
    ],
  },
  {
    title: 'a call from before the restore is applied late',
    without: ['starting over waits'],
    commands: [
      ...[...lateInFlight, ...begin(), ...edit('a', { price: 0 })],
      { kind: 'put-back', at: 0, which: 0, how: 'restored' },
      ...finish('unknown'),
    ],
  },
  {
    title: 'a copy of the mirror is put in its place by hand, a moment old',
    without: ['inodes are compared'],
    commands: [
      ...[...delivered('a'), ...higher, ...beat, ...pump(), ...pump(), ...deliver(), ...drain],
      { kind: 'backup', at: 0 },
      ...[...drain, ...drain, ...edit('a', { price: 0 })],
      { kind: 'put-back', at: 0, which: 0, how: 'copied' },
    ],
  },
  {
    title: 'the mirror is as it was some beats ago, in the very same file',
    without: ['a mirror that is behind is refused'],
    commands: [
      ...[...lateInFlight, ...deliver(), ...turns(3), ...edit('a', { price: 0 })],
      { kind: 'put-back', at: 0, which: 0, how: 'in place' },
    ],
  },
  {
    title: 'the same, and Redis is wiped before the operator has looked',
    without: ['a mirror that is behind remembers it'],
    commands: [
      ...[...lateInFlight, ...deliver(), ...turns(3), ...edit('a', { price: 0 })],
      { kind: 'put-back', at: 0, which: 0, how: 'in place' },
      ...wipe,
      { kind: 'compare', at: 0 },
    ],
  },
]

export const echoCases: Case[] = [
  {
    title: 'the document of an echo is removed by a later acknowledgement',
    without: ['an echo without document is requested'],
    commands: higherUnknown,
  },
  {
    title: 'Redis is wiped while an echo waits',
    without: ['the place stays while anything is held'],
    commands: [...higherUnknown, ...turns(1), ...wipe],
  },
  {
    title: 'Redis is wiped when an echo is overdue',
    without: ['a loss leaves echoes'],
    commands: [
      ...[
        ...higherOffered,
        ...begin(1),
        ...tick(4),
        ...claim(),
        { kind: 'expire', at: 0, process: 0 } as const,
      ],
      ...[...wipe, { kind: 'crash-process', at: 0, process: 1 } as const, ...lower],
    ],
  },
  {
    title: 'a host that only delivers dies with open calls',
    without: ['an expired claim is echoed'],
    commands: [
      ...[...higherOffered, ...begin(1), { kind: 'crash-process', at: 0, process: 1 } as const, ...tick(4)],
      ...claim(),
      { kind: 'expire', at: 0, process: 0 },
      ...lower,
    ],
  },
  {
    title: 'a process dies asleep, after its lease and before its time-out',
    without: ['an expiry waits for the time-out'],
    commands: [
      ...[
        ...higherOffered,
        ...begin(1),
        ...tick(3),
        ...claim(),
        { kind: 'expire', at: 0, process: 0 } as const,
      ],
      ...[...tick(1), { kind: 'crash-process', at: 0, process: 1 } as const, ...lower, ...turns(1)],
      ...[...deliver(), ...turns(1), ...tick(9), ...claim(), ...turns(1), ...deliver()],
    ],
  },
  {
    title: 'a process sleeps between its look at the lease and its call',
    without: ['who holds no claim leaves a doubt'],
    commands: [
      ...[
        ...higherOffered,
        ...claim(1),
        ...tick(4),
        ...claim(),
        { kind: 'expire', at: 0, process: 0 } as const,
      ],
      ...[
        ...lower,
        ...turns(1),
        ...deliver(),
        ...turns(1),
        ...tick(13),
        ...claim(),
        ...turns(1),
        ...deliver(),
      ],
      ...[...turns(1), { kind: 'send', at: 0, process: 1, call: 0, overslept: true } as const],
      ...finish('answered', 1),
    ],
  },
  {
    title: 'a newer document is offered while an older one is served',
    without: ['a served document replaces none'],
    commands: [
      ...[...higherUnknown, ...turns(1), ...tick(10), ...claim(), ...beat, ...serve],
      ...[...higher, ...pump(), ...pump(), ...serve],
    ],
  },
  {
    title: 'an echo is acknowledged between the two halves of a drain',
    without: ['an acknowledgement is told from the next'],
    commands: [
      ...[...higherUnknown, ...tick(10), ...claim(), ...beat, ...serve, ...serve],
      ...[...drain, ...deliver(), ...drain, ...drain],
    ],
  },
  {
    title: 'a refusal comes while an echo waits, then the edit is undone',
    without: ['an echo outlives a refusal'],
    commands: [
      ...[...higherOffered, ...deliver('unknown'), ...change('a', { text: 2 }), ...turns(1), ...deliver()],
      ...[...turns(1), ...change('a', { text: 0 }), ...lower],
    ],
  },
]

export const changeCases: Case[] = [
  {
    title: 'new bytes of a document without a changed field, while it is pending',
    without: ['digest follows the bytes'],
    commands: [...delivered('a'), ...higher, ...change('a', { form: 1 })],
  },
  {
    title: 'a product that was offered and refused changes again',
    without: ['a read place gets a new number'],
    commands: [
      ...[
        ...turns(7),
        ...change('a', { price: 0 }),
        ...turns(1),
        { kind: 'refuse-all', at: 0, on: true } as const,
      ],
      ...[...deliver(), { kind: 'refuse-all', at: 0, on: false } as const, ...change('a', { text: 1 })],
    ],
  },
  {
    title: 'everything is refused, with drains between',
    without: ['refusals keep their documents'],
    commands: [
      ...delivered('a', 'b', 'c'),
      { kind: 'refuse-all', at: 0, on: true },
      ...['a', 'b', 'c'].flatMap((id) => [
        ...change(id, { price: 1 }),
        ...turns(1),
        ...deliver(),
        ...turns(1),
      ]),
    ],
  },
]

export const ownerCases: Case[] = [
  {
    title: 'an old acknowledgement is drained a second time after Redis fell back',
    without: ['run ids are compared', 'beats are compared'],
    commands: [
      ...[...higherOffered, ...deliver(), ...turns(1), ...lower, ...turns(1), ...deliver(), ...turns(1)],
      ...[...higher, ...forget(10), ...turns(2)],
    ],
  },
  {
    title: 'what Redis held before it fell back is handed out after the repair',
    without: ['a loss empties Redis'],
    commands: [...higherOffered, ...lower, ...turns(1), ...forget(3), ...turns(5), ...claim(), ...claim()],
  },
  {
    title: 'a repair dies half-way',
    without: ['a repair opens last'],
    commands: [
      ...[...higherOffered, ...deliver(), ...forget(3), { kind: 'compare', at: 0 } as const],
      ...[
        { kind: 'repair', at: 0 } as const,
        { kind: 'repair', at: 0 } as const,
        { kind: 'crash', at: 0 } as const,
      ],
      ...lower,
    ],
  },
  {
    title: 'two fresh installations of one name on one Redis',
    without: ['opening compares the guard'],
    commands: [...higherOffered, ...change('a', { price: 1 }, 1), ...turns(9, 1), ...turns(3)],
  },
  {
    title: 'processes of one installation meet the keys of another',
    without: ['the guard compares generations'],
    commands: [
      ...higherOffered,
      { kind: 'claim', at: 1, process: 0, mode: 'any' },
      { kind: 'claim', at: 1, process: 0, mode: 'any' },
    ],
  },
]
