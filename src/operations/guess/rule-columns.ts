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
  if (typeof rule !== 'object' || rule === null) return namesIn(rule)
  const { column, template } = rule as { column?: unknown; template?: unknown }
  return namesIn(column ?? template)
}

function placeholders(template: string): string[] {
  return [...template.matchAll(/\{([^{}]+?)\??\}/g)].map(([, name = '']) => withoutLevel(name))
}

function withoutLevel(name: string): string {
  return name.replace(/^\.\.\//, '')
}
