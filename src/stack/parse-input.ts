import { contractProblems } from '../api/contract/problems.ts'
import { ConfigError } from '../lib/errors.ts'
import { type KindRules, kindRules } from './kinds.ts'
import type { Fields, Place, StackKind, StackProblem } from './model.ts'
import { openText, parseEntry, toFieldValues } from './parse-entry.ts'
import { StackProblemsError } from './problems.ts'

export interface Input {
  kind: StackKind
  action: 'create' | 'update'
  /** YAML or JSON with the fields of one item. */
  source?: { file: string; text: string } | undefined
  /** `field=value`; each counts more than what the source says. */
  assignments: readonly string[]
}

/**
 * The body of a request as a person gave it, converted and checked. Throws a ConfigError for what is no assignment,
 * StackProblemsError for what the contract refuses.
 */
export function parseInput({ kind, action, source, assignments }: Input): Fields {
  const rules = kindRules[kind]
  const schema = action === 'create' ? rules.createSchema : rules.updateSchema
  if (schema === undefined) throw new Error(`no ${rules.word} is ever created`)
  const { fields, places } = source === undefined ? noEntry : parseSource(rules, source)
  const assigned = Object.fromEntries(assignments.map(parseAssignment))
  const body = Object.fromEntries([
    ...Object.entries(fields),
    ...Object.entries(toFieldValues(rules, assigned)),
  ])
  if (Object.keys(body).length === 0) {
    throw new ConfigError('usage', 'no field is given', { hint: 'Give --set field=value, or --file' })
  }
  const problems = contractProblems(schema, body, { whole: rules.word })
  if (problems.length === 0) return body
  throw new StackProblemsError(
    problems.map(({ field, message }): StackProblem => {
      const place = Object.hasOwn(assigned, field) ? undefined : places.get(field)
      return place === undefined ? { message } : { place, message }
    }),
  )
}

const noEntry = { fields: {} as Fields, places: new Map<string, Place>() as ReadonlyMap<string, Place> }

function parseSource(rules: KindRules, source: { file: string; text: string }) {
  const opened = openText(source)
  if (Array.isArray(opened)) throw new StackProblemsError(opened)
  const entry = parseEntry(rules, opened, opened.document.contents)
  if ('message' in entry) throw new StackProblemsError([entry])
  return entry
}

function parseAssignment(text: string): [string, string] {
  const at = text.indexOf('=')
  if (at < 1) {
    throw new ConfigError('usage', `--set: found "${text}", expected field=value`, {
      hint: 'Write the name of the field, an equals sign and the value',
    })
  }
  return [text.slice(0, at).trim(), text.slice(at + 1)]
}
