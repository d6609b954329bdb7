import type { ProductId } from '../lib/brand.ts'
import type { Drained } from '../mirror/loop-model.ts'
import type { DeadLetter } from '../mirror/model.ts'
import { checkSession, type LoopAccess, numbersOf, OutboxMovedError } from './loop-access.ts'
import { emptyList, type PackedField, type PackedList, packFields, unpackFields } from './packed-list.ts'
import type { RedisState } from './redis-state.ts'

const digestBytes = 16
const heldMark = '1'.charCodeAt(0)
const fieldsMax = 2_000
/** Fewer acknowledgements wait for what is to be offered, up to `drainAfterMs`. From this many on, a drain is a walk. */
const fieldsKept = 20_000
/** The more are sorted at once, the closer together are the rows that a transaction changes. */
const partsMax = { alone: 50, besideOffers: 5 }
/** Of one transaction. Smaller ones let Redis do more of its work meanwhile, but wait for the disk more often. */
const rangeMax = 10_000
/** A walk goes on while this share of the products it asks for is acknowledged. Below it, a scan is quicker. */
const acknowledgedShareMin = 0.25

/** What Redis tells at one moment: the next acknowledgements, and all dead letters. `cursor`: `0` after the last part. */
export interface DrainedPart extends Pick<Drained, 'positions'> {
  cursor: string
  acknowledged: PackedList
  letters: PackedList
}

/** A part of all, or, with an empty cursor, what there is of these products. */
export async function readDrained(
  { connection, scripts, session }: LoopAccess,
  cursor: string,
  ids: readonly string[] = [],
): Promise<DrainedPart> {
  const answer = (await scripts.run(connection, 'drain', [session, cursor, fieldsMax, ...ids])) as unknown[]
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

/** What one transaction takes over. */
interface Range extends Pick<DrainedPart, 'letters' | 'positions'> {
  fields: PackedField[]
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
  /** Key of the last product that was asked for; undefined: no walk until a scan has come to its end. */
  #walked: number | undefined = 0
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

  /** Takes over a part of it, in ranges: while the mirror writes a range, Redis removes the one before. */
  async run(
    { acknowledged: waiting, refused }: Reports,
    how: keyof typeof partsMax = 'alone',
  ): Promise<void> {
    const { mirror, clock, walkFrom = fieldsKept } = this.#access
    this.#ranAt = clock.monotonic()
    const isWalk = waiting >= walkFrom && this.#walked !== undefined
    const ranges = isWalk ? this.#walk(how) : this.#scan(waiting, how)
    let removing = Promise.resolve()
    let held = 0
    try {
      for await (const { fields, letters, positions } of ranges) {
        const dead = unpackFields(letters).map(toDead)
        const seen = { ...positions, new: mirror.newCalls.positionFrom(positions.new) }
        mirror.drain({ ...toDrained(fields), dead, positions: seen }, clock.now())
        await removing
        removing = this.#remove(fields, letters)
        // It is waited for, here or below; what else fails may be told first.
        removing.catch(() => undefined)
        held = dead.filter((letter) => letter.held).length
      }
    } finally {
      await removing
    }
    this.#told = { letters: held, refused }
  }

  /**
   * Goes through the unsent products of the mirror in the order of their rows, so that each page is read and written once.
   * Redis reads the acknowledgements of the next range while this one is written.
   */
  async *#walk(how: keyof typeof partsMax): AsyncGenerator<Range> {
    const rangesMax = (partsMax[how] * fieldsMax) / rangeMax
    let asked = this.#ask()
    for (let count = 1; ; count += 1) {
      const { keys, isEnd } = asked
      const told = await asked.told
      const fields = told.flatMap(({ acknowledged }) => unpackFields(acknowledged))
      for (const field of fields) field.key = keys.get(field.id as ProductId)
      const isOver = isEnd || fields.length < keys.size * acknowledgedShareMin
      const isLast = isOver || count >= rangesMax
      if (isOver) this.#walked = undefined
      else if (!isLast) asked = this.#ask()
      const last = told.at(-1)
      if (last) yield { ...last, fields, letters: isLast ? last.letters : emptyList }
      if (isLast) return
    }
  }

  #ask() {
    const keys = this.#access.mirror.readUnsent(this.#walked ?? 0, rangeMax)
    for (const key of keys.values()) this.#walked = key
    const parts = rangesOf([...keys.keys()], fieldsMax)
    const told = Promise.all(parts.map((ids) => readDrained(this.#access, '', ids)))
    // When writing the range before fails, nobody waits for this one.
    told.catch(() => undefined)
    return { keys, told, isEnd: keys.size < rangeMax }
  }

  /** Redis tells of products in no order: what is read at once is sorted first. */
  async *#scan(waiting: number, how: keyof typeof partsMax): AsyncGenerator<Range> {
    const { fields, letters, positions } = await this.#read(waiting, how)
    const ranges = rangesOf(fields, rangeMax)
    // Letters follow all acknowledgements: a doubt takes an earlier refusal back.
    for (const range of ranges)
      yield { fields: range, letters: range === ranges.at(-1) ? letters : emptyList, positions }
  }

  async #read(waiting: number, how: keyof typeof partsMax) {
    const parts = Math.min(partsMax[how], waiting / fieldsMax)
    const fields: PackedField[] = []
    let reading = readDrained(this.#access, this.#cursor)
    for (let count = 1; ; count += 1) {
      const { acknowledged, cursor, letters, positions } = await reading
      this.#cursor = cursor
      if (cursor === '0') this.#walked = 0
      const isLast = cursor === '0' || count >= parts
      if (!isLast) reading = readDrained(this.#access, cursor)
      // While Redis reads the next part.
      fields.push(...inOrder(unpackFields(acknowledged)))
      // Nothing is offered meanwhile: positions and letters of the last part are those of all.
      if (isLast) return { fields: inOrder(fields), letters, positions }
    }
  }

  async #remove(fields: readonly PackedField[], letters: PackedList): Promise<void> {
    const lists = rangesOf(fields, fieldsMax).map((range) => ({ acknowledged: packFields(range) }))
    await Promise.all([{ letters }, ...lists].map((list) => removeDrained(this.#access, list)))
  }
}

/**
 * In the order of ids: neighbours in a table are read and written together. Redis may tell of a product twice; then the later
 * value counts.
 */
export function inOrder(fields: PackedField[]): PackedField[] {
  fields.sort(({ id: one }, { id: other }) => (one < other ? -1 : one === other ? 0 : 1))
  return fields.filter(({ id }, at) => id !== fields[at + 1]?.id)
}

/** At least one. */
function rangesOf<T>(items: readonly T[], max: number): T[][] {
  const count = Math.max(1, Math.ceil(items.length / max))
  return Array.from({ length: count }, (_, at) => items.slice(at * max, (at + 1) * max))
}

/** A digest, nothing for a doubt, or `=` of an offer that was dropped. */
function toDrained(fields: readonly PackedField[]): Required<Pick<Drained, 'acknowledged' | 'dropped'>> {
  const acknowledged: Required<Drained>['acknowledged'][number][] = []
  const dropped: Required<Drained>['dropped'][number][] = []
  for (const { id, key, value, mark } of fields) {
    const product = { productId: id as ProductId, key, held: mark === heldMark }
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
