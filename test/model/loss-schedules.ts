import type { Command } from './commands.ts'
import {
  beat,
  begin,
  type Case,
  change,
  claim,
  deliver,
  delivered,
  drain,
  edit,
  finish,
  forget,
  higher,
  higherOffered,
  lower,
  pump,
  turns,
  wipe,
} from './steps.ts'

// What Redis, the power or the operator may do. Each comes to rest well, and not where a rule is taken out.

/** What it sent may still be applied, and nobody tells Redis of it. */
const died: Command = { kind: 'crash-process', at: 0, process: 0 }

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
    commands: [...higherOffered, ...begin(), ...forget(2), ...lower, ...turns(8), died],
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
      died,
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
    without: ['a pause is told again'],
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
    title: 'the same of a product that the backup does not know, and Redis is wiped meanwhile',
    without: ['a loss does not end the wait'],
    commands: [
      ...[...delivered('a'), { kind: 'backup', at: 0 } as const, ...change('b', { price: 1 }), ...turns(1)],
      ...[...begin(), ...edit('b', { price: 0 })],
      { kind: 'put-back', at: 0, which: 0, how: 'restored' },
      ...[...turns(12), ...wipe, died],
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

export const ownerCases: Case[] = [
  {
    title: 'an old acknowledgement is drained a second time after Redis fell back',
    without: ['run ids are compared', 'beats are compared'],
    commands: [
      ...[...higherOffered, ...deliver(), ...turns(1), ...lower, ...turns(1), ...deliver(), ...turns(1)],
      ...[...higher, ...forget(10), { kind: 'compare', at: 0 } as const, ...beat],
      ...[...drain, ...drain, ...drain, ...turns(2)],
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
