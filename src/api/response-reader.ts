import { brotliDecompressSync, gunzipSync, inflateSync } from 'node:zlib'
import type { Dispatcher } from 'undici'
import { type CallResponse, shownHeaders } from './call-outcome.ts'

/** A body that may name refused products is read whole for any call of 2 MB; of others only the beginning is shown. */
const namingBodyBytesMax = 1_048_576
const otherBodyBytesMax = 65_536

type Headers = Parameters<NonNullable<Dispatcher.DispatchHandler['onResponseStart']>>[2]

/** What the reader makes of one exchange. `sent` is false only when provably no byte of the request was written. */
export type Exchange = { response: CallResponse } | { error: Error; sent: boolean }

/**
 * Follows one request through undici.
 *
 * waiting for a connection → writing (from here on the request may take effect) → reading the response → done.
 * undici announces `onRequestStart` before it writes the first byte, and drops a request that is aborted inside it.
 * A body above its limit is cut there, which ends the exchange and the connection with it.
 */
export class ResponseReader implements Dispatcher.DispatchHandler {
  readonly #done: (exchange: Exchange) => void
  #controller: Dispatcher.DispatchController | undefined
  #cancelled: Error | undefined
  #settled = false
  #head: Pick<CallResponse, 'status' | 'headers'> | undefined
  /** As `Content-Encoding` names it; empty: none. */
  #encoding = ''
  #chunks: Buffer[] = []
  #bytes = 0
  readonly #bodyBytesMax: (status: number) => number

  constructor(done: (exchange: Exchange) => void, bodyBytesMax = namingBodyBytesMaxOf) {
    this.#done = done
    this.#bodyBytesMax = bodyBytesMax
  }

  /** Ends the exchange now; a request that waits for a connection is never written. */
  cancel(reason: Error): void {
    this.#cancelled = reason
    this.#settle({ error: reason, sent: this.#controller !== undefined })
    this.#controller?.abort(reason)
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    if (this.#cancelled) controller.abort(this.#cancelled)
    else this.#controller = controller
  }

  onResponseStart(_controller: Dispatcher.DispatchController, status: number, headers: Headers): void {
    // Informational responses (100, 103) precede the final one.
    if (status < 200) return
    this.#head = { status, headers: pickHeaders(headers) }
    this.#encoding = String(headers['content-encoding'] ?? '').toLowerCase()
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    const limit = this.#bodyBytesMax(this.#head?.status ?? 0)
    this.#chunks.push(chunk.subarray(0, Math.max(0, limit - this.#bytes)))
    this.#bytes += chunk.length
    if (this.#bytes <= limit) return
    this.#finish('cut')
    controller.abort(new Error('the rest of the response is not wanted'))
  }

  onResponseEnd(): void {
    this.#finish()
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.#settle({ error, sent: this.#controller !== undefined })
  }

  #finish(how: 'whole' | 'cut' = 'whole'): void {
    if (!this.#head) return
    const bytes = Buffer.concat(this.#chunks)
    const decoded =
      how === 'whole' ? decode(bytes, this.#encoding, this.#bodyBytesMax(this.#head.status)) : undefined
    const body = (decoded ?? bytes).toString()
    const cut = how === 'cut' ? 'longer than is read' : 'in an encoding that cannot be read'
    this.#settle({ response: { kind: 'response', ...this.#head, body, ...(decoded ? {} : { cut }) } })
  }

  #settle(exchange: Exchange): void {
    if (this.#settled) return
    this.#settled = true
    this.#chunks = []
    this.#done(exchange)
  }
}

const decoders = new Map([
  ['gzip', gunzipSync],
  ['x-gzip', gunzipSync],
  ['deflate', inflateSync],
  ['br', brotliDecompressSync],
])

/**
 * A server may compress what is not asked for otherwise, and so do proxies. Undefined: compressed in a way that is not
 * known, broken, or longer than is read; what came then stays as it is.
 */
function decode(bytes: Buffer, encoding: string, maxOutputLength: number): Buffer | undefined {
  if (bytes.length === 0 || encoding === '' || encoding === 'identity') return bytes
  try {
    return decoders.get(encoding)?.(bytes, { maxOutputLength })
  } catch {
    return undefined
  }
}

function namingBodyBytesMaxOf(status: number): number {
  const mayName = status < 300 || status === 400 || status === 422
  return mayName ? namingBodyBytesMax : otherBodyBytesMax
}

function pickHeaders(headers: Headers): CallResponse['headers'] {
  const picked: CallResponse['headers'] = {}
  for (const name of shownHeaders) {
    const value = headers[name]
    const first = Array.isArray(value) ? value[0] : value
    if (first !== undefined) picked[name] = first.slice(0, 500)
  }
  return picked
}
