import { isObject } from '../../api/contract/json-value.ts'
import { parseOperatorValue, type ValueOperator, valueOperators } from './rule-operators.ts'
import { fieldPathProblem, placeBelow } from './rule-path.ts'

/** Like the trigger, but with only operators that the matcher has, and shorthand written out. */
export type TriggerQuery = Record<string, unknown>

export type ParsedTrigger = { kind: 'query'; query: TriggerQuery } | { kind: 'problems'; problems: string[] }

const joins = ['$and', '$or', '$nor']
const depthMax = 20
const valuesMax = 2_000
const patternsMax = 10

/**
 * Reads the trigger of a rule as conditions on a record. Everything that begins with `$` must be a known operator in a
 * place where it means something; `$where` would run a program and is refused everywhere.
 */
export function parseTrigger(trigger: unknown): ParsedTrigger {
  const reader = new TriggerReader()
  const query = reader.query(trigger, 'trigger', 0)
  const { problems } = reader
  return problems.length === 0 ? { kind: 'query', query } : { kind: 'problems', problems }
}

class TriggerReader {
  readonly problems: string[] = []
  #values = 0
  #patterns = 0

  /** Conditions that must all hold. */
  query(value: unknown, place: string, depth: number): TriggerQuery {
    if (!isObject(value))
      return this.#refuse(place, 'a condition is an object, such as {"tags": {"$eq": "sale"}}')
    if (!this.#count(place, depth)) return {}
    const clauses = Object.entries(value).flatMap(([key, operand]) => {
      const below = placeBelow(place, key)
      if (joins.includes(key)) return [{ [key]: this.#queries(operand, below, depth + 1) }]
      if (key.startsWith('$'))
        return [this.#refuseOperator(key, below, 'where a field or $and, $or, $nor belongs')]
      const problem = fieldPathProblem(key)
      if (problem !== undefined) return [this.#refuse(below, problem)]
      return this.#operand(key, operand, { place: below, depth: depth + 1 })
    })
    return { $and: clauses }
  }

  #queries(value: unknown, place: string, depth: number): TriggerQuery[] {
    if (!Array.isArray(value)) return [this.#refuse(place, 'it takes a list of conditions')]
    return value.map((one, position) => this.query(one, placeBelow(place, position), depth + 1))
  }

  /** What a field is held against. `{tags: {$or: [{$size: 0}, "sale"]}}` is taken for `$or` over the same field. */
  #operand(field: string, operand: unknown, at: { place: string; depth: number }): TriggerQuery[] {
    const { place, depth } = at
    if (!hasOperators(operand)) return [{ [field]: { $eq: this.#literal(operand, place, depth) } }]
    const clauses: TriggerQuery[] = []
    const operators: Record<string, unknown> = {}
    for (const [key, value] of Object.entries(operand)) {
      if (!joins.includes(key)) operators[key] = value
      else clauses.push({ [key]: this.#alternatives(field, value, { place: placeBelow(place, key), depth }) })
    }
    if (Object.keys(operators).length > 0) clauses.push({ [field]: this.#operators(operators, place, depth) })
    return clauses
  }

  #alternatives(
    field: string,
    value: unknown,
    { place, depth }: { place: string; depth: number },
  ): TriggerQuery[] {
    if (!Array.isArray(value)) return [this.#refuse(place, 'it takes a list')]
    return value.map((one, position) => {
      const at = { place: placeBelow(place, position), depth: depth + 1 }
      return { $and: this.#count(at.place, at.depth) ? this.#operand(field, one, at) : [] }
    })
  }

  #operators(operators: Record<string, unknown>, place: string, depth: number): TriggerQuery {
    if (!this.#count(place, depth)) return {}
    const read: TriggerQuery = {}
    for (const [key, value] of Object.entries(operators)) {
      const below = placeBelow(place, key)
      if (key === '$options' && Object.hasOwn(operators, '$regex')) continue
      if (key === '$not') read.$not = this.#negation(value, below, depth + 1)
      else if (key === '$elemMatch') read.$elemMatch = this.#element(value, below, depth + 1)
      else if (key === '$all') Object.assign(read, this.#all(value, below, depth + 1))
      else if (isValueOperator(key)) Object.assign(read, this.#valueOperator(key, operators, below, depth))
      else this.#refuseOperator(key, below, 'among the operators of a field')
    }
    return read
  }

  #valueOperator(
    key: ValueOperator,
    operators: Record<string, unknown>,
    place: string,
    depth: number,
  ): TriggerQuery {
    if (key === '$regex') {
      this.#patterns += 1
      if (this.#patterns > patternsMax)
        return this.#refuse(place, `a trigger has at most ${patternsMax} patterns`)
    }
    this.#literal(operators[key], place, depth + 1)
    const parsed = parseOperatorValue(key, operators)
    return typeof parsed === 'string' ? this.#refuse(place, parsed) : parsed
  }

  #negation(value: unknown, place: string, depth: number): TriggerQuery {
    if (!hasOperators(value)) return this.#refuse(place, 'it takes operators, such as {"$not": {"$gt": 5}}')
    return this.#operators(value, place, depth)
  }

  /** Conditions on the fields of an element that is an object, or operators on an element that is none. */
  #element(value: unknown, place: string, depth: number): { object: TriggerQuery } | { value: TriggerQuery } {
    const isOfValue =
      isObject(value) && hasOperators(value) && !joins.some((join) => Object.hasOwn(value, join))
    return isOfValue
      ? { value: this.#operators(value, place, depth) }
      : { object: this.query(value, place, depth) }
  }

  #all(value: unknown, place: string, depth: number): TriggerQuery {
    if (!Array.isArray(value)) return this.#refuse(place, 'it takes a list of values')
    const literals: unknown[] = []
    const elements: unknown[] = []
    value.forEach((one, position) => {
      const below = placeBelow(place, position)
      if (isObject(one) && Object.hasOwn(one, '$elemMatch') && Object.keys(one).length === 1) {
        elements.push(this.#element(one.$elemMatch, placeBelow(below, '$elemMatch'), depth + 1))
      } else literals.push(this.#literal(one, below, depth + 1))
    })
    return { $all: { literals, elements } }
  }

  /** A value to compare with, in which no operator can stand. */
  #literal(value: unknown, place: string, depth: number): unknown {
    if (!this.#count(place, depth) || typeof value !== 'object' || value === null) return value
    const entries: Iterable<[string | number, unknown]> = Array.isArray(value)
      ? value.entries()
      : Object.entries(value)
    for (const [key, child] of entries) {
      const below = placeBelow(place, key)
      if (String(key).startsWith('$')) this.#refuseOperator(String(key), below, 'inside a value')
      else this.#literal(child, below, depth + 1)
    }
    return value
  }

  /** False when the trigger is too large to be read on. */
  #count(place: string, depth: number): boolean {
    this.#values += 1
    if (this.#values === valuesMax + 1) this.#refuse(place, `a trigger has at most ${valuesMax} values`)
    if (depth > depthMax) this.#refuse(place, `a trigger has at most ${depthMax} levels`)
    return this.#values <= valuesMax && depth <= depthMax
  }

  #refuseOperator(key: string, place: string, where: string): TriggerQuery {
    if (key === '$where') {
      return this.#refuse(
        place,
        '$where would run a program and is never evaluated; write the condition with operators',
      )
    }
    const known = [...joins, '$not', '$elemMatch', '$all', ...valueOperators]
    if (known.includes(key)) return this.#refuse(place, `${key} means nothing ${where}`)
    return this.#refuse(place, `there is no operator ${key}; known are ${known.join(' ')}`)
  }

  #refuse(place: string, sentence: string): TriggerQuery {
    this.problems.push(`${place}: ${sentence}`)
    return {}
  }
}

function isValueOperator(key: string): key is ValueOperator {
  return valueOperators.some((operator) => operator === key)
}

function hasOperators(value: unknown): value is Record<string, unknown> {
  return isObject(value) && Object.keys(value).some((key) => key.startsWith('$'))
}
