import {
  isAlias,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  type Pair,
  parseDocument,
  Scalar,
} from 'yaml'
import { isSecretName } from '../lib/redact.ts'
import { type ConfigPath, type ConfigProblem, formatPath, type Position } from './problems.ts'
import { type Environment, expandVariables, maskReferences, unmaskReferences } from './variables.ts'

/** Far above any real configuration; below what aliases of aliases can blow up to. */
const nodesMax = 50_000
const depthMax = 32

/** Variables of the file beside the configuration. */
export interface EnvFile {
  path: string
  variables: Environment
}

interface DocumentOptions {
  file: string
  text: string
  /** Of the process; counts before what stands in the file. */
  environment: Environment
  envFile: EnvFile
}

interface Place {
  key: Position | undefined
  value: Position
}

/**
 * A configuration file as plain data with the environment filled in, and the place of every key and value in the
 * source. Collects problems as they are found; every later step adds its own.
 */
export class ConfigDocument {
  readonly file: string
  root: unknown = undefined
  readonly problems: ConfigProblem[] = []
  readonly #environment: Environment
  readonly #ownEnvironment: Environment
  readonly #envFile: EnvFile
  readonly #places = new Map<string, Place>()
  readonly #unset = new Map<string, { path: ConfigPath; names: readonly string[] }>()
  readonly #empty = new Map<string, readonly string[]>()
  readonly #used = new Map<string, readonly string[]>()
  /** All values that name a variable, set or not. */
  readonly referring: ConfigPath[] = []
  #secretsWritten = 0
  readonly #lines = new LineCounter()
  #nodes = 0

  constructor({ file, text, environment, envFile }: DocumentOptions) {
    this.file = file
    this.#environment = { ...envFile.variables, ...environment }
    this.#ownEnvironment = environment
    this.#envFile = envFile
    const parsed = parseDocument(maskReferences(text), { lineCounter: this.#lines, prettyErrors: false })
    for (const error of [...parsed.errors, ...parsed.warnings]) {
      this.#report(this.#positionAt(error.pos[0]), '', describeYamlError(error.code, error.message))
    }
    if (this.problems.length > 0) return
    const resolve = (node: Node | null) => (isAlias(node) ? node.resolve(parsed) : node)
    this.root = this.#read({ node: parsed.contents, path: [], key: undefined, depth: 0, resolve })
  }

  /** The value at a path, undefined where there is none. */
  at(path: ConfigPath): unknown {
    let value = this.root
    for (const part of path) {
      if (typeof value !== 'object' || value === null || !Object.hasOwn(value, part)) return undefined
      value = (value as Record<string | number, unknown>)[part]
    }
    return value
  }

  /** Of the environment; undefined where it is not set. */
  variable(name: string): string | undefined {
    return Object.hasOwn(this.#environment, name) ? this.#environment[name] : undefined
  }

  /** Variables that the value at a path needs and that are not set. */
  unsetAt(path: ConfigPath): readonly string[] {
    return this.#unset.get(formatPath(path))?.names ?? []
  }

  /** Where the variables are set whose values stand at a path; `file`: the one beside the configuration, if it names them. */
  sourcesAt(path: ConfigPath): readonly { name: string; isOfProcess: boolean; file: string | undefined }[] {
    const { path: file, variables } = this.#envFile
    return (this.#used.get(formatPath(path)) ?? []).map((name) => ({
      name,
      isOfProcess: this.#ownEnvironment[name] !== undefined,
      file: Object.hasOwn(variables, name) ? file : undefined,
    }))
  }

  /** Variables that would have made the empty text at a path another one. */
  emptyAt(path: ConfigPath): readonly string[] {
    return this.#empty.get(formatPath(path)) ?? []
  }

  /** All places whose value could not be filled in from the environment. */
  unset(): readonly { path: ConfigPath; names: readonly string[] }[] {
    return [...this.#unset.values()]
  }

  /** How many secrets stand in the file itself, and not in a variable. */
  get secretsWritten(): number {
    return this.#secretsWritten
  }

  /** Where the value stands; for one that is absent, where the key of the nearest mapping around it stands. */
  positionOf(path: ConfigPath): Position {
    const place = this.#places.get(formatPath(path))
    return place?.value ?? this.keyPositionOf(path.slice(0, -1))
  }

  keyPositionOf(path: ConfigPath): Position {
    const place = this.#places.get(formatPath(path))
    if (place !== undefined) return place.key ?? place.value
    return path.length === 0 ? { line: 1, column: 1 } : this.keyPositionOf(path.slice(0, -1))
  }

  addProblem(path: ConfigPath, message: string, at: 'key' | 'value' = 'value'): void {
    this.#report(at === 'key' ? this.keyPositionOf(path) : this.positionOf(path), formatPath(path), message)
  }

  #read(visit: Visit): unknown {
    const { path, key, depth } = visit
    const position = visit.node?.range
      ? this.#positionAt(visit.node.range[0])
      : (key ?? { line: 1, column: 1 })
    this.#places.set(formatPath(path), { key, value: position })
    const node = visit.resolve(visit.node)
    this.#nodes++
    if (this.#nodes > nodesMax || depth > depthMax) {
      if (this.#nodes <= nodesMax + 1) this.addProblem(path, 'found too much nesting or too many aliases')
      this.#nodes = Math.max(this.#nodes, nodesMax + 1)
      return null
    }
    if (isScalar(node)) return this.#readScalar(node, path)
    if (isSeq<Node | null>(node)) {
      return node.items.map((item, index) =>
        this.#read({ ...visit, node: item, path: [...path, index], key: undefined, depth: depth + 1 }),
      )
    }
    if (!isMap<Node, Node | null>(node)) return null
    return Object.fromEntries(node.items.flatMap((pair) => this.#readPair(pair, visit)))
  }

  #readPair(pair: Pair<Node, Node | null>, parent: Visit): [string, unknown][] {
    const key = this.#positionAt(pair.key.range?.[0] ?? 0)
    if (!isScalar(pair.key) || pair.key.value === '__proto__') {
      const found = isScalar(pair.key) ? 'the reserved word __proto__' : 'a list or mapping'
      this.#report(key, formatPath(parent.path), `found ${found} as a key, expected another word`)
      return []
    }
    // The key as it is written: `0` and `2.0` are names here, not numbers.
    const name = unmaskReferences(pair.key.source ?? String(pair.key.value))
    const path = [...parent.path, name]
    return [[name, this.#read({ ...parent, node: pair.value, path, key, depth: parent.depth + 1 })]]
  }

  #readScalar(scalar: Scalar, path: ConfigPath): unknown {
    if (typeof scalar.value !== 'string') {
      // `0049` is a name to the one who wrote it; as a number it would lose its zeros.
      const isPadded = scalar.type === Scalar.PLAIN && /^[-+]?0\d/.test(scalar.source ?? '')
      return isPadded ? scalar.source : scalar.value
    }
    const { text, used, unset, empty, malformed } = expandVariables(scalar.value, this.#environment)
    for (const match of malformed) {
      this.addProblem(
        path,
        `found ${match}, expected \${NAME} or \${NAME:-default}; write $\${ for a literal \${`,
      )
    }
    if (text !== unmaskReferences(scalar.value) || unset.length > 0) this.referring.push(path)
    if (text !== '' && text === scalar.value && isSecret(path.at(-1), text)) this.#secretsWritten++
    if (used.length > 0) this.#used.set(formatPath(path), used)
    if (text === '' && empty.length > 0) this.#empty.set(formatPath(path), empty)
    if (unset.length > 0) this.#unset.set(formatPath(path), { path, names: unset })
    return text
  }

  #positionAt(offset: number): Position {
    const { line, col } = this.#lines.linePos(offset)
    return { line: Math.max(1, line), column: Math.max(1, col) }
  }

  #report(position: Position, path: string, message: string): void {
    this.problems.push({ file: this.file, ...position, path, message })
  }
}

interface Visit {
  node: Node | null
  path: ConfigPath
  key: Position | undefined
  depth: number
  resolve(node: Node | null): Node | null | undefined
}

/** By the name of its key, or an address with a password. */
function isSecret(key: string | number | undefined, text: string): boolean {
  return (
    key === 'passphrase' ||
    isSecretName(String(key)) ||
    /^[a-z][a-z0-9+.-]*:\/\/[^\s/@]*:[^\s/@]+@/i.test(text)
  )
}

function describeYamlError(code: string, message: string): string {
  if (code === 'DUPLICATE_KEY') return 'found the same key twice, expected it once'
  if (code === 'TAB_AS_INDENT') return 'found a tab, expected spaces for indentation'
  return `not valid YAML: ${unmaskReferences(message)}`
}
