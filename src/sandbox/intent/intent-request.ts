import { isUtf8 } from 'node:buffer'
import {
  type CheckedIntentRequest,
  intentRequestSchema,
  recommendationsDefault,
} from '../../api/contract/intent.ts'
import { contractProblems } from '../../api/contract/problems.ts'
import { inWireForm } from '../../api/contract/wire-form.ts'

export type ParsedIntent =
  | { kind: 'request'; request: CheckedIntentRequest & { maxAgentRecommendations: number } }
  | { kind: 'refused'; problems: readonly string[] }

const textFields = ['prompt', 'customerId', 'partnerId', 'chatId'] as const

/**
 * The request in a body, as the contract wants it. Lenient: form bodies, numbers and truth values as texts, numbers as
 * ids, unknown fields, and an empty optional field are taken too.
 */
export function parseIntentRequest(body: Buffer, contentType: string, strict: boolean): ParsedIntent {
  const sent = parseBody(body, contentType, strict)
  if ('problem' in sent) return { kind: 'refused', problems: [sent.problem] }
  const value = strict ? sent.value : inWireForm(intentRequestSchema, sent.value)
  const problems = contractProblems(intentRequestSchema, value, {
    whole: 'body',
    unknownFields: strict ? 'refuse' : 'tolerate',
  })
  if (problems.length > 0) return { kind: 'refused', problems: problems.map(({ message }) => message) }
  const request = intentRequestSchema.parse(strict ? value : knownFields(value))
  const blank = textFields.find((field) => request[field].trim() === '')
  if (blank !== undefined) {
    return { kind: 'refused', problems: [`${blank}: found only blanks, expected a text; give it a value`] }
  }
  const maxAgentRecommendations = request.maxAgentRecommendations ?? recommendationsDefault
  return { kind: 'request', request: { ...request, maxAgentRecommendations } }
}

function knownFields(value: unknown): unknown {
  const names = Object.keys(intentRequestSchema.shape)
  return Object.fromEntries(Object.entries(value as object).filter(([name]) => names.includes(name)))
}

function parseBody(
  body: Buffer,
  contentType: string,
  strict: boolean,
): { value: unknown } | { problem: string } {
  if (body.length === 0) return { problem: 'the body is empty; send the request as JSON' }
  if (!isUtf8(body)) return { problem: 'the body is not valid UTF-8; encode the JSON as UTF-8' }
  const text = body.toString('utf8').replace(/^\ufeff/, '')
  const type = contentType.split(';', 1)[0]?.trim().toLowerCase()
  if (type === 'application/x-www-form-urlencoded' && !strict) {
    return { value: Object.fromEntries(new URLSearchParams(text)) }
  }
  if (strict && type !== 'application/json') return { problem: 'send Content-Type: application/json' }
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { value }
    return { problem: 'the body is no JSON object; send the fields of one request' }
  } catch (error) {
    return { problem: `the body is not JSON (${error instanceof Error ? error.message : 'unknown error'})` }
  }
}
