import {
  beat,
  begin,
  type Case,
  change,
  claim,
  deliver,
  delivered,
  drain,
  finish,
  higher,
  higherOffered,
  higherUnknown,
  lower,
  pump,
  serve,
  tick,
  turns,
  wipe,
} from './steps.ts'

// What may happen while nothing is lost, or only a moment before. Each comes to rest well, and not where a rule is taken out.

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
    without: ['an offer answers a request', 'who has the mirror reads there'],
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
    title: 'an echo goes along with a document that is refused, then the edit is undone',
    without: ['a refused echo leaves a doubt'],
    commands: [
      ...[...higherUnknown, ...turns(1), { kind: 'apply', at: 0, request: 0 } as const],
      ...[...change('a', { text: 2 }), ...tick(10), ...turns(1), ...deliver(), ...change('a', { text: 0 })],
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
    title: 'a refusal is decided between the two halves of a drain',
    without: ['a decided refusal is told again'],
    commands: [
      ...[...delivered('b'), ...change('a', { price: 0 }), ...turns(1)],
      ...[{ kind: 'refuse-all', at: 0, on: true } as const, ...deliver()],
      ...[{ kind: 'refuse-all', at: 0, on: false } as const, ...change('b', { price: 1 }), ...turns(1)],
      ...[...beat, ...drain, ...drain, ...deliver(), ...drain],
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
