import { isRecordsName } from './record-names.ts'

const mapsMax = 1000

/** What is known so far of an object that may have a record under each of its keys. */
interface ObjectFound {
  /** Keys that lead to it; undefined where they cannot be written as a path. */
  keys: readonly string[] | undefined
  objects: number
  others: number
  /** Every key is a number, as lists become in PHP. */
  isNumbered: boolean
  /** What the objects under its keys begin with: records begin with the same key, and it holds no object. */
  firstKey: string | undefined
  beginAlike: boolean
}

/** Finds the objects in JSON whose keys each hold a record. Told of what lies outside of arrays. */
export class JsonMaps {
  /** Open objects, the root first. */
  readonly #open: ObjectFound[] = []
  /** An object comes before those that lie in it. */
  readonly #found: ObjectFound[] = []
  /** The next value is the first of its object. */
  #isFirst = false

  get paths(): readonly string[] {
    return this.#found.filter((one) => isMap(one)).map(pathOf)
  }

  /** The one that hardly is anything else: its keys are numbers, or its name or their count says so. */
  get certain(): string | undefined {
    const found = this.#found.find((one) => isMap(one) && isCertain(one))
    return found && pathOf(found)
  }

  key(name: string, depth: number): void {
    const own = this.#open[depth - 1]
    if (own === undefined) return
    this.#isFirst = own.objects + own.others === 0
    if (!/^\d+$/.test(name)) own.isNumbered = false
    const around = this.#open[depth - 2]
    if (!this.#isFirst || around === undefined) return
    around.firstKey ??= name
    if (around.firstKey !== name) around.beginAlike = false
  }

  begin(depth: number, kind: 'object' | 'array' | 'scalar', keys: readonly string[] | undefined): void {
    const around = this.#open[depth - 1]
    if (this.#isFirst && kind !== 'scalar') {
      const map = this.#open[depth - 2]
      if (map !== undefined) map.beginAlike = false
    }
    this.#isFirst = false
    if (around !== undefined) {
      if (kind === 'object') around.objects += 1
      else around.others += 1
    }
    this.#open.length = Math.min(depth, this.#open.length)
    if (kind !== 'object') return
    const made = { keys, objects: 0, others: 0, isNumbered: true, firstKey: undefined, beginAlike: true }
    this.#open.push(made)
    if (keys !== undefined && this.#found.length < mapsMax) this.#found.push(made)
  }
}

/** A few values that are no objects are records to be rejected. */
function isMap({ objects, others, isNumbered, beginAlike }: ObjectFound): boolean {
  if (objects === 0 || others * 10 > objects) return false
  return isNumbered || (beginAlike && objects > 1)
}

function isCertain({ keys, isNumbered, objects }: ObjectFound): boolean {
  return isNumbered || objects > 2 || isRecordsName(keys?.at(-1) ?? '')
}

function pathOf({ keys }: ObjectFound): string {
  return [...(keys ?? []), '*'].join('.')
}
