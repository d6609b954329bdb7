import { isUtf8 } from 'node:buffer'
import type { Readable } from 'node:stream'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { describeError } from '../lib/errors.ts'

export type ReceivedBody =
  | { kind: 'whole'; bytes: Buffer }
  /** Above the limit. What is still to come is read and dropped behind the answer. */
  | { kind: 'too-large'; bytesRead: number }

export function bytesOf(body: ReceivedBody | undefined): number {
  if (body === undefined) return 0
  return body.kind === 'whole' ? body.bytes.length : body.bytesRead
}

/** A sender whose body is too large is answered once it has finished, or has sent this many times the limit more. */
const discardedLimits = 4

/** Why a body is not read as it is; undefined when it is not compressed. */
export function compressionProblem(contentEncoding = ''): string | undefined {
  const isPlain = /^(identity)?$/i.test(contentEncoding.trim())
  return isPlain ? undefined : 'the body is compressed; send it as it is, without Content-Encoding'
}

/** The bytes of a body that was read; empty where none was sent. Undefined: it was too large. */
export function wholeBytes(body: ReceivedBody | undefined): Buffer | undefined {
  if (body === undefined) return Buffer.alloc(0)
  return body.kind === 'whole' ? body.bytes : undefined
}

const byteOrderMark = Buffer.from('\ufeff')

/** The JSON in a body, with its text, or what is wrong. `wanted`: what belongs into an empty one. */
export function parseJsonBody(
  sent: Buffer,
  wanted: string,
): { kind: 'json'; value: unknown; bytes: Buffer } | { kind: 'unreadable'; message: string } {
  const hasMark = sent.subarray(0, byteOrderMark.length).equals(byteOrderMark)
  const bytes = hasMark ? sent.subarray(byteOrderMark.length) : sent
  if (bytes.length === 0) return { kind: 'unreadable', message: `the body is empty; send ${wanted}` }
  if (!isUtf8(bytes))
    return { kind: 'unreadable', message: 'the body is not valid UTF-8; encode the JSON as UTF-8' }
  try {
    return { kind: 'json', value: JSON.parse(bytes.toString('utf8')), bytes }
  } catch (error) {
    return { kind: 'unreadable', message: `the body is not JSON (${withoutBody(describeError(error))})` }
  }
}

/** The parser repeats the text where it stumbles, which may hold an address or a token. */
function withoutBody(message: string): string {
  return message.replace(/, (\.\.\.)?"[\s\S]*$/, '')
}

/** Bodies of any content type, or of none, arrive as bytes. Replaces the parsers that fastify brings. */
export function receiveBytes(scope: FastifyInstance, bytesMax: number): void {
  scope.removeAllContentTypeParsers()
  scope.addContentTypeParser('*', (_request: FastifyRequest, payload: Readable) =>
    readBody(payload, bytesMax),
  )
  // A content type that is no media type would be refused before any parser is asked.
  scope.addHook('onRequest', async (request) => {
    request.raw.headers['content-type'] = 'application/octet-stream'
  })
}

function readBody(payload: Readable, bytesMax: number): Promise<ReceivedBody> {
  return new Promise((resolve, reject) => {
    let chunks: Buffer[] = []
    let bytesRead = 0
    payload.on('data', (chunk: Buffer) => {
      bytesRead += chunk.length
      if (bytesRead <= bytesMax) {
        chunks.push(chunk)
        return
      }
      chunks = []
      if (bytesRead <= bytesMax * (1 + discardedLimits)) return
      payload.pause()
      resolve({ kind: 'too-large', bytesRead })
    })
    payload.on('end', () => {
      if (bytesRead > bytesMax) resolve({ kind: 'too-large', bytesRead })
      else resolve({ kind: 'whole', bytes: Buffer.concat(chunks, bytesRead) })
    })
    payload.on('error', reject)
    // A sender that breaks off emits no error in every case; settling twice is harmless.
    payload.on('close', () => reject(new Error('the connection was closed within the body')))
  })
}
