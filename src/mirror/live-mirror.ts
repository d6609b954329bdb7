import { MessageChannel, type MessagePort, Worker } from 'node:worker_threads'
import type { ProductId } from '../lib/brand.ts'
import type { Clock } from '../lib/clock.ts'
import { StorageError } from '../lib/errors.ts'
import type { Log } from '../lib/log.ts'
import { receivedError, writeLine } from '../lib/thread-messages.ts'
import { type MadeCall, packIds } from './calls.ts'
import { endThread } from './end-thread.ts'
import type { DocumentDigest, KeyLookup, MirrorChunk, StoredProduct } from './model.ts'
import { NewProducts } from './new-products.ts'
import { packChunk } from './packed-chunk.ts'
import { type Mirror, MirrorReader } from './reader.ts'
import type { CommitRequest, MirrorAnswer, MirrorRequest, ThreadOptions } from './thread.ts'
import { WrittenDocuments } from './written-documents.ts'

interface MirrorOptions {
  clock: Clock
  onFatal: (error: unknown) => void
}

interface LiveMirrorOptions extends MirrorOptions {
  /** The file that serves the mirror in the thread (`serveMirror`). */
  entry: URL
  /** What it is given, `ThreadOptions` included. */
  workerData: ThreadOptions
  log: Log
  /** Something may be due for delivery. */
  onOffered: (offered: { urgent: boolean; others: boolean }) => void
}

/** The mirror's file, and a way to the thread that writes it. */
export interface MirrorConnection {
  file: string
  port: MessagePort
}

/** To the thread: of who started it, or of who is connected. */
interface Link {
  post(request: MirrorRequest, transfer: (ArrayBuffer | MessagePort)[]): void
  end(): Promise<void>
}

/** A change that the thread was sent, or is to be sent with the next ones. */
interface Waiting {
  /** The products that it was planned for. */
  ids: readonly ProductId[]
  committed: PromiseWithResolvers<void>
}

interface Planned {
  ids: readonly ProductId[]
  stored: ReadonlyMap<ProductId, StoredProduct>
  chunk: MirrorChunk | undefined
  gather: boolean
}

/**
 * The mirror in the process that imports: it reads on a connection of its own, and sends what changes to the thread that
 * writes. Two threads have it: the one that started the writing thread, which changes no products, and the one that
 * imports, which connects to it.
 *
 * Open → failed (the thread cannot go on or has ended: every change is refused) → closed.
 */
export class LiveMirror extends MirrorReader implements Mirror, AsyncDisposable {
  readonly mirrorId: string
  readonly #file: string
  readonly #options: MirrorOptions
  readonly #link: Link
  #failure: unknown
  #waiting = new Map<number, Waiting>()
  /** The newest change that waits, of each product that one does. */
  readonly #changing = new Map<ProductId, Waiting>()
  readonly #written = new WrittenDocuments()
  /** For calls that are made in this thread. */
  readonly newProducts: NewProducts
  #nextId = 1
  #isCompared = false
  #gathered: CommitRequest[] = []
  /** Plans are made one after another. */
  #tail: Promise<unknown> = Promise.resolve()

  private constructor(file: string, options: MirrorOptions, link: Link, newProducts = newProductsOf(link)) {
    super(file)
    this.newProducts = newProducts
    this.mirrorId = this.identity().mirrorId
    this.#file = file
    this.#options = options
    this.#link = link
  }

  /** Starts the thread. Throws what keeps it from opening the mirror. */
  static async open(options: LiveMirrorOptions): Promise<LiveMirror> {
    const { workerData, clock } = options
    const worker = new Worker(options.entry, { workerData, transferList: [workerData.checkpoints] })
    const link: Link = {
      post: (request, transfer) => worker.postMessage(request, transfer),
      end: () => endThread(worker, clock),
    }
    const newProducts = newProductsOf(link, () => options.onOffered({ urgent: false, others: true }))
    let isCompared = false
    const opened = new Promise<void>((resolve, reject) => {
      worker.on('message', (answer: MirrorAnswer) => {
        if (answer.kind === 'log') writeLine(options.log, answer.line)
        else if (answer.kind === 'offered') options.onOffered(answer)
        else if (answer.kind === 'newCalls') newProducts.receive(answer.answer)
        else if (answer.kind === 'compared') isCompared = true
        else if (answer.kind === 'open') resolve()
        else if (answer.kind === 'fatal') reject(receivedError(answer.failure))
      })
      worker.once('error', reject)
      worker.once('exit', () => reject(hasEnded()))
    })
    try {
      await opened
      const mirror = new LiveMirror(workerData.file, options, link, newProducts)
      mirror.#isCompared = isCompared
      worker.on('message', (answer: MirrorAnswer) => mirror.#take(answer))
      worker.on('error', (error) => mirror.#fail(error))
      worker.on('exit', () => mirror.#fail(hasEnded()))
      return mirror
    } catch (error) {
      await worker.terminate()
      throw error
    }
  }

  /** In the thread that imports: `connection` comes from `connect`. */
  static over({ file, port }: MirrorConnection, options: MirrorOptions): LiveMirror {
    const mirror = new LiveMirror(file, options, {
      post: (request, transfer) => port.postMessage(request, transfer),
      end: async () => port.close(),
    })
    port.on('message', (answer: MirrorAnswer) => mirror.#take(answer))
    port.on('close', () => mirror.#fail(hasEnded()))
    return mirror
  }

  /** Where it was not yet, this may be an old mirror, which the loop refuses: nothing of it is sent before. */
  get isCompared(): boolean {
    return this.#isCompared
  }

  /** What was damaged is never sent, and the process ends. */
  override readDocuments(ids: readonly ProductId[]): ReturnType<MirrorReader['readDocuments']> {
    try {
      return super.readDocuments(ids)
    } catch (error) {
      this.#fail(error)
      throw error
    }
  }

  /** A document that was written a moment ago, where it is the one of this digest; once. */
  takeWritten(id: ProductId, digest: DocumentDigest): Buffer | undefined {
    return this.#written.take(id, digest)
  }

  /** For another thread, once. */
  connect(): MirrorConnection {
    const { port1, port2: port } = new MessageChannel()
    this.#link.post({ kind: 'connect', port: port1 }, [port1])
    return { file: this.#file, port }
  }

  update(
    ids: readonly ProductId[],
    plan: Parameters<Mirror['update']>[1],
    { gather = false } = {},
  ): Promise<void> {
    return this.#inTurn(async () => {
      await this.#until(new Set(ids.flatMap((id) => this.#changing.get(id) ?? [])))
      const stored = this.read(ids)
      return { ids, stored, chunk: plan(stored), gather }
    })
  }

  updateByKey(lookup: KeyLookup, plan: Parameters<Mirror['updateByKey']>[1]): Promise<void> {
    return this.#inTurn(async () => {
      await this.#until()
      const found = this.lookUp(lookup)
      const ids = [
        ...new Set([...found.values()].flatMap((matches) => (matches.length === 1 ? matches : []))),
      ]
      const stored = this.read(ids)
      return { ids, stored, chunk: plan(stored, found), gather: false }
    })
  }

  /** To be looked at by people: neither waited for nor answered. */
  noteCall(call: MadeCall): void {
    const ids = packIds(call.ids)
    this.#link.post({ kind: 'calls', calls: [{ ...call, ids }] }, [ids.buffer])
  }

  flush(): void {
    this.#post()
    // What is not planned yet, since it waits for a change under way, is not left behind.
    void this.#tail.then(() => this.#post())
  }

  #post(requests = this.#gathered.splice(0)): void {
    for (const request of requests) {
      this.#link.post(request, [request.chunk.rest.buffer, request.chunk.bytes])
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.newProducts.giveBack()
    await this.#tail
    await this.#until()
    this[Symbol.dispose]()
    this.#failure ??= new StorageError('mirror-closed', 'the mirror is closed')
    await this.#link.end()
  }

  /** Resolves when the change is durable; the next one is planned before. What it was planned from is let go at once. */
  #inTurn(plan: () => Promise<Planned>): Promise<void> {
    const turn = this.#tail.then(async () => {
      if (this.#failure !== undefined) throw this.#failure
      return { durable: this.#send(await plan()) }
    })
    this.#tail = turn.catch(() => undefined)
    return turn.then(({ durable }) => durable)
  }

  /** Resolves when none of these is under way any more: what they change is there to be read, or has failed. */
  async #until(meant: Iterable<Waiting> = this.#waiting.values()): Promise<void> {
    const changes = [...meant].map(({ committed }) => committed.promise)
    if (changes.length > 0) this.#post()
    await Promise.allSettled(changes)
  }

  #send({ ids, stored, chunk, gather }: Planned): Promise<void> | undefined {
    if (!chunk) return undefined
    const id = this.#nextId++
    const committed = Promise.withResolvers<void>()
    const waiting: Waiting = { ids, committed }
    this.#waiting.set(id, waiting)
    for (const each of ids) this.#changing.set(each, waiting)
    const nowMs = this.#options.clock.now()
    const packed = packChunk(chunk, stored)
    const request: CommitRequest = { kind: 'commit', id, isPrompt: !gather, chunk: packed, nowMs }
    if (gather) this.#gathered.push(request)
    else this.#post([request])
    return committed.promise
  }

  #take(answer: MirrorAnswer): void {
    switch (answer.kind) {
      case 'open':
      case 'log':
      case 'offered':
      case 'newCalls':
        return
      case 'written':
        this.#written.add(answer.blocks)
        return
      case 'compared':
        this.#isCompared = true
        return
      case 'committed':
        for (const { committed } of this.#answered(answer.ids)) committed.resolve()
        return
      case 'failed':
        for (const { committed } of this.#answered(answer.ids))
          committed.reject(receivedError(answer.failure))
        return
      case 'fatal':
        this.#fail(receivedError(answer.failure))
        return
      default:
        answer satisfies never
    }
  }

  #answered(requests: Iterable<number>): Waiting[] {
    return [...requests].flatMap((id) => {
      const waiting = this.#waiting.get(id)
      this.#waiting.delete(id)
      for (const each of waiting?.ids ?? [])
        if (this.#changing.get(each) === waiting) this.#changing.delete(each)
      return waiting ?? []
    })
  }

  #fail(error: unknown): void {
    const isFirst = this.#failure === undefined
    this.#failure ??= error
    for (const { committed } of this.#answered(this.#waiting.keys())) committed.reject(this.#failure)
    if (isFirst) this.#options.onFatal(error)
  }
}

function newProductsOf(link: Link, onReady?: () => void): NewProducts {
  return new NewProducts((request) => link.post({ kind: 'newCalls', request }, []), onReady)
}

function hasEnded(): StorageError {
  return new StorageError('mirror-closed', 'the thread of the mirror has ended')
}
