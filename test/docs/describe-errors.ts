import { fileURLToPath } from 'node:url'
import { type Module, type Node, readModules } from '../tidy/module.ts'

interface ErrorCode {
  code: string
  /** Of the error's class, or of what the code is about. */
  kind: string
  found: string
  remedy: string
}

const root = fileURLToPath(new URL('../..', import.meta.url))
const kebab = /^[a-z]+(-[a-z]+)+$|^(usage|truncated|encrypted|doctype|mapping|owners|held|late)$/

/** Headings, and the exit code of a command that ends with such an error. */
const kinds: readonly (readonly [heading: string, classes: readonly string[]])[] = [
  ['Usage and configuration: exit code 2', ['ConfigError']],
  ['The endpoint and the credentials: exit code 3', ['EndpointError', 'ApiCallError', 'ApiResponseError']],
  ['Redis and the disk: exit code 4', ['StorageError', 'SourceError', 'PullError', 'ServerLostError']],
  ['Files that are refused', ['FileRefusedError', 'file']],
  ['Records that are rejected, or imported with a warning', ['Problem', 'record']],
]

/** What stands in the page for codes whose texts are computed. */
type Kept = ReadonlyMap<string, readonly string[]>

/**
 * Tables of all codes that the source has, with what is said and what to do; `…` stands for what differs. A cell that
 * the source leaves empty keeps what people wrote.
 */
export function describeErrors(present: string): string {
  const modules = readModules(root, ['src']).filter(({ path }) => !path.startsWith('src/sandbox/'))
  const found = modules.flatMap((module) => [...codesIn(module)])
  const parts = kinds.map(([heading, classes]) => {
    const kept = keptIn(present, heading)
    const ofKind = found.filter(({ kind }) => classes.includes(kind))
    const byCode = Map.groupBy(ofKind, ({ code }) => code)
    const rows = [...byCode]
      .toSorted(([one], [other]) => (one < other ? -1 : 1))
      .map((one) => describeCode(one, kept))
    return `## ${heading}\n\n| code | says | what to do |\n|---|---|---|\n${rows.join('\n')}\n`
  })
  return `\n${parts.join('\n')}\n`
}

function keptIn(present: string, heading: string): Kept {
  const section = present.split(`## ${heading}\n`)[1]?.split('\n## ')[0] ?? ''
  const rows = section.matchAll(/^\| `([a-z-]+)` \| (.*?) ?\| (.*?) ?\|$/gm)
  return new Map(
    [...rows].map(([, code = '', found = '', remedy = '']) => [code, [found.trim(), remedy.trim()]]),
  )
}

/** Of several places that use one code, the one that says most, and what it says is to be done. */
function describeCode([code, uses]: readonly [string, readonly ErrorCode[]], kept: Kept): string {
  const weight = ({ found, remedy }: ErrorCode) =>
    (remedy === '' ? 0 : 1_000) + found.replace(/…/g, '').length
  const { found = '', remedy = '' } = uses.toSorted((one, other) => weight(other) - weight(one))[0] ?? {}
  const [said = '', toDo = ''] = kept.get(code) ?? []
  // One code of many unlike texts: what people wrote says it better than any of them.
  if (code === 'usage') return `| \`${code}\` | ${said} | ${toDo} |`
  return `| \`${code}\` | ${cell(found) || said} | ${cell(remedy) || toDo} |`
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('<', '\\<').replaceAll('\n', ' ')
}

function* codesIn({ program, path }: Module): Generator<ErrorCode> {
  if (program === undefined) return
  const nodes = [...walk(program)]
  const functions = nodes.filter(({ type }) => /Function|^MethodDefinition$/.test(type))
  const constants = nodes.filter(({ type, init }) => type === 'VariableDeclarator' && init)
  const constantOf: Constant = (node) => {
    const own = functions.findLast((one) => contains(one, node))
    const sameName = constants.filter(({ id }) => nameOf(id as Node) === nameOf(node))
    return sameName.find((one) => own && contains(own, one))?.init as Node | undefined
  }
  const words = (node: Node | undefined) => wordsOf(node, constantOf)
  for (const node of nodes) {
    if (node.type === 'NewExpression') yield* codeOfError(node, words)
    if (node.type === 'ObjectExpression') yield* codeOfObject(node, { path, words })
    if (node.type === 'CallExpression') yield* codeOfCall(node, { path, words })
  }
}

/** What a constant of the same function was set to. */
type Constant = (node: Node) => Node | undefined
/** What an expression says, as far as it can be read. */
type Words = (node: Node | undefined) => string

function* codeOfError(node: Node, words: Words): Generator<ErrorCode> {
  const { callee, arguments: given } = node as unknown as { callee: Node; arguments: Node[] }
  const kind = String(callee.name ?? '')
  const code = textOf(given[0])
  if (!/Error$|^Problem$/.test(kind) || code === undefined || !kebab.test(code)) return
  const [, said, ...others] = given
  const inObject = said?.type === 'ObjectExpression' ? propertiesOf(said) : undefined
  const details = others.findLast(({ type }) => type === 'ObjectExpression')
  const more = details === undefined ? new Map<string, Node>() : propertiesOf(details)
  yield {
    ...{ code, kind },
    found: words(inObject ? inObject.get('found') : said),
    remedy: words(inObject?.get('remedy') ?? more.get('hint') ?? more.get('remedy')),
  }
}

/** `{ code, found, remedy }` of records, `{ code, found, hint }` of files. */
function* codeOfObject(node: Node, { path, words }: { path: string; words: Words }): Generator<ErrorCode> {
  const properties = propertiesOf(node)
  const code = textOf(properties.get('code'))
  if (code === undefined || !kebab.test(code)) return
  const found = words(properties.get('found') ?? properties.get('text') ?? properties.get('message'))
  const remedy = words(properties.get('remedy') ?? properties.get('hint'))
  if (found === '' && remedy === '') return
  yield { code, kind: kindOfObject(properties, path), found, remedy }
}

function kindOfObject(properties: ReadonlyMap<string, Node>, path: string): string {
  if (path.startsWith('src/redis/') || path.startsWith('src/lib/')) return 'StorageError'
  if (path.startsWith('src/sources/')) return 'SourceError'
  if (path.startsWith('src/api/')) return 'ApiResponseError'
  if (path.startsWith('src/cli/')) return 'ConfigError'
  return properties.has('hint') ? 'file' : 'record'
}

/** `issueOf(record, 'transform-failed', found, remedy)`. */
function* codeOfCall(node: Node, { path, words }: { path: string; words: Words }): Generator<ErrorCode> {
  const { arguments: given, callee } = node as unknown as { arguments: Node[]; callee: Node }
  if (nameOf((callee.property ?? callee) as Node) === 'on') return
  if (!path.startsWith('src/records/') && !path.startsWith('src/catalog/')) return
  const at = given.findIndex((one) => kebab.test(textOf(one) ?? ''))
  const [found, remedy] = [words(given[at + 1]), words(given[at + 2])]
  if (at < 0 || !found.includes(' ')) return
  yield { code: textOf(given[at]) ?? '', kind: 'record', found, remedy }
}

function* walk(node: Node): Generator<Node> {
  yield node
  for (const value of Object.values(node)) {
    for (const child of Array.isArray(value) ? value : [value]) {
      if (typeof child === 'object' && child !== null && 'type' in child) yield* walk(child as Node)
    }
  }
}

function propertiesOf(node: Node): Map<string, Node> {
  const { properties } = node as unknown as { properties: { key?: Node; value?: Node }[] }
  return new Map(properties.flatMap(({ key, value }) => (key && value ? [[String(key.name), value]] : [])))
}

function wordsOf(node: Node | undefined, constantOf: Constant): string {
  if (node === undefined) return ''
  const constant = node.type === 'Identifier' ? constantOf(node) : undefined
  if (constant) return wordsOf(constant, () => undefined)
  const texts = [...walk(node)].map(textOf).filter((text) => text !== undefined)
  return textOf(node) ?? texts.find((text) => /[a-z] [a-z]/.test(text)) ?? ''
}

function contains(outer: Node, inner: Node): boolean {
  return outer.start <= inner.start && inner.end <= outer.end
}

function nameOf(node: Node): string {
  return String(node.name ?? '')
}

/** A text, or one with `…` for what is computed; undefined where all of it is. */
function textOf(node: Node | undefined): string | undefined {
  if (node?.type === 'Literal' && typeof node.value === 'string') return node.value
  if (node?.type === 'BinaryExpression') {
    const [left, right] = [textOf(node.left as Node), textOf(node.right as Node)]
    return left === undefined && right === undefined ? undefined : `${left ?? '…'}${right ?? '…'}`
  }
  if (node?.type === 'ConditionalExpression') return textOf(node.consequent as Node)
  if (node?.type !== 'TemplateLiteral') return undefined
  const { quasis } = node as unknown as { quasis: { value: { cooked: string } }[] }
  return quasis.map(({ value }) => value.cooked).join('…')
}
