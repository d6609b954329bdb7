import { Context } from 'mingo/core'
import { $and, $eq, $gt, $gte, $lt, $lte, $nor, $not, $or, $regex, $size, $type } from 'mingo/operators/query'
import { Query } from 'mingo/query'
import type { AnyObject, Options } from 'mingo/types'
import { isObject } from '../../api/contract/json-value.ts'
import type { TriggerQuery } from './rule-trigger.ts'

type Test = (record: AnyObject) => boolean

/** Compiles what `parseTrigger` made of a trigger. Only operators that it lets through exist here. */
export function compileMatch(query: TriggerQuery): (record: AnyObject) => boolean {
  const compiled = new Query(query, { context: matchContext(), scriptEnabled: false })
  return (record) => compiled.test(record)
}

function matchContext(): Context {
  const operators = {
    ...{ $and, $or, $nor, $not },
    ...{
      $eq: anyLeaf($eq),
      $gt: anyLeaf($gt),
      $gte: anyLeaf($gte, null),
      $lt: anyLeaf($lt),
      $lte: anyLeaf($lte, null),
    },
    ...{ $ne: matchUnequal, $exists: matchExists, $size: anyLeaf($size) },
    $type: anyLeaf(matchType),
    $all: matchAll,
    $elemMatch: matchElement,
    $matches: anyLeaf(matchPattern),
  }
  // mingo has one type for the values of all operators; each of these is only ever given what the parser made for it.
  return Context.init({ query: operators as unknown as QueryOperators })
}

type QueryOperators = NonNullable<NonNullable<Parameters<typeof Context.init>[0]>['query']>
type Operator<Value> = (selector: string, value: Value, options: Options) => Test

/**
 * A path that crosses a list leads to several values, each of which is asked for itself. mingo asks their list, as if it
 * stood in the record: then `hotspot.x` would be an array, and have a size. `missing`: what a missing field counts as.
 */
function anyLeaf<Value>(operator: Operator<Value>, missing?: null): Operator<Value> {
  return (selector, value, options) => {
    const test = operator('leaf', value, options)
    const path = selector.split('.')
    return (record) => leavesAt(record, path).some((leaf = missing) => test({ leaf }))
  }
}

/** What a path leads to; undefined where a field is missing. A list at its end is one value. */
function leavesAt(value: unknown, [step, ...rest]: readonly string[]): unknown[] {
  if (step === undefined) return [value]
  if (isObject(value)) return Object.hasOwn(value, step) ? leavesAt(value[step], rest) : [undefined]
  if (!Array.isArray(value)) return [undefined]
  const isPosition = /^\d{1,9}$/.test(step)
  const positioned = isPosition ? leavesAt(value[Number(step)], rest) : []
  const objects = value.filter(
    (element) => isObject(element) && (!isPosition || Object.hasOwn(element, step)),
  )
  return [...positioned, ...objects.flatMap((element) => leavesAt(element, [step, ...rest]))]
}

function matchUnequal(selector: string, value: unknown, options: Options): Test {
  const isEqual = anyLeaf($eq)(selector, value, options)
  return (record) => !isEqual(record)
}

function matchExists(selector: string, isWanted: unknown): Test {
  const path = selector.split('.')
  return (record) => leavesAt(record, path).some((leaf) => leaf !== undefined) === isWanted
}

/** A list is of type array, and also of the types of its elements. */
function matchType(selector: string, types: unknown, options: Options): Test {
  const isOfType = $type(selector, types, options)
  const isElementOfType = $type('element', types, options)
  return (record) =>
    isOfType(record) || elementsAt(record, selector).some((element) => isElementOfType({ element }))
}

interface AllValues {
  literals: readonly unknown[]
  elements: readonly ElementValue[]
}

/** `$eq` with each literal; a value that is no list counts as a list of one. */
function matchAll(selector: string, { literals, elements }: AllValues, options: Options): Test {
  const tests = [
    ...literals.map((literal) => anyLeaf($eq)(selector, literal, options)),
    ...elements.map((element) => matchElement(selector, element, options)),
  ]
  return (record) => tests.length > 0 && tests.every((test) => test(record))
}

type ElementValue = { object: TriggerQuery } | { value: TriggerQuery }

function matchElement(selector: string, element: ElementValue, options: Options): Test {
  const isOfObject = 'object' in element
  const query = new Query(isOfObject ? element.object : { element: element.value }, options)
  return (record) =>
    elementsAt(record, selector).some((one) =>
      isOfObject ? isObject(one) && query.test(one) : query.test({ element: one }),
    )
}

/** Of the lists that a path leads to. */
function elementsAt(record: AnyObject, selector: string): unknown[] {
  return leavesAt(record, selector.split('.')).flatMap((leaf) => (Array.isArray(leaf) ? leaf : []))
}

/** mingo asks a RegExp only for `exec`. */
function matchPattern(selector: string, test: (text: string) => boolean, options: Options): Test {
  return $regex(selector, { exec: (text: string) => (test(text) ? [text] : null) }, options)
}
