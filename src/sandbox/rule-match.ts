import { Context } from 'mingo/core'
import {
  $and,
  $eq,
  $exists,
  $gt,
  $gte,
  $lt,
  $lte,
  $ne,
  $nor,
  $not,
  $or,
  $regex,
  $size,
  $type,
} from 'mingo/operators/query'
import { Query } from 'mingo/query'
import type { AnyObject, Options } from 'mingo/types'
import { resolve } from 'mingo/util'
import { isObject } from '../api/contract/json-value.ts'
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
    ...{ $eq, $ne, $gt, $gte, $lt, $lte, $exists, $size },
    $type: matchType,
    $all: matchAll,
    $elemMatch: matchElement,
    $matches: matchPattern,
  }
  // mingo has one type for the values of all operators; each of these is only ever given what the parser made for it.
  return Context.init({ query: operators as unknown as QueryOperators })
}

type QueryOperators = NonNullable<NonNullable<Parameters<typeof Context.init>[0]>['query']>

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
    ...literals.map((literal) => $eq(selector, literal, options)),
    ...elements.map((element) => matchElement(selector, element, options)),
  ]
  return (record) => tests.length > 0 && tests.every((test) => test(record))
}

type ElementValue = { object: TriggerQuery } | { value: TriggerQuery }

function matchElement(selector: string, element: ElementValue, options: Options): Test {
  const isOfObject = 'object' in element
  const query = new Query(isOfObject ? element.object : { element: element.value }, options)
  return (record) =>
    elementsAt(record, selector).some((element) =>
      isOfObject ? isObject(element) && query.test(element) : query.test({ element }),
    )
}

function elementsAt(record: AnyObject, selector: string): readonly unknown[] {
  const found = resolve(record, selector, { unwrapArray: true })
  return Array.isArray(found) ? found : []
}

/** mingo asks a RegExp only for `exec`. */
function matchPattern(selector: string, test: (text: string) => boolean, options: Options): Test {
  return $regex(selector, { exec: (text: string) => (test(text) ? [text] : null) }, options)
}
