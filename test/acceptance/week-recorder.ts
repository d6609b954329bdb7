import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { WeekDocument } from './week-model.ts'

/** Stands before the sandbox and keeps every document that it was sent, in order; the sandbox itself keeps the newest. */
export class Recorder implements AsyncDisposable {
  readonly #server: Server
  readonly #target: string
  /** By product. */
  readonly received = new Map<string, WeekDocument[]>()
  documents = 0
  calls = 0

  private constructor(target: string) {
    this.#target = target
    this.#server = createServer((request, response) => {
      this.#pass(request, response).catch(() => response.destroy())
    })
  }

  static async open(target: string): Promise<Recorder> {
    const recorder = new Recorder(target)
    recorder.#server.listen(0, '127.0.0.1')
    await once(recorder.#server, 'listening')
    return recorder
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections()
    this.#server.close()
    await once(this.#server, 'close')
  }

  async #pass(request: IncomingMessage, response: ServerResponse): Promise<void> {
    // Of a sender that was killed half-way there is nothing to pass on.
    const body = Buffer.concat(await request.toArray())
    const documents = JSON.parse(body.toString()) as WeekDocument[]
    this.calls += 1
    for (const document of documents) this.#keep(document)
    const { method = '', url = '', headers } = request
    const answer = await fetch(this.#target + url, {
      method,
      headers: {
        authorization: headers.authorization ?? '',
        'content-type': headers['content-type'] ?? '',
      },
      body,
    })
    response.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? '' })
    response.end(Buffer.from(await answer.arrayBuffer()))
  }

  #keep(document: WeekDocument): void {
    const id = String(document.product_id)
    this.received.set(id, [...(this.received.get(id) ?? []), document])
    this.documents += 1
  }
}
