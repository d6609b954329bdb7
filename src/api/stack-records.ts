import type { z } from 'zod'
import type { RequestOptions } from './api-caller.ts'
import type { Endpoint } from './contract/endpoints.ts'
import { isObject } from './contract/json-value.ts'
import type { StackAnswer, StackCalls, StackId } from './stack-calls.ts'

export interface RecordEndpoints {
  list: Endpoint
  get: Endpoint
  update: Endpoint
  delete: Endpoint
}

/** What all kinds of records of a Stack have in common, over any form in which a server answers. */
export class StackRecords<Schema extends z.ZodType> {
  readonly calls: StackCalls
  readonly endpoints: RecordEndpoints
  readonly #schema: Schema

  constructor(calls: StackCalls, schema: Schema, endpoints: RecordEndpoints) {
    this.calls = calls
    this.endpoints = endpoints
    this.#schema = schema
  }

  async list(query: Readonly<Record<string, unknown>>, options: RequestOptions) {
    const answer = await this.calls.call(this.endpoints.list, { ...options, query })
    return { records: this.#readList(answer), counts: answer.counts, answer }
  }

  /** Where the contract has no pages, a server that sends one all the same would hide the records of the others. */
  async listWhole(options: RequestOptions): Promise<z.infer<Schema>[]> {
    const { records, counts, answer } = await this.list({}, options)
    if (counts.length === 0 || records.length >= Math.min(...counts)) return records
    throw answer.error('incomplete', `${records.length} records where it counts ${Math.min(...counts)}`)
  }

  async get(id: StackId, options: RequestOptions): Promise<z.infer<Schema>> {
    const answer = await this.calls.call(this.endpoints.get, { ...options, id })
    const record = this.#readRecord(answer, id)
    if (record === undefined) throw answer.error('no-record', 'a body without the record')
    return record
  }

  async create(endpoint: Endpoint, body: unknown, options: RequestOptions): Promise<z.infer<Schema>> {
    const answer = await this.calls.call(endpoint, { ...options, body })
    const record = this.#readRecord(answer)
    if (record !== undefined) return record
    throw answer.error(
      'no-record',
      'the record was taken, but the body does not hold it; list to find its id',
    )
  }

  /** A server that does not answer the record is asked for it. */
  async update(id: StackId, body: unknown, options: RequestOptions): Promise<z.infer<Schema>> {
    const answer = await this.calls.call(this.endpoints.update, { ...options, id, body })
    return this.#readRecord(answer, id) ?? (await this.get(id, options))
  }

  async delete(id: StackId, options: RequestOptions): Promise<void> {
    await this.calls.call(this.endpoints.delete, { ...options, id })
  }

  #readList(answer: StackAnswer): z.infer<Schema>[] {
    const { data } = answer
    // An empty body, or a plain text, is no empty list: who believed it would take the whole Stack for gone.
    if (data === null) return []
    const elements = Array.isArray(data) ? data : elementsOf(data)
    if (elements === undefined || !elements.every(isObject)) {
      throw answer.error('no-list', 'a body that is no list of records')
    }
    return elements.map((element) => this.#accept(element))
  }

  /** Some servers answer a list with the one record. */
  #readRecord({ data }: StackAnswer, id?: StackId): z.infer<Schema> | undefined {
    const record: unknown = Array.isArray(data) && data.length === 1 ? data[0] : data
    if (!isObject(record) || Object.keys(record).length === 0) return undefined
    if (hasId(record)) return this.#accept(record)
    return id === undefined ? undefined : this.#accept({ ...record, id })
  }

  /** In the contract's form; a field of another form than that is kept as it came. */
  #accept(record: Record<string, unknown>): z.infer<Schema> {
    const parsed = this.#schema.safeParse(record)
    return parsed.success ? parsed.data : (record as z.infer<Schema>)
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
