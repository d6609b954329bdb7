import { RE2JS, RE2JSException } from 're2js'
import type { FieldRule } from '../config/rule-model.ts'
import { namesOf } from './free-column.ts'
import { Problem } from './problem.ts'
import { fillTemplate, parseTemplate, type Template } from './template.ts'
import { textOf } from './text-of.ts'

export type Extract = (value: unknown) => string | Problem | undefined

/**
 * RE2 has no backtracking, so a pattern of an operator cannot stop the daemon, whatever a feed holds. Finds the pattern
 * anywhere in the text; anchors are the operator's choice.
 */
export function compilePattern(
  { regex, result }: NonNullable<FieldRule['pattern']>,
  options: { describe: (value: unknown) => string; problems: string[] },
): Extract | undefined {
  const { describe, problems } = options
  const compiled = compileRegex(regex, problems)
  const template = result === undefined ? undefined : parseTemplate(result)
  if (typeof template === 'string') problems.push(`pattern: result: ${template}`)
  if (compiled === undefined || typeof template === 'string') return undefined
  const groups = template && groupNumbers(template, compiled, problems)
  const main = compiled.groupCount() > 0 ? 1 : 0
  return (value) => {
    const text = textOf(value)
    const matcher = text === undefined ? undefined : compiled.matcher(text)
    if (!matcher?.find()) {
      const remedy = 'correct the cell or the pattern'
      const found = `found ${describe(value)}, which the pattern ${regex} does not match`
      return new Problem('pattern-mismatch', { found, remedy })
    }
    if (!template || !groups) return matcher.group(main)?.trim() || undefined
    const found = groups.map((group) => matcher.group(group) || null)
    // A group may be an alternative of others; a text of which none is left says nothing.
    const isEmpty = found.length > 0 && found.every((content) => content === null)
    return isEmpty ? undefined : fillTemplate(template, (index) => found[index] ?? null)?.trim() || undefined
  }
}

/** The same for each element of a list; one that does not match stays as it is. */
export function compileReshape(
  pattern: NonNullable<FieldRule['elements']>,
  options: { describe: (value: unknown) => string; problems: string[] },
): ((text: string) => string | undefined) | undefined {
  const extract = compilePattern(pattern, options)
  if (!extract) return undefined
  return (text) => {
    const found = extract(text)
    return found instanceof Problem ? text : found
  }
}

export function compileRegex(regex: string, problems: string[]): RE2JS | undefined {
  try {
    return RE2JS.compile(regex)
  } catch (error) {
    if (!(error instanceof RE2JSException)) throw error
    const reason = error.message.replace(/^error parsing regexp: /, '')
    problems.push(
      `pattern: RE2 refuses ${regex}: ${reason}; lookarounds and back-references do not exist in it`,
    )
    return undefined
  }
}

function groupNumbers(template: Template, compiled: RE2JS, problems: string[]): number[] {
  const named = compiled.namedGroups()
  return template.names.map((written) => {
    // Every group may be missing; a mark may say so, as behind columns.
    const name = namesOf(written).at(-1) ?? written
    const group = named[name]
    if (group === undefined) {
      const known = Object.keys(named).join(', ') || 'none; write (?<name>…)'
      problems.push(
        `pattern: result names the group ${name}, which the expression does not have (named groups: ${known})`,
      )
    }
    return group ?? 0
  })
}
