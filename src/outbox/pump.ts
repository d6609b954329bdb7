import type { Lane } from '../catalog/model.ts'
import type { ProductId } from '../lib/brand.ts'
import type { Place } from '../mirror/loop-model.ts'
import { type RedisBatch, readRedisTime } from '../redis/connection.ts'
import { lanes } from './compare.ts'
import { type LoopAccess, OutboxMovedError } from './loop-access.ts'
import type { Offered } from './model.ts'
import type { ScriptArgument } from './scripts/scripts.ts'
import { laneCodes } from './scripts/scripts.ts'

/** One transaction: it blocks Redis for some milliseconds. */
const portionBytesMax = 2_000_000
export const portionRowsMax = 1_000
/** So few go through the script: to ask what Redis holds of them would take as long. */
const fewRows = 16
/** The same without documents. */
const bareRowsMax = 4_000

/** So many new products at once are part of many: so long, or until their import ends, calls wait for more (`claim.lua`). */
export const manyRows = 100
const manyComeForMs = 1_000

const kindCodes = { change: 'c', doubt: 'd', undone: 'u', withdrawn: 'w' } as const

/** What Redis says of lanes, read after guard and positions are watched. */
export interface LaneState {
  positions: Readonly<Record<Lane, number>>
  /** Of the documents offered, by lane. */
  bytes: Readonly<Record<Lane, number>>
  /** Of the documents that echoes wait with. */
  echoBytes: number
  /** The first products whose echo is due and has no document. */
  requests: readonly ProductId[]
  /** Dead letters. */
  dead: number
  /** A process that reads documents in Redis makes calls. */
  isRead: boolean
}

/** Whether there is anything to offer of the lane. */
export function isBehind(access: LoopAccess, state: LaneState, lane: Lane): boolean {
  const { mirror, pendingBytes } = access
  const [last, after] = [mirror.readIdentity().last[lane], positionOf(access, state, lane)]
  if (lane === 'new') {
    if (isPositionLate(access, state)) return true
    if (last > after && takesNew(access, state) && mirror.newCalls.next(after).for === 'call') return false
  }
  return last > after && state.bytes[lane] < pendingBytes
}

/** The position in Redis follows when nothing is on its way without Redis. */
function isPositionLate({ mirror }: LoopAccess, { positions }: LaneState): boolean {
  const position = mirror.newCalls.positionFrom(positions.new)
  return position > positions.new && mirror.newCalls.settledUpTo(position) === position
}

/** Up to which number the places of the lane are offered, or taken by calls of this process. */
function positionOf({ mirror }: LoopAccess, { positions }: LaneState, lane: Lane): number {
  return lane === 'new' ? mirror.newCalls.positionFrom(positions.new) : positions[lane]
}

/** Whether new products of which Redis knows nothing wait for calls of this process: none that reads them in Redis makes calls. */
export function takesNew(access: LoopAccess, state: LaneState): boolean {
  return !needsDocuments(access, state) && access.mirror.newCalls.areMade
}

/** Whether there is anything to offer. */
export function hasOffers(access: LoopAccess, state: LaneState): boolean {
  if (lanes.some((lane) => isBehind(access, state, lane))) return true
  return state.requests.length > 0 && state.echoBytes < echoBytesMax(access.delivery)
}

/** Where Redis is short of memory: without documents, by who delivers in the process that has the mirror. */
export function canAnswer({ isDelivering }: LoopAccess, { requests }: LaneState): boolean {
  return isDelivering === true && requests.length > 0
}

/**
 * Offers the next portion behind Redis' positions, urgent first, and answers requests of echoes, in one transaction that
 * ends the WATCH. What urgent places leave of a portion others take, unless `among` leaves them out; where it names no lane,
 * requests are answered without documents. Nothing is offered that the mirror has not noted durably as offered. Answers what
 * was offered, if anything; the beat of the turn is to be kept then.
 */
export async function pump(
  access: LoopAccess,
  state: LaneState,
  among: readonly Lane[],
): Promise<Offered | undefined> {
  const batch = access.connection.multi()
  const offered = await appendNext(access, batch, { state, among })
  const isBare = among.length === 0
  const answered = (isBare || among === lanes) && appendAnswers(access, batch, { state, isBare })
  if (!offered.urgent && !offered.others && !answered) return undefined
  const answer = await batch.exec()
  if (!answer) throw new OutboxMovedError('the guard or the positions changed')
  for (const [error] of answer) if (error) throw error
  access.mirror.newCalls.noteOffered(offered.position)
  // An echo may have its document now.
  return { urgent: offered.urgent, others: offered.others || answered }
}

async function appendNext(
  access: LoopAccess,
  batch: RedisBatch,
  { state, among }: { state: LaneState; among: readonly Lane[] },
): Promise<Offered & { position: number }> {
  const { newCalls } = access.mirror
  // What is on its way without Redis gets another number when its call ends.
  const canGo = ({ productId }: Place) => !newCalls.awaits(productId)
  const room = needsDocuments(access, state)
    ? { bytes: portionBytesMax, rows: portionRowsMax }
    : { bytes: Number.POSITIVE_INFINITY, rows: bareRowsMax }
  const offered = { urgent: false, others: false, position: 0 }
  for (const lane of among) {
    const places = isBehind(access, state, lane) ? readPortion(access, { lane, state, room }) : undefined
    const isLate = lane === 'new' && isPositionLate(access, state)
    if (places === undefined && !isLate) continue
    const position =
      places === undefined ? positionOf(access, state, lane) : endOf(access, state, { lane, places })
    await appendOffers(access, batch, { lane, places: (places ?? []).filter(canGo), state })
    batch.hset(access.keys.positions, lane, lane === 'new' ? newCalls.settledUpTo(position) : position)
    if (lane === 'new') offered.position = position
    offered[lane === 'urgent' ? 'urgent' : 'others'] = true
    for (const { bytes } of places ?? []) room.bytes -= bytes
    room.rows -= places?.length ?? 0
    if (room.bytes <= 0 || room.rows <= 0) break
  }
  return offered
}

/** Undefined: what comes next does not fit. */
function readPortion(
  access: LoopAccess,
  { lane, state, room }: { lane: Lane; state: LaneState; room: { bytes: number; rows: number } },
): Place[] | undefined {
  const { mirror, pendingBytes } = access
  const roomBytes = pendingBytes - state.bytes[lane]
  const isEmpty = state.bytes[lane] === 0
  if (roomBytes <= 0 && !isEmpty) return undefined
  const bytesMax = Math.min(room.bytes, roomBytes)
  const after = positionOf(access, state, lane)
  const documents = needsDocuments(access, state)
  const untilNew = lane === 'new' && takesNew(access, state)
  const places = mirror.readPlaces({ lane, after, bytesMax, rowsMax: room.rows, documents, untilNew })
  const first = places[0]?.bytes ?? 0
  return first > roomBytes && !isEmpty ? undefined : places
}

/** Numbers that nobody has any more end the lane. */
function endOf(
  access: LoopAccess,
  state: LaneState,
  { lane, places }: { lane: Lane; places: readonly Place[] },
): number {
  const { mirror } = access
  const end = places.at(-1)
  if (end) return end.number
  const after = positionOf(access, state, lane)
  const isWaiting = lane === 'new' && takesNew(access, state) && mirror.newCalls.next(after).for === 'call'
  return isWaiting ? after : mirror.readIdentity().last[lane]
}

/** Who delivers in the process that has the mirror reads them there. */
function needsDocuments({ isDelivering }: LoopAccess, { isRead }: LaneState): boolean {
  return isRead || !isDelivering
}

/**
 * A change of a product of which Redis holds nothing needs no script: only offers of this session make entries, so there
 * is none when the transaction runs, either.
 */
async function appendOffers(
  access: LoopAccess,
  batch: RedisBatch,
  { lane, places, state }: { lane: Lane; places: readonly Place[]; state: LaneState },
): Promise<void> {
  if (places.length === 0) return
  const { connection, keys, scripts, clock, newAfterMs } = access
  const now = clock.now()
  const ids = places.map(({ productId }) => productId)
  const isFew = places.length <= fewRows
  const isPlain = !isFew && state.requests.length === 0 && state.dead === 0
  const [held, redisNow] = isFew
    ? [ids, 0]
    : await Promise.all([connection.hmgetBuffer(keys.pending, ...ids), readRedisTime(connection)])
  const documents: ScriptArgument[] = []
  const pending: ScriptArgument[] = []
  const scores: ScriptArgument[] = []
  const offers: ScriptArgument[] = []
  const outdated: ProductId[] = []
  let bytesAdded = 0
  for (const [index, { productId, document, digest, bytes, kind, since }] of places.entries()) {
    const ageMs = Math.max(0, now - since)
    if (document) documents.push(productId, document)
    else if (held[index]) outdated.push(productId)
    if (kind === 'change' && isPlain && !held[index]) {
      bytesAdded += bytes
      pending.push(productId, Buffer.concat([digest, Buffer.from(`${laneCodes[lane]}${bytes}`)]))
      scores.push(redisNow - ageMs + (lane === 'new' ? newAfterMs : 0), productId)
    } else {
      offers.push(productId, digest ?? '', laneCodes[lane], kindCodes[kind], ageMs, bytes)
    }
  }
  if (documents.length > 0) batch.hset(keys.documents, ...documents)
  if (outdated.length > 0) batch.hdel(keys.documents, ...outdated)
  if (pending.length > 0) {
    batch.hset(keys.pending, ...pending)
    batch.zadd(keys[lane], ...scores)
    batch.hincrby(keys.bytes, laneCodes[lane], bytesAdded)
  }
  if (lane === 'new' && places.length >= manyRows)
    batch.hset(keys.pace, 'fillsUntil', redisNow + manyComeForMs)
  if (offers.length > 0) scripts.append(batch, 'offer', [newAfterMs, ...offers])
}

/** The import has ended: the last new products wait for no others. Safe to repeat. */
export async function endFilling({ connection, keys }: LoopAccess): Promise<void> {
  // Those behind the oldest go with it.
  const oldest = await connection.zrange(keys.new, '0', '0')
  const now = await readRedisTime(connection)
  const batch = connection.pipeline().hdel(keys.pace, 'fillsUntil')
  for (const id of oldest) batch.zadd(keys.new, 'XX', now, id)
  for (const [error] of (await batch.exec()) ?? []) if (error) throw error
}

/** Echoes that are due get the newest documents, a bounded portion at a time. */
function appendAnswers(
  { keys, scripts, mirror, delivery }: LoopAccess,
  batch: RedisBatch,
  { state, isBare }: { state: LaneState; isBare: boolean },
): boolean {
  const { requests, echoBytes } = state
  let roomBytes = isBare ? Number.POSITIVE_INFINITY : echoBytesMax(delivery) - echoBytes
  if (requests.length === 0 || roomBytes <= 0) return false
  const args: ScriptArgument[] = [0]
  const documents = mirror.readDocuments(requests)
  for (const id of requests) {
    const found = documents.get(id)
    if (found && !isBare) batch.hset(keys.documents, id, found.document)
    const bytes = found?.document.length ?? 0
    args.push(id, found?.digest ?? '', laneCodes.urgent, found ? 'e' : 'w', 0, bytes)
    roomBytes -= bytes
    if (roomBytes <= 0) break
  }
  scripts.append(batch, 'offer', args)
  return true
}

function echoBytesMax({ callBytes }: LoopAccess['delivery']): number {
  return 4 * callBytes
}
