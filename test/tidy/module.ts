import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseSync } from 'vite'

/** A node of the syntax tree (ESTree with TypeScript's additions). */
export interface Node {
  type: string
  start: number
  end: number
  [key: string]: unknown
}

/** One imported module, and what is taken from it. */
export interface Import {
  /** As written. */
  specifier: string
  /** Path inside the project for a relative specifier, the package's name for a package, `node:…` for a builtin. */
  target: string
  line: number
  typeOnly: boolean
  /** Imported names; `*` when the whole namespace is taken. Empty for a bare import. */
  names: string[]
}

/** One source file, read and parsed. Files that are neither TypeScript nor JavaScript have no `program`. */
export interface Module {
  /** From the project's root, with `/`. */
  path: string
  text: string
  lines: string[]
  program: Node | undefined
  comments: { value: string; line: number }[]
  imports: Import[]
  lineAt(offset: number): number
}

export interface Finding {
  file: string
  line: number
  rule: string
  /** What was found and what to do instead. */
  message: string
}

const parsed = /\.(ts|mjs)$/

/** Every source file below the given folders of the project. */
export function readModules(root: string, folders: readonly string[]): Module[] {
  return folders.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .map((name) => `${folder}/${name.replaceAll('\\', '/')}`)
      .filter((path) => /\.(ts|mjs|lua)$/.test(path))
      .sort()
      .map((path) => parseModule(path, readFileSync(join(root, path), 'utf8'))),
  )
}

export function parseModule(path: string, text: string): Module {
  const lines = text.split('\n')
  if (lines.at(-1) === '') lines.pop()
  const lineStarts = [0]
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) lineStarts.push(at + 1)
  const lineAt = (offset: number) => lineStarts.findLastIndex((start) => start <= offset) + 1
  if (!parsed.test(path)) return { path, text, lines, program: undefined, comments: [], imports: [], lineAt }
  const result = parseSync(path, text)
  const error = result.errors[0]
  if (error) throw new Error(`${path} cannot be parsed: ${error.message}`)
  const program = result.program as unknown as Node
  return {
    path,
    text,
    lines,
    program,
    comments: result.comments.map(({ value, start }) => ({ value, line: lineAt(start) })),
    imports: readImports(program, path, lineAt),
    lineAt,
  }
}

/** Visits every node, parents first. */
export function walk(node: Node, visit: (node: Node) => void): void {
  visit(node)
  for (const value of Object.values(node)) {
    for (const child of Array.isArray(value) ? value : [value]) if (isNode(child)) walk(child, visit)
  }
}

export function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && typeof (value as { type?: unknown }).type === 'string'
}

function readImports(program: Node, path: string, lineAt: (offset: number) => number): Import[] {
  const found: Import[] = []
  walk(program, (node) => {
    // Declarations carry it as `source`, `import('…')` as an expression too, and as a type as well.
    const source = node.source
    if (!isNode(source) || typeof source.value !== 'string') return
    const read = importReaders[node.type]?.(node)
    if (!read) return
    const specifier = source.value
    found.push({ ...read, specifier, target: resolveTarget(path, specifier), line: lineAt(node.start) })
  })
  return found
}

type Read = Pick<Import, 'typeOnly' | 'names'>

const importReaders: Record<string, (node: Node) => Read> = {
  ImportDeclaration: (node) => readClause(node, 'importKind', 'imported'),
  ExportNamedDeclaration: (node) => readClause(node, 'exportKind', 'local'),
  ExportAllDeclaration: (node) => ({ typeOnly: node.exportKind === 'type', names: ['*'] }),
  ImportExpression: () => ({ typeOnly: false, names: ['*'] }),
  TSImportType: () => ({ typeOnly: true, names: ['*'] }),
}

function readClause(node: Node, kind: string, nameKey: string): Read {
  const specifiers = (node.specifiers as Node[] | undefined) ?? []
  const allTypes = specifiers.length > 0 && specifiers.every((specifier) => specifier[kind] === 'type')
  return {
    typeOnly: node[kind] === 'type' || allTypes,
    names: specifiers.map((specifier) => {
      if (specifier.type === 'ImportDefaultSpecifier') return 'default'
      return isNode(specifier[nameKey]) ? nameOf(specifier[nameKey]) : '*'
    }),
  }
}

/** The text of an identifier or of a string in its place. */
export function nameOf(node: Node): string {
  return String(node.name ?? node.value)
}

function resolveTarget(path: string, specifier: string): string {
  if (specifier.startsWith('node:')) return specifier
  if (specifier.startsWith('.')) return new URL(specifier, `file:///${path}`).pathname.slice(1)
  return specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/')
}
