/** Text with `{name}` placeholders; `{{` and `}}` stand for the braces themselves. `{name?}` may be empty. */
export interface Template {
  /** Literals and placeholders in turn: one literal more than placeholders. */
  literals: readonly string[]
  names: readonly string[]
}

const tokens = /\{\{|\}\}|\{([^{}]*)\}|[{}]/g

/** Answers a sentence about what is wrong where braces do not pair up or a placeholder has no name. */
export function parseTemplate(text: string): Template | string {
  const literals: string[] = []
  const names: string[] = []
  let literal = ''
  let end = 0
  for (const match of text.matchAll(tokens)) {
    const [token, name] = match
    literal += text.slice(end, match.index)
    end = match.index + token.length
    if (token === '{{' || token === '}}') literal += token[0]
    else if (name === undefined)
      return `"${token}" at character ${match.index + 1} has no counterpart; write it twice to mean the character`
    else if (name.trim() === '') return `the placeholder at character ${match.index + 1} has no name`
    else {
      literals.push(literal)
      names.push(name.trim())
      literal = ''
    }
  }
  literals.push(literal + text.slice(end))
  return { literals, names }
}

/** Empty (undefined) when one of the values is: half an address is worse than none. Null stands for one that may be. */
export function fillTemplate(
  { literals, names }: Template,
  valueAt: (index: number) => string | null,
): string | undefined {
  let text = literals[0] ?? ''
  for (let index = 0; index < names.length; index++) {
    const value = valueAt(index)
    if (value === '') return undefined
    text += (value ?? '') + (literals[index + 1] ?? '')
  }
  return text === '' ? undefined : text
}
