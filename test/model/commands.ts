import {
  apply,
  claimCall,
  crashProcess,
  deadlineOf,
  type Ending,
  finishCall,
  forgetOld,
  renewCall,
  sendCall,
} from './delivery.ts'
import { expire } from './delivery-scripts.ts'
import {
  hasOffers,
  hasReports,
  isBehind,
  mayAct,
  raiseBeat,
  stepDrain,
  stepNumber,
  stepPump,
  stepServe,
  tellPause,
  transact,
} from './loop.ts'
import { commitEdit, editedDocument, ensureNumbered } from './mirror.ts'
import { adopt, compare, stepRepair, stepStartOver } from './recover.ts'
import {
  type Edit,
  type Installation,
  installationOf,
  type Lane,
  lanes,
  type Process,
  second,
  type World,
} from './state.ts'
import {
  backUp,
  closeCleanly,
  copyBeside,
  copyInPlace,
  crash,
  keepSnapshot,
  powerCut,
  putBack,
  rollBack,
  sync,
  wipe,
} from './world.ts'

// Everything that can happen, a step at a time. Each command can be given in any state; where it has no meaning it does
// nothing. Numbers choose among what there is.

interface At {
  at: number
}

interface AtProcess extends At {
  process: number
}

interface AtCall extends AtProcess {
  call: number
}

interface Commands {
  edit: At & Edit
  import: At & { count: number }
  sync: At
  compare: At
  beat: At
  drain: At
  /** Without a lane: all. */
  pump: At & { lane?: Lane }
  serve: At
  number: At
  repair: At
  'start-over': At
  turn: At
  /** An edit is committed between the pump's read and its EXEC. */
  'turn-with-edit': At & Edit
  /** The importing process dies after so many of the loop's steps. */
  'turn-that-dies': At & { after: number }
  claim: AtProcess & { mode: 'urgent' | 'any' }
  /** `overslept`: the process slept after it had looked at its lease. */
  send: AtCall & { overslept?: boolean }
  renew: AtCall
  finish: AtCall & { ending: Ending }
  expire: AtProcess
  'crash-process': AtProcess
  apply: At & { request: number }
  'refuse-all': At & { on: boolean }
  tick: { by: number }
  'roll-back': { by: number }
  wipe: object
  'close-cleanly': At & { by: number }
  'power-cut': At & { by: number }
  crash: At
  backup: At
  /** `which` -1: the newest. */
  'put-back': At & { which: number; how: 'restored' | 'copied' | 'in place' }
  'copy-in-place': At
  /** The state folder of the other installation is copied over this one's. */
  'copy-beside': At
  adopt: At
  pause: At & { on: boolean }
  'tell-pause': At
  resync: At & { id: string }
}

export type Command = { [Kind in keyof Commands]: { kind: Kind } & Commands[Kind] }[keyof Commands]

type Handlers = { [Kind in keyof Commands]: (world: World, command: Commands[Kind]) => void }

const handlers: Handlers = {
  edit: atInstallation((_, installation, edit: Edit) => accept(installation, edit)),
  import: atInstallation((world, installation, { count }: { count: number }) =>
    importEdits(world, installation, count),
  ),
  sync: atInstallation((_, installation) => sync(installation)),
  compare: atInstallation(compare),
  beat: atInstallation(raiseBeat),
  drain: atInstallation(stepDrain),
  pump: atInstallation((world, installation, { lane }: { lane?: Lane }) =>
    stepPump(world, installation, lane ? [lane] : lanes),
  ),
  serve: atInstallation(stepServe),
  number: atInstallation(stepNumber),
  repair: atInstallation(stepRepair),
  'start-over': atInstallation(stepStartOver),
  turn: atInstallation((world, installation) => turn(world, installation)),
  'turn-with-edit': atInstallation((world, installation, edit: Edit) => {
    let isCommitted = false
    const commit = () => {
      if (!isCommitted) accept(installation, edit)
      isCommitted = true
      importEdits(world, installation, Number.POSITIVE_INFINITY)
    }
    turn(world, installation, commit)
    commit()
  }),
  'turn-that-dies': atInstallation((world, installation, { after }: { after: number }) => {
    for (let step = 0; step < after; step++) turn(world, installation)
    crash(installation)
  }),
  claim: atProcess((world, installation, { process, mode }: { process: Process; mode: 'urgent' | 'any' }) =>
    claimCall(world, installation, { process, mode }),
  ),
  send: atCall((world, installation, command: OfCall & { overslept?: boolean }) =>
    sendCall(world, installation, command),
  ),
  renew: atCall(renewCall),
  finish: atCall((world, installation, { process, call, ending }: OfCall & { ending: Ending }) =>
    finishCall(world, installation, { process, call, ending }),
  ),
  expire: atProcess((world) => expire(world)),
  'crash-process': atProcess((world, _, { process }) => crashProcess(world, process)),
  apply: atInstallation((world, { endpoint }, { request: index }: { request: number }) => {
    const request = endpoint.requests[index % Math.max(1, endpoint.requests.length)]
    if (request && world.now < deadlineOf(request)) apply(endpoint, request)
  }),
  'refuse-all': atInstallation((_, { endpoint }, { on }: { on: boolean }) => {
    endpoint.refusesAll = on
  }),
  tick: (world, { by }) => {
    world.now += by * second
    for (const installation of world.installations) forgetOld(installation, world.now)
  },
  'roll-back': (world, { by }) => rollBack(world, by),
  wipe: (world) => wipe(world),
  'close-cleanly': atInstallation((world, installation, { by }: { by: number }) =>
    closeCleanly(world, installation, by),
  ),
  'power-cut': atInstallation((world, installation, { by }: { by: number }) =>
    powerCut(world, installation, by),
  ),
  crash: atInstallation((_, installation) => crash(installation)),
  backup: atInstallation((_, installation) => backUp(installation)),
  'put-back': atInstallation(putBack),
  'copy-in-place': atInstallation(copyInPlace),
  'copy-beside': atInstallation(copyBeside),
  adopt: atInstallation((world, installation) => {
    // The operator renames a catalog rather than take another one's keys.
    const isOthers = world.redis.guard?.owner === 1 - installation.owner
    if (installation.loop.refusal && !isOthers) adopt(world, installation)
  }),
  pause: atInstallation((world, installation, { on }: { on: boolean }) => {
    if (!on) installation.pauseTold = false
    transact(world, installation, (mirror) => {
      mirror.calls = { paused: on, at: world.now }
    })
  }),
  'tell-pause': atInstallation(tellPause),
  resync: atInstallation(resync),
}

export function run(world: World, command: Command): void {
  if (command.kind !== 'tick') keepSnapshot(world)
  // What comes later is later.
  world.now++
  const handler = handlers[command.kind] as (world: World, command: Command) => void
  handler(world, command)
}

function atInstallation<Rest>(act: (world: World, installation: Installation, rest: Rest) => void) {
  return (world: World, command: At & Rest) => {
    const installation = installationOf(world, command.at)
    installation.started = true
    act(world, installation, command)
  }
}

interface OfProcess {
  process: Process
}

function atProcess<Rest>(act: (world: World, installation: Installation, rest: Rest & OfProcess) => void) {
  return atInstallation((world, installation, command: { process: number } & Omit<Rest, 'process'>) => {
    const { processes } = installation
    const process = processes[command.process % processes.length]
    if (process) act(world, installation, { ...command, process } as Rest & OfProcess)
  })
}

interface OfCall extends OfProcess {
  call: Process['calls'][number]
}

function atCall<Rest>(act: (world: World, installation: Installation, rest: Rest & OfCall) => void) {
  return atProcess(
    (world, installation, command: { process: Process; call: number } & Omit<Rest, keyof OfCall>) => {
      const { calls } = command.process
      const call = calls[command.call % Math.max(1, calls.length)]
      if (call) act(world, installation, { ...command, call } as unknown as Rest & OfCall)
    },
  )
}

/** An edit is accepted: from now on it is never forgotten. */
function accept({ archive, accepted, owner }: Installation, { id, price, text, form }: Edit): void {
  const edit: Edit = { id }
  if (price !== undefined) edit.price = price
  if (text !== undefined) edit.text = text
  if (form !== undefined) edit.form = form
  archive.push(edit)
  accepted.set(id, editedDocument(accepted.get(id), edit, { owner, version: archive.length }))
}

export function importEdits(world: World, installation: Installation, count: number): void {
  const { rules, now } = world
  const { owner, archive } = installation
  transact(world, installation, (mirror) => {
    const edits = archive.slice(mirror.applied, mirror.applied + count)
    for (const edit of edits) commitEdit(mirror, edit, { rules, owner, now })
  })
}

/** The operator has a product sent again. */
function resync(world: World, installation: Installation, { id }: { id: string }): void {
  const { now } = world
  transact(world, installation, (mirror) => {
    const row = mirror.rows.get(id)
    if (!row) return
    row.acknowledged = ''
    row.dead = null
    ensureNumbered(mirror, row, { lane: 'new', now })
  })
}

/** All that the loop does in one turn, with nothing between. */
export function turn(world: World, installation: Installation, beforeExec?: () => void): void {
  const { loop } = installation
  if (loop.state === 'compare') compare(world, installation)
  if (loop.state === 'repair') stepRepair(world, installation)
  else if (loop.state === 'start-over') stepStartOver(world, installation)
  else if (loop.state === 'run') work(world, installation, beforeExec)
}

function work(world: World, installation: Installation, beforeExec?: () => void): void {
  const { loop } = installation
  if (world.rules['a pause is told again']) tellPause(world, installation)
  // What is due gets no number before Redis was found to belong to the mirror.
  if (!mayAct(world, installation)) return
  stepNumber(world, installation)
  // Looked at once: what the drain gives a place is offered in the next turn.
  const offers = hasOffers(world, installation)
  // Only then the beat is raised.
  const reports = hasReports(world, installation)
  if (!offers && !reports) return
  const wasRaised = loop.beat === 'raised'
  raiseBeat(world, installation)
  if (!wasRaised) raiseBeat(world, installation)
  loop.wasUrgent = !loop.wasUrgent && offers && isBehind(world, installation, 'urgent')
  const among = loop.wasUrgent ? (['urgent'] as const) : lanes
  for (let step = 0; step < 3 && reports && !loop.wasUrgent; step++) stepDrain(world, installation)
  if (!offers) return
  stepPump(world, installation, among)
  if (loop.pump) {
    beforeExec?.()
    stepPump(world, installation, among)
  }
  if (loop.wasUrgent) return
  stepServe(world, installation)
  if (loop.serve) stepServe(world, installation)
}
