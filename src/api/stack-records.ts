import type { z } from 'zod'
import type { RequestOptions } from './api-caller.ts'
import { type Endpoint, endpoints } from './contract/endpoints.ts'
import { isObject } from './contract/json-value.ts'
import type { StackAnswer, StackCalls, StackId } from './stack-calls.ts'

/** What all kinds of records of a Stack have in common, over any form in which a server answers. */
export class StackRecords<Item, Changes> {
  protected readonly calls: StackCalls
  readonly #schema: z.ZodType<Item>
  readonly #endpoints: Readonly<Record<'list' | 'get' | 'update' | 'delete', Endpoint>>

  constructor(calls: StackCalls, schema: z.ZodType<Item>, kind: 'Rule' | 'View' | 'User' | 'Term') {
    this.calls = calls
    this.#schema = schema
    this.#endpoints = {
      list: endpoints[`list${kind}s` as const],
      get: endpoints[`get${kind}` as const],
      update: endpoints[`update${kind}` as const],
      delete: endpoints[`delete${kind}` as const],
    }
  }

  async get(id: StackId, options: RequestOptions = {}): Promise<Item> {
    const answer = await this.calls.call(this.#endpoints.get, { ...options, id })
    const record = this.#readRecord(answer, id)
    if (record === undefined) throw answer.error('no-record', 'a body without the record')
    return record
  }

  /** Fields that are left out stay as they are. A server that does not answer the record is asked for it. */
  async update(id: StackId, changes: Changes, options: RequestOptions = {}): Promise<Item> {
    const answer = await this.calls.call(this.#endpoints.update, { ...options, id, body: changes })
    return this.#readRecord(answer, id) ?? (await this.get(id, options))
  }

  async delete(id: StackId, options: RequestOptions = {}): Promise<void> {
    await this.calls.call(this.#endpoints.delete, { ...options, id })
  }

  // What follows are no methods: those are what users of the library see.

  protected readonly read = async (query: Readonly<Record<string, unknown>>, options: RequestOptions) => {
    const answer = await this.calls.call(this.#endpoints.list, { ...options, query })
    return { records: this.#readList(answer), counts: answer.counts, answer }
  }

  /** Where the contract has no pages, a server that sends one all the same would hide the records of the others. */
  protected readonly readWhole = async (options: RequestOptions): Promise<Item[]> => {
    const { records, counts, answer } = await this.read({}, options)
    if (counts.length === 0 || records.length >= Math.min(...counts)) return records
    throw answer.error('incomplete', `${records.length} records where it counts ${Math.min(...counts)}`)
  }

  protected readonly add = async (
    endpoint: Endpoint,
    body: unknown,
    options: RequestOptions,
  ): Promise<Item> => {
    const answer = await this.calls.call(endpoint, { ...options, body })
    const record = this.#readRecord(answer)
    if (record !== undefined) return record
    throw answer.error(
      'no-record',
      'the record was taken, but the body does not hold it; list to find its id',
    )
  }

  #readList(answer: StackAnswer): Item[] {
    const { data, isBare } = answer
    const elements = Array.isArray(data) ? data : data === null ? [] : elementsOf(data)
    // An empty body, a plain text, a bare `{}` or `null` is not an empty list: the whole Stack would seem to be gone.
    const isNothing = isBare && !Array.isArray(data) && elements?.length === 0
    if (elements === undefined || isNothing || !elements.every(isObject)) {
      throw answer.error('no-list', 'a body that is no list of records')
    }
    return elements.map((element) => this.#accept(element))
  }

  /** Some servers answer a list with the one record. */
  #readRecord({ data }: StackAnswer, id?: StackId): Item | undefined {
    const record: unknown = Array.isArray(data) && data.length === 1 ? data[0] : data
    if (!isObject(record) || Object.keys(record).length === 0) return undefined
    if (hasId(record)) return this.#accept(record)
    return id === undefined ? undefined : this.#accept({ ...record, id })
  }

  /** In the contract's form; a field of another form than that is kept as it came. */
  #accept(record: Record<string, unknown>): Item {
    const parsed = this.#schema.safeParse(record)
    return parsed.success ? parsed.data : (record as Item)
  }
}

/** Some servers write a list as an object by id or position. */
function elementsOf(data: unknown): unknown[] | undefined {
  if (!isObject(data) || hasId(data)) return undefined
  const elements = Object.values(data)
  return elements.every(isObject) ? elements : undefined
}

function hasId({ id }: Record<string, unknown>): boolean {
  return typeof id === 'number' || (typeof id === 'string' && id !== '')
}
