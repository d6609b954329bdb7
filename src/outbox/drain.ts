import type { ProductId } from '../lib/brand.ts'
import type { Drained } from '../mirror/loop-model.ts'
import type { DeadLetter } from '../mirror/model.ts'
import { checkSession, type LoopAccess, numbersOf, OutboxMovedError } from './loop-access.ts'
import { emptyList, type PackedField, type PackedList, unpackFields } from './packed-list.ts'
import type { RedisState } from './redis-state.ts'

const digestBytes = 16
const heldMark = '1'.charCodeAt(0)
const fieldsMax = 2_000
/** What is to be offered goes before so many acknowledgements, for `drainAfterMs`. */
const fieldsKept = 20_000
/** They come in no order: each transaction writes pages all over the tables, many fields hardly more than a few. */
const partsMax = { alone: 50, besideOffers: 5 }

/** What Redis tells at one moment: the next acknowledgements, and all dead letters. `cursor`: `0` after the last part. */
export interface DrainedPart extends Pick<Drained, 'positions'> {
  cursor: string
  acknowledged: PackedList
  letters: PackedList
}

export async function readDrained(
  { connection, scripts, session }: LoopAccess,
  cursor: string,
): Promise<DrainedPart> {
  const answer = (await scripts.run(connection, 'drain', [session, cursor, fieldsMax])) as unknown[]
  if (answer.length === 0) throw new OutboxMovedError('another process has taken over')
  const [next, acknowledged, marks, letters, letterMarks, positions] = answer as [
    ...[cursor: Buffer, acknowledged: Buffer, marks: Buffer, letters: Buffer, letterMarks: Buffer],
    positions: unknown[],
  ]
  return {
    cursor: next.toString(),
    acknowledged: { packed: acknowledged, marks },
    letters: { packed: letters, marks: letterMarks },
    positions: numbersOf(positions),
  }
}

/** Exactly what was read; what has changed since stays. */
export async function removeDrained(
  { connection, scripts, session }: LoopAccess,
  { acknowledged = emptyList, letters = emptyList }: Partial<Pick<DrainedPart, 'acknowledged' | 'letters'>>,
): Promise<void> {
  const lists = [acknowledged, letters]
  if (lists.every(({ marks }) => marks.length === 0)) return
  const args = lists.flatMap(({ packed, marks }) => [packed, marks])
  checkSession(await scripts.run(connection, 'drained', [session, ...args]))
}

type Reports = Pick<RedisState, 'acknowledged' | 'dead' | 'refused'>

/**
 * Takes what was acknowledged, doubted, dropped and refused over into the mirror, durably, and then out of Redis. Repeating
 * any part of it changes nothing.
 */
export class Drain {
  readonly #access: LoopAccess
  /** Dead letters that Redis keeps although the mirror was told, since they may be taken back; products refused by then. */
  #told = { letters: 0, refused: 0 }
  #cursor = '0'
  #ranAt = Number.NEGATIVE_INFINITY

  constructor(access: LoopAccess) {
    this.#access = access
  }

  /** Whether Redis has anything for the mirror, by the number of its entries. */
  hasWork({ acknowledged, dead, refused }: Reports): boolean {
    const { letters, refused: known } = this.#told
    // One letter may have taken the place of another.
    return acknowledged > 0 || dead !== letters || (dead > 0 && refused !== known)
  }

  /** Whether that comes before what is to be offered: many acknowledgements together are taken over in half the time. */
  isUrgent(reports: Reports): boolean {
    const { clock, drainAfterMs } = this.#access
    const isLate = clock.monotonic() - this.#ranAt >= drainAfterMs
    return isLate || reports.acknowledged >= fieldsKept || this.hasWork({ ...reports, acknowledged: 0 })
  }

  /** Takes over as much as one transaction of the mirror is good for. */
  async run(
    { acknowledged: waiting, refused }: Reports,
    how: keyof typeof partsMax = 'alone',
  ): Promise<void> {
    const { mirror, clock } = this.#access
    this.#ranAt = clock.monotonic()
    const parts: DrainedPart[] = []
    for (let isLast = false; !isLast; ) {
      const part = await readDrained(this.#access, this.#cursor)
      this.#cursor = part.cursor
      parts.push(part)
      isLast = this.#cursor === '0' || parts.length >= Math.min(partsMax[how], waiting / fieldsMax)
    }
    // Nothing is offered meanwhile: positions and letters of the last part are those of all.
    const { letters, positions } = parts.at(-1) as DrainedPart
    const acknowledged = parts.flatMap((part) => unpackFields(part.acknowledged))
    const dead = unpackFields(letters).map(toDead)
    if (acknowledged.length > 0 || dead.length > 0)
      mirror.drain({ ...toDrained(acknowledged), dead, positions }, clock.now())
    mirror.keepBeat()
    await removeDrained(this.#access, { letters })
    await Promise.all(parts.map((part) => removeDrained(this.#access, { acknowledged: part.acknowledged })))
    this.#told = { letters: dead.filter(({ held }) => held).length, refused }
  }
}

/** A digest, nothing for a doubt, or `=` of an offer that was dropped. */
function toDrained(fields: readonly PackedField[]): Required<Pick<Drained, 'acknowledged' | 'dropped'>> {
  const acknowledged: { productId: ProductId; digest: Buffer | undefined; held: boolean }[] = []
  const dropped: { productId: ProductId; held: boolean }[] = []
  for (const { id, value, mark } of fields) {
    const product = { productId: id as ProductId, held: mark === heldMark }
    if (value.length > 0 && value.length < digestBytes) dropped.push(product)
    else acknowledged.push({ ...product, digest: value.length === 0 ? undefined : value })
  }
  return { acknowledged, dropped }
}

function toDead({ id, value, mark }: PackedField): Required<Drained>['dead'][number] {
  return { letter: parseLetter(id, value), digest: value.subarray(0, digestBytes), held: mark === heldMark }
}

/** `letter`: 16 bytes of digest, then JSON. */
function parseLetter(productId: string, letter: Buffer): DeadLetter {
  const fields = JSON.parse(letter.subarray(digestBytes).toString('utf8')) as Partial<DeadLetter>
  const { reason = '', status = null, requestId = null, at = '' } = fields
  return { productId, reason, status, requestId, at }
}
