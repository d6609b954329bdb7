import { JsonPaths } from './json-paths.ts'
import type { Dialect } from './model.ts'
import { parseLine } from './parse-ndjson.ts'
import { fileRefusal } from './refusal.ts'
import { doctypeRefusal } from './xml-splitter.ts'
import { readToken } from './xml-token.ts'

export interface TypeInput {
  /** The beginning of the decoded text. */
  text: Buffer
  /** The text is the whole file. */
  complete: boolean
  neededColumns: readonly string[]
  /** What the file is called: decides only where the content does not. */
  name: string
}

/** By content: what a file is called says nothing reliable. */
export function detectType(input: TypeInput): Dialect['type'] {
  const { text, name } = input
  const from = text.findIndex((byte) => byte > 0x20)
  const start = text.toString('utf8', from, from + 512)
  if (start.startsWith('<')) {
    if (/^<(!doctype\s+)?html[\s>]/i.test(start)) throw htmlRefusal(name)
    if (/^<(\?xml\s|!--|!doctype|!\[|[\p{L}_:][^\s<>,;]*[\s/>])/iu.test(start)) return 'xml'
  }
  if (start.startsWith('{')) return detectObjects(input, from)
  return /^\[\s*(\{|\]|$)/.test(start) ? 'json' : 'csv'
}

/** Before anything of the file is given to a parser. */
export function refuseDoctype(text: Buffer, name: string): void {
  for (let at = text.indexOf('<'); at >= 0; at = text.indexOf('<', at)) {
    const token = readToken(text, at)
    if (token?.kind === 'doctype') {
      if (/^<!doctype\s+html/i.test(text.toString('utf8', at, at + 64))) throw htmlRefusal(name)
      throw doctypeRefusal(name, text.toString('utf8', 0, at).split(/\r\n|\r|\n/).length)
    }
    if (token === undefined || token.kind === 'start' || token.end < 0) return
    at = token.end
  }
}

function htmlRefusal(name: string): Error {
  return fileRefusal({
    name,
    code: 'unsupported-format',
    found: 'the content is a page of HTML',
    hint: 'Check where the file comes from: a page for logging in or an error may have been saved in its place',
  })
}

/** NDJSON has an object on each line; JSON one object that goes over several lines, or that holds the list of records. */
function detectObjects({ text, complete, neededColumns, name }: TypeInput, from: number): Dialect['type'] {
  const lineEnd = text.indexOf(0x0a, from)
  const line = text.subarray(from, lineEnd < 0 ? text.length : lineEnd)
  const isOnlyLine = lineEnd < 0 || (complete && text.toString('utf8', lineEnd).trim() === '')
  const paths = new JsonPaths()
  paths.write(text)
  const isRecord =
    /\.(ndjson|jsonl)\b/i.test(name) || neededColumns.some((column) => hasColumn(paths.rootKeys, column))
  if (!(parseLine(line) instanceof Error)) {
    return isOnlyLine && paths.path !== undefined && !isRecord ? 'json' : 'ndjson'
  }
  // The first line is longer than what is known of the file.
  if (lineEnd < 0 && !complete && paths.isJson) return isRecord ? 'ndjson' : 'json'
  if (paths.isJson) return 'json'
  const second = /\S[^\n]*/.exec(text.toString('utf8', lineEnd))?.[0] ?? ''
  if (!(parseLine(Buffer.from(second)) instanceof Error)) return 'ndjson'
  return /^\{\s*("|\r?$)/.test(line.toString('utf8', 0, 512)) && !/\.(csv|tsv|txt)/i.test(name)
    ? 'json'
    : 'csv'
}

/** A column may be a path into an object. */
function hasColumn(keys: ReadonlySet<string>, column: string): boolean {
  return keys.has(column) || keys.has(column.split('.')[0] ?? '')
}
