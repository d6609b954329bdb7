import { z } from 'zod'
import { bareSchema, metadataOf } from './fields.ts'

export interface Expectation {
  /** Completes "expected …". */
  expected: string
  /** What to do. */
  remedy: string
}

/** What a schema accepts, and what to do about anything else: for messages and for reference. */
export function expectationOf(schema: z.ZodType): Expectation {
  const { expected, remedy } = metadataOf(schema)
  const bare = bareSchema(schema)
  const derived = derive(bare)
  const isNullable = bare !== schema && schema.safeParse(null).success
  const what = expected ?? derived.expected
  return { expected: isNullable ? `${what}, or null` : what, remedy: remedy ?? derived.remedy }
}

function derive(schema: z.ZodType): Expectation {
  if (schema instanceof z.ZodEnum || schema instanceof z.ZodLiteral) return oneOfValues(valuesOf(schema))
  if (schema instanceof z.ZodString) return deriveText(schema)
  if (schema instanceof z.ZodNumber) return deriveNumber(schema)
  if (schema instanceof z.ZodBoolean) {
    return { expected: 'true or false', remedy: 'give it without quotation marks' }
  }
  if (schema instanceof z.ZodArray) return { expected: 'a list', remedy: 'give a JSON array' }
  if (schema instanceof z.ZodUnion) return deriveUnion(schema)
  if (schema instanceof z.ZodPipe) return expectationOf(schema.in as z.ZodType)
  if (schema instanceof z.ZodObject) return deriveObject(schema)
  if (schema instanceof z.ZodRecord) return { expected: 'an object', remedy: 'give a JSON object' }
  return { expected: 'a JSON value', remedy: 'give what JSON can carry' }
}

function oneOfValues(values: readonly unknown[]): Expectation {
  const shown = values.map(String)
  if (shown.length === 1) return { expected: `only ${shown[0]}`, remedy: 'give that value' }
  return { expected: `one of ${shown.join(', ')}`, remedy: 'choose one of these' }
}

function valuesOf(schema: z.ZodEnum | z.ZodLiteral): readonly unknown[] {
  if (schema instanceof z.ZodEnum) return schema.options
  // 1 before 0: the contract speaks of a flag by the value that switches it on.
  return [...schema.values].sort((a, b) => (typeof a === 'number' && typeof b === 'number' ? b - a : 0))
}

function deriveText(schema: z.ZodString): Expectation {
  const isFilled = (schema.minLength ?? 0) > 0
  return {
    expected: isFilled ? 'a text that is not empty' : 'a text',
    remedy: isFilled ? 'give it a value' : 'give it as a string',
  }
}

function deriveNumber(schema: z.ZodNumber): Expectation {
  const least = bound(schema.minValue)
  const most = bound(schema.maxValue)
  const range =
    least !== undefined && most !== undefined
      ? ` from ${least} to ${most}`
      : least !== undefined
        ? ` of at least ${least}`
        : most !== undefined
          ? ` of at most ${most}`
          : ''
  const isWhole = schema.isInt
  return {
    expected: `${isWhole ? 'a whole number' : 'a number'}${range}`,
    remedy:
      range === ''
        ? `give the digits${isWhole ? ' without a fraction' : ''}`
        : 'choose a number in that range',
  }
}

/** z.int() has the limits of exact integers, which say nothing about the field. */
function bound(value: number | null): number | undefined {
  return value === null || Math.abs(value) >= Number.MAX_SAFE_INTEGER ? undefined : value
}

function deriveUnion(schema: z.ZodUnion): Expectation {
  const options = schema.options.map((option) => expectationOf(option as z.ZodType))
  const expected = [...new Set(options.map((option) => option.expected))].join(', or ')
  return { expected, remedy: 'give it in one of these forms' }
}

function deriveObject(schema: z.ZodObject): Expectation {
  const required = Object.entries(schema.shape)
    .filter(([, field]) => !(field as z.ZodType).safeParse(undefined).success)
    .map(([name]) => name)
  const needs = required.length === 0 ? '' : ` with ${required.join(', ')}`
  return { expected: `an object${needs}`, remedy: 'give a JSON object' }
}
