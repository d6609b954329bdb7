import type { ConfigDocument } from './document.ts'
import type { FormatConfig } from './format-model.ts'
import { soundPart } from './parts.ts'
import type { ConfigPath } from './problems.ts'
import { feedShape } from './schema.ts'

type FormatKey = 'path' | 'header' | 'delimiter' | 'quote' | 'encoding' | 'sheet' | 'members'

/** What says nothing about files of a type. */
const foreign: Readonly<Record<NonNullable<FormatConfig['type']>, readonly FormatKey[]>> = {
  csv: ['path', 'sheet'],
  tsv: ['path', 'delimiter', 'sheet'],
  ndjson: ['path', 'header', 'delimiter', 'quote', 'sheet'],
  json: ['header', 'delimiter', 'quote', 'sheet'],
  xml: ['header', 'delimiter', 'quote', 'sheet'],
  xlsx: ['path', 'delimiter', 'quote', 'encoding', 'members'],
}

/** How the keys of a feed's format fit together. */
export function checkFormat(document: ConfigDocument, path: ConfigPath): void {
  const format = soundPart(document, path, feedShape.format)
  if (format === undefined) return
  if (format.type !== undefined) checkForeign(document, path, format)
  checkPath(document, path, format)
  const { header } = format
  if (!Array.isArray(header)) return
  for (const [index, name] of header.entries()) {
    if (header.indexOf(name) === index) continue
    document.addProblem([...path, 'header', index], `found "${name}" a second time, expected another name`)
  }
}

function checkForeign(
  document: ConfigDocument,
  path: ConfigPath,
  format: { type?: FormatConfig['type'] } & { [key in FormatKey]?: unknown },
): void {
  for (const key of format.type === undefined ? [] : foreign[format.type]) {
    if (format[key] === undefined) continue
    const message = `has no effect with type ${format.type}, expected it to be left out`
    document.addProblem([...path, key], message, 'key')
  }
}

/** The two kinds of path are written differently. */
function checkPath(
  document: ConfigDocument,
  path: ConfigPath,
  { type, path: way }: { type?: FormatConfig['type']; path?: string | undefined },
): void {
  if (way === undefined) return
  const found = `found ${JSON.stringify(way)}`
  if (type === 'xml' && way === '') {
    document.addProblem([...path, 'path'], `${found}, expected the elements from the root to the record`)
  }
  if (type === 'json' && way.includes('/')) {
    document.addProblem([...path, 'path'], `${found}, expected keys with dots between, such as data.products`)
  }
}
