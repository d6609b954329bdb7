import type { RequestOptions } from './api-caller.ts'
import { endpoints } from './contract/endpoints.ts'
import {
  type ModerationView,
  type ModerationViewWrite,
  moderationViewSchema,
} from './contract/moderation-view.ts'
import type { StackCalls, StackId } from './stack-calls.ts'
import { StackRecords } from './stack-records.ts'

/**
 * Moderation views: `/api/moderationviews`. They are read grouped and written flattened; `flattenView` and `groupView`
 * turn one into the other. All methods throw as `StackClient` says.
 */
export class StackViews {
  readonly #records: StackRecords<typeof moderationViewSchema>

  constructor(calls: StackCalls) {
    this.#records = new StackRecords(calls, moderationViewSchema, {
      list: endpoints.listViews,
      get: endpoints.getView,
      update: endpoints.updateView,
      delete: endpoints.deleteView,
    })
  }

  /** All views of the Stack; they come without pages. */
  async list(options: RequestOptions = {}): Promise<ModerationView[]> {
    return this.#records.listWhole(options)
  }

  async get(id: StackId, options: RequestOptions = {}): Promise<ModerationView> {
    return this.#records.get(id, options)
  }

  async create(view: ModerationViewWrite, options: RequestOptions = {}): Promise<ModerationView> {
    return this.#records.create(endpoints.createView, view, options)
  }

  /** Fields that are left out stay as they are. */
  async update(
    id: StackId,
    changes: ModerationViewWrite,
    options: RequestOptions = {},
  ): Promise<ModerationView> {
    return this.#records.update(id, changes, options)
  }

  async delete(id: StackId, options: RequestOptions = {}): Promise<void> {
    await this.#records.delete(id, options)
  }
}
