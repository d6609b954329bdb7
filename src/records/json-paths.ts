import { type JsonListener, JsonMachine } from './json-machine.ts'
import { KeptText } from './kept-text.ts'
import { isRecordsName } from './record-names.ts'

/** Levels of keys that are looked at. */
const levelsMax = 3
const pathsMax = 1000
const keyBytesMax = 2 ** 20

interface ArrayFound {
  path: string
  holds: 'objects' | 'nothing' | 'others'
}

/** Finds the arrays in JSON, and objects used as such, for the one that may be the records. What is no JSON ends the search without a word. */
export class JsonPaths implements JsonListener {
  readonly #kept = new KeptText()
  readonly #machine = new JsonMachine(this)
  /** Keys of the open objects; undefined once an array is open. */
  readonly #keys: string[] = []
  #arrayDepth = 0
  #isOver = false
  readonly #found: ArrayFound[] = []
  readonly #maps = new JsonMaps()
  readonly #rootKeys = new Set<string>()

  write(piece: Buffer): void {
    if (this.#isOver) return
    const start = this.#machine.openKey ?? this.#kept.length
    const from = this.#kept.length - start
    this.#kept.append(piece, start)
    this.#machine.shift(start)
    this.#isOver = this.#machine.take(this.#kept.bytes, from) >= 0
    const { openKey } = this.#machine
    if (openKey !== undefined && this.#kept.length - openKey > keyBytesMax) this.#isOver = true
  }

  /** It was no JSON of one value. */
  get isBroken(): boolean {
    return this.#isOver
  }

  get rootKeys(): ReadonlySet<string> {
    return this.#rootKeys
  }

  get paths(): readonly string[] {
    return [...this.#found.map(({ path }) => path), ...this.#maps.paths]
  }

  /**
   * Where the records are: in the array at the root, in one with objects whose key tells so, in an empty one of such a
   * key, in an object that has one under each of its keys, in the first array with objects, in the first empty one.
   * What lies in such an object is part of a record.
   */
  get path(): string | undefined {
    const map = this.#maps.certain
    const arrays = this.#found.filter(({ path }) => map === undefined || !liesIn(path, map))
    const isNamed = ({ path }: ArrayFound) => path === '' || isRecordsName(path.split('.').at(-1) ?? '')
    const first = (holds: ArrayFound['holds'], named: boolean) =>
      arrays.find((array) => array.holds === holds && (!named || isNamed(array)))?.path
    return (
      first('objects', true) ??
      first('nothing', true) ??
      map ??
      first('objects', false) ??
      first('nothing', false) ??
      this.#maps.paths[0]
    )
  }

  /** Further text cannot find a better one. */
  get isCertain(): boolean {
    const path = this.path
    if (this.#isOver) return true
    if (path !== undefined && path === this.#maps.certain) return true
    return path !== undefined && this.#found.some((array) => array.path === path && array.holds === 'objects')
  }

  key(start: number, end: number, depth: number): void {
    // What the records of an object begin with stands two levels deeper than it.
    if (this.#arrayDepth > 0 || depth > levelsMax + 2) return
    const key = String(JSON.parse(this.#kept.bytes.toString('utf8', start, end)))
    this.#maps.key(key, depth)
    if (depth === 1 && this.#rootKeys.size < pathsMax) this.#rootKeys.add(key)
    this.#keys.length = depth - 1
    this.#keys.push(key)
  }

  begin(_at: number, depth: number, kind: 'object' | 'array' | 'scalar'): void {
    const last = this.#found.at(-1)
    if (this.#arrayDepth > 0) {
      if (depth === this.#arrayDepth && last?.holds === 'nothing')
        last.holds = kind === 'object' ? 'objects' : 'others'
      return
    }
    // A key with a dot cannot be told from two.
    const keys = this.#keys.slice(0, depth)
    const isPath = depth <= levelsMax && keys.every((key) => key !== '' && !key.includes('.'))
    this.#maps.begin(depth, kind, isPath ? keys : undefined)
    if (kind !== 'array') return
    this.#arrayDepth = depth + 1
    if (isPath && this.#found.length <= pathsMax) this.#found.push({ path: keys.join('.'), holds: 'nothing' })
  }

  ended(_end: number, depth: number): void {
    if (depth < this.#arrayDepth) this.#arrayDepth = 0
  }
}

function liesIn(path: string, map: string): boolean {
  return path.startsWith(map.slice(0, -1))
}

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
class JsonMaps {
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
