import type { FieldFact, Resource } from '../api/contract/facts/fact.ts'
import { fieldFacts } from '../api/contract/facts/facts.ts'

type Fields = Readonly<Record<string, unknown>>

/**
 * The fields of a record that were written, both in one form: what the contract says a value means, whichever way a server
 * writes it back.
 */
export function inMeaning(
  resource: Resource,
  written: Fields,
  read: Fields,
): { written: Fields; read: Fields } {
  const names = Object.keys(written).filter((name) => written[name] !== undefined)
  const meant = (record: Fields) =>
    Object.fromEntries(names.map((name) => [name, meaningOf(factOf(resource, name), record[name])]))
  return { written: meant(written), read: meant(read) }
}

function factOf(resource: Resource, field: string): FieldFact {
  const fact = fieldFacts.find((one) => one.resource === resource && one.field === field)
  if (fact === undefined) throw new Error(`no fact about ${resource}.${field}`)
  return fact
}

function meaningOf({ type, form }: FieldFact, value: unknown): unknown {
  if (form === 'groups') return groupsIn(value)
  if (form === 'date-time' && typeof value === 'string') return new Date(value).toISOString()
  switch (type) {
    case 'boolean':
    case 'flag':
      return truths.get(String(value)) ?? value
    case 'integer':
      return typeof value === 'string' ? Number(value) : value
    case 'text':
      return typeof value === 'number' ? String(value) : value
    default:
      return value
  }
}

const truths: ReadonlyMap<string, boolean> = new Map([
  ['1', true],
  ['true', true],
  ['0', false],
  ['false', false],
])

function groupsIn(value: unknown): unknown {
  const groups = typeof value === 'string' ? value.split(',').filter((group) => group !== '') : value
  return Array.isArray(groups) ? groups.map((group) => String(group).trim()).sort() : groups
}
