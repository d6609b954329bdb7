import { IANAZone } from 'luxon'
import { RE2JS, RE2JSException } from 're2js'
import type { ConfigDocument } from './document.ts'
import { isMapping, soundPart } from './parts.ts'
import type { ConfigPath } from './problems.ts'
import { safetyShape } from './safety-schema.ts'

const timeGroups = ['year', 'month', 'day', 'hour', 'minute', 'second'] as const

/** How the parts fit together that keep a bad file from doing damage. */
export function checkSafety(document: ConfigDocument, path: ConfigPath): void {
  checkAsOf(document, [...path, 'asOf'])
  const atMostPath = [...path, 'changes', 'atMost']
  const atMost = document.at(atMostPath)
  if (isMapping(atMost) && Object.keys(atMost).length === 0) {
    document.addProblem(atMostPath, 'found no lane, expected at least one of urgent, new, deferred')
  }
}

function checkAsOf(document: ConfigDocument, path: ConfigPath): void {
  const asOf = soundPart(document, path, safetyShape.asOf)
  if (asOf === undefined) return
  const { name, column, date, zone } = asOf
  if ((name === undefined) === (column === undefined)) {
    const found = name === undefined ? 'found neither name nor column' : 'found both name and column'
    document.addProblem(path, `${found}, expected one of them`)
  }
  if (name !== undefined) checkName(document, [...path, 'name'], name)
  if (date !== undefined && column === undefined) {
    document.addProblem([...path, 'date'], 'has no effect without column, expected it to be left out', 'key')
  }
  if (date !== undefined && date !== 'unix' && !/YY/.test(date)) {
    document.addProblem(
      [...path, 'date'],
      `found "${date}" without a year, expected a form such as DD.MM.YYYY HH:mm, or unix`,
    )
  }
  if (zone !== undefined && !IANAZone.isValidZone(zone)) {
    document.addProblem(
      [...path, 'zone'],
      `found "${zone}", expected a time zone such as Europe/Berlin or UTC`,
    )
  }
}

function checkName(document: ConfigDocument, path: ConfigPath, regex: string): void {
  const groups = namedGroups(regex)
  if (typeof groups === 'string') {
    document.addProblem(path, `found "${regex}", which RE2 refuses: ${groups}`)
    return
  }
  const parts = timeGroups.filter((group) => groups.includes(group))
  const unknown = groups.filter((group) => group !== 'stamp' && !timeGroups.some((known) => known === group))
  if (unknown.length > 0) {
    const known = `stamp, ${timeGroups.join(', ')}`
    document.addProblem(path, `found the group ${unknown.join(', ')}, expected only ${known}`)
  } else if (groups.includes('stamp') ? parts.length > 0 : !isDay(parts)) {
    document.addProblem(
      path,
      'expected the named group (?<stamp>…), or at least (?<year>…), (?<month>…) and (?<day>…)',
    )
  }
}

function isDay(parts: readonly string[]): boolean {
  return ['year', 'month', 'day'].every((part) => parts.includes(part))
}

/** Or why the expression is none. */
function namedGroups(regex: string): string[] | string {
  try {
    return Object.keys(RE2JS.compile(regex).namedGroups())
  } catch (error) {
    if (!(error instanceof RE2JSException)) throw error
    return error.message.replace(/^error parsing regexp: /, '')
  }
}
