import type { ProductId } from '../lib/brand.ts'
import type { Drained } from '../mirror/loop-model.ts'
import type { DeadLetter } from '../mirror/model.ts'
import { checkSession, type LoopAccess, numbersOf, OutboxMovedError } from './loop-access.ts'
import type { RedisState } from './redis-state.ts'
import type { ScriptArgument } from './scripts/scripts.ts'

const digestBytes = 16
const heldMark = '1'.charCodeAt(0)
const fieldsMax = 2_000
/** What is to be offered goes before so many acknowledgements, for `drainAfterMs`. */
const fieldsKept = 20_000
/** They come in no order: each transaction writes pages all over the tables, many fields hardly more than a few. */
const partsMax = { alone: 50, besideOffers: 5 }

/** One field of Redis. `held`: something of the product is under way there, so it keeps its place. */
interface Field {
  id: ProductId
  /** The id as it came. */
  key: Buffer
  value: Buffer
  held: boolean
}

interface Part extends Pick<Drained, 'positions'> {
  acknowledged: readonly Field[]
  letters: readonly Field[]
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
    const parts: Part[] = []
    for (let isLast = false; !isLast; ) {
      parts.push(await this.#read())
      isLast = this.#cursor === '0' || parts.length >= Math.min(partsMax[how], waiting / fieldsMax)
    }
    // Nothing is offered meanwhile: positions and letters of the last part are those of all.
    const { letters, positions } = parts.at(-1) as Part
    const acknowledged = parts.flatMap((part) => part.acknowledged)
    if (acknowledged.length > 0 || letters.length > 0)
      mirror.drain({ ...toDrained(acknowledged), dead: letters.map(toDead), positions }, clock.now())
    mirror.keepBeat()
    await this.#remove([], letters)
    await Promise.all(parts.map((part) => this.#remove(part.acknowledged, [])))
    this.#told = { letters: letters.filter(({ held }) => held).length, refused }
  }

  /** The next part, and all letters. */
  async #read(): Promise<Part> {
    const { connection, scripts, session } = this.#access
    const answer = (await scripts.run(connection, 'drain', [session, this.#cursor, fieldsMax])) as unknown[]
    if (answer.length === 0) throw new OutboxMovedError('another process has taken over')
    const [cursor, acknowledged, marks, letters, letterMarks, positions] = answer as [
      ...[cursor: Buffer, acknowledged: Buffer[], marks: Buffer, letters: Buffer[], letterMarks: Buffer],
      positions: unknown[],
    ]
    this.#cursor = cursor.toString()
    return {
      acknowledged: fieldsOf(acknowledged, marks),
      letters: fieldsOf(letters, letterMarks),
      positions: numbersOf(positions),
    }
  }

  async #remove(acknowledged: readonly Field[], letters: readonly Field[]): Promise<void> {
    const { connection, scripts, session } = this.#access
    if (acknowledged.length === 0 && letters.length === 0) return
    const fields = [...acknowledged, ...letters]
    const marks = fields.map(({ held }) => (held ? '1' : '0')).join('')
    const args: ScriptArgument[] = [session, acknowledged.length, marks]
    for (const { key, value } of fields) args.push(key, value)
    checkSession(await scripts.run(connection, 'drained', args))
  }
}

/** `list`: id and value of each in turn; `marks`: a 1 for each that is held. */
function fieldsOf(list: readonly Buffer[], marks: Buffer): Field[] {
  return Array.from(marks, (mark, index) => {
    const [key, value] = list.slice(2 * index, 2 * index + 2) as [Buffer, Buffer]
    return { id: key.toString() as ProductId, key, value, held: mark === heldMark }
  })
}

/** A digest, nothing for a doubt, or `=` of an offer that was dropped. */
function toDrained(fields: readonly Field[]): Pick<Drained, 'acknowledged' | 'dropped'> {
  const [dropped, known] = [fields.filter(isDropped), fields.filter((field) => !isDropped(field))]
  return {
    acknowledged: known.map(({ id: productId, value, held }) => {
      return { productId, digest: value.length === 0 ? undefined : value, held }
    }),
    dropped: dropped.map(({ id: productId, held }) => ({ productId, held })),
  }
}

function isDropped({ value }: Field): boolean {
  return value.length > 0 && value.length < digestBytes
}

function toDead({ id, value, held }: Field): Required<Drained>['dead'][number] {
  return { letter: parseLetter(id, value), digest: value.subarray(0, digestBytes), held }
}

/** `letter`: 16 bytes of digest, then JSON. */
function parseLetter(productId: string, letter: Buffer): DeadLetter {
  const fields = JSON.parse(letter.subarray(digestBytes).toString('utf8')) as Partial<DeadLetter>
  const { reason = '', status = null, requestId = null, at = '' } = fields
  return { productId, reason, status, requestId, at }
}
