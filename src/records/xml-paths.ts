import { StringDecoder } from 'node:string_decoder'
import { SaxesParser, type SaxesTagNS } from 'saxes'
import { depthMax } from './limits.ts'
import { isRecordName, recordNameOf } from './record-names.ts'
import { atomKeyOf } from './xml-items.ts'
import { rejectsInstruction } from './xml-splitter.ts'

/** Levels of elements that are looked at, the root counted. */
const levelsMax = 4
const pathsMax = 1000
/** What comes later needs a configured path: reading on would take seconds. */
const elementsMax = 200_000
/** Between two tags, or in one. */
const quietBytesMax = 2 ** 20

interface ElementFound {
  path: string
  name: string
  count: number
  /** How many have child elements or attributes. */
  withParts: number
  characters: number
}

/** Where records usually are, by the root. */
const usual: ReadonlyMap<string, string> = new Map([
  ['rss', 'rss/channel/item'],
  ['feed', 'feed/entry'],
  ['rdf:RDF', 'rdf:RDF/item'],
])

/** Finds the elements of XML that may be records. What is not well-formed ends the search without a word. */
export class XmlPaths {
  readonly #parser = new SaxesParser({
    xmlns: true,
    resolvePrefix: (prefix: string) => `undeclared:${prefix}`,
  })
  readonly #decoder = new StringDecoder('utf8')
  readonly #found = new Map<string, ElementFound>()
  readonly #open: { path: string; start: number; hasParts: boolean }[] = []
  #root: string | undefined
  /** What a file of rejected records says itself. */
  #said: string | undefined
  #isOver = false
  #isBroken = false
  #elements = 0
  #quietBytes = 0

  constructor() {
    this.#parser.on('error', (error) => {
      throw error
    })
    this.#parser.on('processinginstruction', ({ target, body }) => {
      if (target === rejectsInstruction && body.trim() !== '') this.#said ??= body.trim()
    })
    this.#parser.on('opentag', (tag) => this.#enter(tag))
    this.#parser.on('closetag', () => this.#leave())
  }

  write(piece: Buffer): void {
    if (this.#isOver) return
    this.#quietBytes += piece.length
    try {
      this.#parser.write(this.#decoder.write(piece))
      this.#isOver = this.#quietBytes > quietBytesMax || this.#elements > elementsMax
    } catch {
      // The first pass names what is wrong.
      this.#isOver = this.#isBroken = true
    }
  }

  /** What was read is not well-formed. */
  get isBroken(): boolean {
    return this.#isBroken
  }

  get paths(): readonly string[] {
    return [...this.#found.keys()]
  }

  /** Where the records are. Undefined when no element looks like one. */
  get path(): string | undefined {
    if (this.#said !== undefined && this.#found.has(this.#said)) return this.#said
    const expected = usual.get(this.#root ?? '')
    if (expected !== undefined && (this.#found.has(expected) || !this.#best)) return expected
    return this.#best?.path ?? this.#ofEmptyRoot
  }

  /** Further text cannot find a better one. */
  get isCertain(): boolean {
    const { path } = this
    return (
      this.#isOver ||
      (path !== undefined &&
        (path === this.#said ||
          path === usual.get(this.#root ?? '') ||
          (this.#best?.path === path && isRecordName(this.#best.name))))
    )
  }

  /** Elements with a telling name, else repeated ones with parts; of them those with most text. */
  get #best(): ElementFound | undefined {
    const elements = [...this.#found.values()].filter(
      ({ path, withParts }) => path.includes('/') && withParts > 0,
    )
    const named = elements.filter(({ name }) => isRecordName(name))
    const candidates = named.length > 0 ? named : elements.filter(({ count }) => count > 1)
    const outermost = candidates.filter(
      ({ path }) => !candidates.some((other) => path.startsWith(`${other.path}/`)),
    )
    return outermost.reduce<ElementFound | undefined>(
      (best, element) => (best === undefined || element.characters > best.characters ? element : best),
      undefined,
    )
  }

  get #ofEmptyRoot(): string | undefined {
    const name = this.#root === undefined ? undefined : recordNameOf(this.#root)
    return name === undefined || this.#found.size > 1 ? undefined : `${this.#root}/${name}`
  }

  #enter(tag: SaxesTagNS): void {
    this.#elements += 1
    this.#quietBytes = 0
    if (this.#open.length > depthMax) throw new Error('too many elements lie in each other')
    const parent = this.#open.at(-1)
    if (parent !== undefined) parent.hasParts = true
    const path = parent === undefined ? atomKeyOf(tag) : `${parent.path}/${atomKeyOf(tag)}`
    this.#root ??= path
    const isDeep = this.#open.length >= levelsMax
    this.#open.push({
      path: isDeep ? (parent?.path ?? '') : path,
      start: this.#parser.position,
      hasParts: Object.values(tag.attributes).some(
        ({ prefix, name }) => prefix !== 'xmlns' && name !== 'xmlns',
      ),
    })
    if (isDeep || (this.#found.size >= pathsMax && !this.#found.has(path))) return
    const found = this.#found.get(path)
    if (found !== undefined) found.count += 1
    else this.#found.set(path, { path, name: tag.local, count: 1, withParts: 0, characters: 0 })
  }

  #leave(): void {
    this.#quietBytes = 0
    const element = this.#open.pop()
    if (element === undefined || this.#open.length >= levelsMax) return
    const found = this.#found.get(element.path)
    if (found === undefined) return
    found.characters += this.#parser.position - element.start
    if (element.hasParts) found.withParts += 1
  }
}
