import { type Finding, isNode, type Module, type Node, nameOf, walk } from './module.ts'

interface Export {
  name: string
  line: number
  isType: boolean
}

/**
 * Names that src/ exports and nobody imports. A type also counts as used when its own file uses it: it is then part of
 * the shape of something else. Files that are run or published, and files that code names by their path (workers),
 * keep their exports.
 */
export function checkDeadExports(modules: readonly Module[], entryPoints: readonly string[]): Finding[] {
  const used = collectUses(modules)
  const whole = new Set(entryPoints)
  for (const module of modules) for (const path of namedByPath(module)) whole.add(path)
  return modules
    .filter(({ path }) => path.startsWith('src/') && !whole.has(path) && !used.has(`${path} *`))
    .flatMap((module) =>
      readExports(module)
        .filter(
          ({ name, isType }) => !used.has(`${module.path} ${name}`) && !(isType && usedInside(module, name)),
        )
        .map(({ name, line }) => ({
          file: module.path,
          line,
          rule: 'dead-export',
          message: `${name} is exported and imported nowhere; delete it, or the word export`,
        })),
    )
}

function collectUses(modules: readonly Module[]): Set<string> {
  return new Set(
    modules.flatMap(({ imports }) =>
      imports.flatMap(({ target, names }) => names.map((name) => `${target} ${name}`)),
    ),
  )
}

function readExports({ program, lineAt }: Module): Export[] {
  const statements = ((program?.body as Node[] | undefined) ?? []).filter(
    ({ type }) => type === 'ExportNamedDeclaration',
  )
  return statements.flatMap((statement) => {
    const declaration = statement.declaration
    const specifiers = (statement.specifiers as Node[] | undefined) ?? []
    const names = isNode(declaration)
      ? declaredNames(declaration)
      : specifiers.map((one) => nameOf(one.exported as Node))
    const isType = statement.exportKind === 'type'
    return names.map((name) => ({ name, line: lineAt(statement.start), isType }))
  })
}

/** Functions, classes and types have an id; `const` has declarators, whose patterns may bind several names. */
function declaredNames(declaration: Node): string[] {
  if (isNode(declaration.id)) return [nameOf(declaration.id)]
  return ((declaration.declarations as Node[] | undefined) ?? []).flatMap(({ id }) => boundNames(id))
}

function boundNames(pattern: unknown): string[] {
  if (!isNode(pattern)) return []
  if (pattern.type === 'Identifier') return [nameOf(pattern)]
  const parts = (pattern.properties ?? pattern.elements ?? [pattern.value ?? pattern.argument]) as unknown[]
  return parts.flatMap(boundNames)
}

function usedInside({ program }: Module, name: string): boolean {
  let count = 0
  if (program) {
    walk(program, (node) => {
      if (node.type === 'Identifier' && node.name === name) count += 1
    })
  }
  // Once is the declaration itself.
  return count > 1
}

/** Strings such as './split-worker.ts', with which a worker or a child process is started. */
function namedByPath({ path, program }: Module): string[] {
  const found: string[] = []
  if (!program) return found
  const imported = new Set<unknown>()
  walk(program, (node) => {
    if (isNode(node.source)) imported.add(node.source)
    const value = node.type === 'Literal' && !imported.has(node) ? node.value : undefined
    if (typeof value !== 'string' || !/^\.{1,2}\/.*\.ts$/.test(value)) return
    found.push(new URL(value, `file:///${path}`).pathname.slice(1))
  })
  return found
}
