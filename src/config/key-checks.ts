import type { ConfigDocument } from './document.ts'
import { type FieldKnowledge, namesAt, soundPart } from './parts.ts'
import type { ConfigPath } from './problems.ts'
import { feedShape } from './schema.ts'

/** The key of a feed, where it is sound; `path` is that of the key. */
export function checkKey(
  document: ConfigDocument,
  path: ConfigPath,
  knowledge: FieldKnowledge,
): string | undefined {
  const key = soundPart(document, path, feedShape.key)
  if (key === undefined) return undefined
  const problem = knowledge.keyProblem?.(key)
  if (problem !== undefined) document.addProblem(path, `found "${key}", which ${problem}`)
  return problem === undefined ? key : undefined
}

/** Key and id at once would contradict each other wherever they name different products. */
export function checkKeyRule(document: ConfigDocument, path: ConfigPath, key: string): void {
  const fields = namesAt(document, path)
  if (!fields.includes(key)) {
    document.addProblem([...path, key], `is missing, expected the column that holds ${key} of the product`)
  }
  if (!fields.includes('product_id')) return
  document.addProblem([...path, 'product_id'], 'found beside key, expected one of them', 'key')
}
