import { type Finding, isNode, type Module, type Node, nameOf, walk } from './module.ts'

interface Ban {
  rule: string
  message: string
  /** Files it holds for. */
  within: (path: string) => boolean
  /** Finds the offsets of what is banned. */
  matches: (node: Node) => boolean
}

const everywhere = () => true
const inSource = (path: string) => path.startsWith('src/')
const inTests = (path: string) => path.startsWith('test/')

/** What may reach the terminal's streams: it passes them on, or makes what it writes safe. */
const writers: ReadonlySet<string> = new Set([
  'src/cli/interrupts.ts',
  'src/cli/process.ts',
  'src/cli/bar-line.ts',
  'src/quickstart/print.ts',
])

/** Bans of syntax. Each says what to do instead. */
const bans: readonly Ban[] = [
  {
    rule: 'any',
    message: 'any switches the compiler off; use unknown and narrow it',
    within: everywhere,
    matches: ({ type }) => type === 'TSAnyKeyword',
  },
  {
    rule: 'enum',
    message: 'enum is not erasable; use an object `as const` and a union of its values',
    within: everywhere,
    matches: ({ type }) => type === 'TSEnumDeclaration',
  },
  {
    rule: 'namespace',
    message: 'a namespace is not erasable; a file is a module already',
    within: everywhere,
    // `declare module 'x'` adds to the types of a package and leaves nothing behind.
    matches: ({ type, declare, kind }) =>
      type === 'TSModuleDeclaration' && !(declare === true && kind === 'module'),
  },
  {
    rule: 'default-export',
    message: 'use a named export, so that it has one name everywhere',
    within: (path) => !/\.config\.ts$/.test(path),
    matches: ({ type }) => type === 'ExportDefaultDeclaration',
  },
  {
    rule: 'environment',
    message: 'only src/config reads the environment; take the value from the configuration',
    within: (path) => inSource(path) && !path.startsWith('src/config/') && !path.endsWith('.mjs'),
    matches: (node) => isMember(node, 'process', 'env') || importsName(node, 'node:process', 'env'),
  },
  {
    rule: 'clock',
    message: 'time is injected; take a Clock (src/lib/clock.ts) and ask it',
    within: (path) => inSource(path) && path !== 'src/lib/clock.ts',
    matches: readsTime,
  },
  {
    rule: 'output',
    message:
      'print through CommandContext, or print.ts of the quickstart: there texts are made safe for terminals',
    within: (path) => /^src\/(cli|quickstart)\/.*\.ts$/.test(path) && !writers.has(path),
    matches: (node) =>
      isMember(node, 'process', 'stdout') ||
      isMember(node, 'process', 'stderr') ||
      importsFrom(node, 'node:process') ||
      ['log', 'info', 'warn', 'error', 'debug', 'table'].some((name) => isMember(node, 'console', name)),
  },
  {
    rule: 'mock',
    message: 'our own modules are not mocked; test against the real thing or pass it in',
    within: inTests,
    matches: mocksOwnModule,
  },
  {
    rule: 'only',
    message: '.only hides all other tests; remove it',
    within: inTests,
    matches: (node) => isTestModifier(node, ['only']),
  },
]

export function checkSyntaxBans(modules: readonly Module[]): Finding[] {
  const findings: Finding[] = []
  for (const { path, program, lineAt } of modules) {
    const valid = bans.filter(({ within }) => within(path))
    if (!program) continue
    walk(program, (node) => {
      for (const { rule, message, matches } of valid) {
        if (matches(node)) findings.push({ file: path, line: lineAt(node.start), rule, message })
      }
    })
  }
  return findings
}

/** A test may be switched off only with the reason beside it. */
export function checkSkippedTests(modules: readonly Module[]): Finding[] {
  const findings: Finding[] = []
  for (const { path, program, lineAt, comments } of modules) {
    if (!program || !inTests(path)) continue
    walk(program, (node) => {
      if (!isTestModifier(node, ['skip', 'todo', 'fails'])) return
      const line = lineAt(node.start)
      if (comments.some((comment) => comment.line === line || comment.line === line - 1)) return
      const message =
        'say in a comment on this line or above why it does not run, or use skipIf with the condition'
      findings.push({ file: path, line, rule: 'skip', message })
    })
  }
  return findings
}

/** Statements at the top of a file that keep state between calls. */
export function checkModuleState(modules: readonly Module[]): Finding[] {
  return modules
    .filter(({ path }) => inSource(path))
    .flatMap(({ path, program, lineAt }) =>
      bodyOf(program)
        .map((statement) => (isNode(statement.declaration) ? statement.declaration : statement))
        .filter(({ type, kind }) => type === 'VariableDeclaration' && (kind === 'let' || kind === 'var'))
        .map(({ start }) => ({
          file: path,
          line: lineAt(start),
          rule: 'module-state',
          message: 'a module keeps no state; put it into a class or pass it in',
        })),
    )
}

/** Files that only pass on what others export. */
export function checkBarrels(modules: readonly Module[]): Finding[] {
  return modules
    .filter(
      ({ path, program }) =>
        inSource(path) && bodyOf(program).length > 1 && bodyOf(program).every(isReExport),
    )
    .map(({ path }) => ({
      file: path,
      line: 1,
      rule: 'barrel',
      message: 'this file only passes on exports; import from the files that have them',
    }))
}

function bodyOf(program: Node | undefined): Node[] {
  return (program?.body as Node[] | undefined) ?? []
}

function isReExport(statement: Node): boolean {
  return statement.type.startsWith('Export') && isNode(statement.source)
}

function isMember(node: Node, object: string, property: string): boolean {
  return node.type === 'MemberExpression' && isNamed(node.object, object) && isNamed(node.property, property)
}

function isNamed(value: unknown, name: string): boolean {
  return isNode(value) && (value.type === 'Identifier' || value.type === 'Literal') && nameOf(value) === name
}

function importsName(node: Node, source: string, name: string): boolean {
  if (!importsFrom(node, source)) return false
  return (node.specifiers as Node[]).some(({ imported }) => isNamed(imported, name))
}

function importsFrom(node: Node, source: string): boolean {
  return node.type === 'ImportDeclaration' && isNamed(node.source, source)
}

function readsTime(node: Node): boolean {
  const withoutArguments = Array.isArray(node.arguments) && node.arguments.length === 0
  const isDate = isNamed(node.callee, 'Date')
  return (
    isMember(node, 'Date', 'now') ||
    isMember(node, 'performance', 'now') ||
    isMember(node, 'process', 'hrtime') ||
    importsName(node, 'node:perf_hooks', 'performance') ||
    (node.type === 'NewExpression' && isDate && withoutArguments) ||
    (node.type === 'CallExpression' && isDate)
  )
}

function mocksOwnModule(node: Node): boolean {
  const callee = node.callee
  if (node.type !== 'CallExpression' || !isNode(callee)) return false
  if (!['mock', 'doMock'].some((name) => isMember(callee, 'vi', name))) return false
  const [first] = node.arguments as Node[]
  const named = first?.type === 'ImportExpression' ? first.source : first
  return isNode(named) && typeof named.value === 'string' && named.value.startsWith('.')
}

/** `it.only`, `describe.concurrent.skip` … */
function isTestModifier(node: Node, modifiers: readonly string[]): boolean {
  if (node.type !== 'MemberExpression' || !modifiers.some((name) => isNamed(node.property, name)))
    return false
  let base = node.object
  while (isNode(base) && base.type === 'MemberExpression') base = base.object
  return ['it', 'test', 'describe', 'bench'].some((name) => isNamed(base, name))
}
