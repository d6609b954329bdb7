import { isUtf8 } from 'node:buffer'
import { Busboy } from '@fastify/busboy'
import { parse as parseForm } from 'qs'
import { findJsonFault, isObject, jsonDepthMax } from '../../api/contract/json-value.ts'
import { compressionProblem, parseJsonBody } from '../request-body.ts'
import { refused, type StackRefusal } from './stack-answer.ts'
import type { SentFields } from './stack-call.ts'

export interface SentBody {
  bytes: Buffer
  contentType: string
  contentEncoding: string
  query: Readonly<Record<string, unknown>>
}

export interface BodyRules {
  /** The contract's encoding only: JSON. */
  strict: boolean
  /** The names of fields that count when they stand in the query and the body is empty. */
  names: readonly string[]
}

/** The fields that a request carries, as JSON, form, multipart or, with an empty body, in its query. */
export async function readSentFields(body: SentBody, { strict, names }: BodyRules): Promise<SentFields> {
  const { bytes, contentType, contentEncoding, query } = body
  const compressed = compressionProblem(contentEncoding)
  if (compressed !== undefined) return unreadable(compressed)
  if (strict) {
    if (!isJsonType(contentType)) return unreadable('send Content-Type: application/json')
    return fieldsOfJson(bytes)
  }
  if (bytes.length === 0) return fieldsOfQuery(query, names)
  if (/^\s*multipart\//i.test(contentType)) return fieldsOfMultipart(bytes, contentType)
  // Tools send JSON under whatever type is their default, a form under none at all.
  const looksLikeJson = /^[\ufeff\s]*[{["]/.test(bytes.toString('utf8', 0, 100))
  const isForm = /^\s*application\/x-www-form-urlencoded/i.test(contentType)
  if (isJsonType(contentType) || looksLikeJson) return fieldsOfJson(bytes)
  if (isForm || bytes.includes('=')) return fieldsOfForm(bytes)
  return unreadable('the body is neither JSON nor a form; send a JSON object')
}

function isJsonType(contentType: string): boolean {
  return /^\s*application\/([\w.-]+\+)?json\s*(;|$)/i.test(contentType)
}

function fieldsOfJson(bytes: Buffer): SentFields {
  const parsed = parseJsonBody(bytes, 'a JSON object')
  return parsed.kind === 'unreadable' ? unreadable(parsed.message) : fieldsOfObject(parsed.value, 'json')
}

function fieldsOfObject(value: unknown, encoding: 'json' | 'pairs'): SentFields {
  if (!isObject(value)) {
    const found = Array.isArray(value) ? 'a list' : value === null ? 'null' : `a ${typeof value}`
    return unreadable(`the body is ${found}; send a JSON object`)
  }
  const fault = findJsonFault(value)
  if (fault === undefined) return { kind: 'fields', fields: value, encoding }
  const place = fault.path.slice(0, 5).map(String).join('.')
  switch (fault.fault) {
    case 'too-deep':
      return unreadable(`${place}: more than ${jsonDepthMax} levels in each other; make it flatter`)
    case 'reserved':
      return unreadable(`${place}: a reserved name; rename the key`)
    case 'not-json':
      return unreadable(`${place}: a number that is too large, or nothing that JSON can carry`)
    default:
      return fault.fault satisfies never
  }
}

const formOptions = {
  depth: 40,
  strictDepth: true,
  arrayLimit: 1_000,
  parameterLimit: 5_000,
  throwOnLimitExceeded: true,
} as const

function fieldsOfForm(bytes: Buffer): SentFields {
  if (!isUtf8(bytes)) return unreadable('the form is not valid UTF-8; encode it as UTF-8')
  return fieldsOfPairs(bytes.toString('utf8').trim())
}

async function fieldsOfMultipart(bytes: Buffer, contentType: string): Promise<SentFields> {
  const read = await readMultipart(bytes, contentType)
  if (read.kind === 'unreadable') return unreadable(read.why)
  // Written as one form, so that nested names mean the same in both.
  const encode = encodeURIComponent
  const wellFormed = read.pairs.map(([name, value]) => [name.toWellFormed(), value.toWellFormed()] as const)
  return fieldsOfPairs(wellFormed.map(([name, value]) => `${encode(name)}=${encode(value)}`).join('&'))
}

function fieldsOfPairs(form: string): SentFields {
  const parsed = parsePairs(form)
  return parsed === undefined
    ? unreadable('the form has too many fields, too many elements or too many levels')
    : fieldsOfObject(parsed, 'pairs')
}

function fieldsOfQuery(query: Readonly<Record<string, unknown>>, names: readonly string[]): SentFields {
  // `tags[]` is parsed to `tags` already.
  const written = Object.entries(query).filter(([name]) => names.includes(name))
  return fieldsOfObject(Object.fromEntries(written), 'pairs')
}

/** Undefined when it has more than anybody means to send. */
export function parsePairs(pairs: string): Record<string, unknown> | undefined {
  try {
    return parseForm(pairs, formOptions)
  } catch (error) {
    if (error instanceof RangeError) return undefined
    throw error
  }
}

function unreadable(message: string): StackRefusal {
  return refused(400, { subject: 'request', reason: 'invalid_body' }, message)
}

type MultipartPairs = { kind: 'pairs'; pairs: [string, string][] } | { kind: 'unreadable'; why: string }

const pairsMax = 5_000
const nameBytesMax = 1_000

/** The fields of a multipart form, in their order; files in it are passed over. The bytes are bounded by whoever read them. */
function readMultipart(bytes: Buffer, contentType: string): Promise<MultipartPairs> {
  return new Promise((resolve) => {
    const pairs: [string, string][] = []
    const refuse = (why: string) => resolve({ kind: 'unreadable', why })
    let form: InstanceType<typeof Busboy>
    try {
      form = new Busboy({
        headers: { 'content-type': contentType },
        limits: { fieldSize: bytes.length + 1, fieldNameSize: nameBytesMax, parts: pairsMax },
      })
    } catch {
      refuse('the content type of the multipart form has no usable boundary')
      return
    }
    form.on('field', (name, value, nameTruncated) => {
      if (nameTruncated) refuse(`a field name is longer than ${nameBytesMax} bytes`)
      else if (name !== undefined) pairs.push([name, value])
    })
    form.on('file', (_name, stream) => {
      // Unread files keep the form from ending, and one that breaks off emits an error of its own.
      stream.on('error', () => refuse('the multipart form breaks off within a file'))
      stream.resume()
    })
    form.on('partsLimit', () => refuse(`the multipart form has more than ${pairsMax} parts`))
    form.on('error', () => refuse('the multipart form is not well-formed or breaks off'))
    form.on('finish', () => resolve({ kind: 'pairs', pairs }))
    form.end(bytes)
  })
}
