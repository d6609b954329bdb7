import { isObject } from '../../api/contract/json-value.ts'

/** Every text below a rule that may be the name of a column; below `each` also as the path in its list. */
export function namesIn(part: unknown, list = ''): string[] {
  if (typeof part === 'string') {
    const names = part.includes('{') ? placeholders(part) : [part]
    return list === '' ? names : names.flatMap((name) => [name, list + name])
  }
  if (Array.isArray(part)) return part.flatMap((one) => namesIn(one, list))
  if (typeof part !== 'object' || part === null) return []
  const below = 'each' in part ? `${part.each}.` : list
  return Object.entries(part).flatMap(([key, content]) => {
    const isCondition = key === 'where' || key === 'prefer'
    return isCondition ? namesIn(Object.keys(content ?? {}).map(withoutLevel), list) : namesIn(content, below)
  })
}

/** Of a rule that reads columns by name; templates of images may be it, too. */
export function columnsIn(rule: unknown): string[] {
  if (!isObject(rule)) return namesIn(rule)
  const { column, template } = rule
  return namesIn(column ?? template)
}

/** A column alone, or with more parts: in the words of the configuration. */
export function ruleOfColumn(column: unknown, parts: Readonly<Record<string, unknown>>): unknown {
  return Object.keys(parts).length === 0 ? column : { column, ...parts }
}

/** Of a rule with details. */
export function partsOf(rule: unknown): Readonly<Record<string, unknown>> {
  return isObject(rule) ? rule : {}
}

function placeholders(template: string): string[] {
  return [...template.matchAll(/\{([^{}]+?)\??\}/g)].map(([, name = '']) => withoutLevel(name))
}

function withoutLevel(name: string): string {
  return name.replace(/^\.\.\//, '')
}
