import type { RequestOptions } from './api-caller.ts'
import { endpoints } from './contract/endpoints.ts'
import {
  type ModerationView,
  type ModerationViewWrite,
  moderationViewSchema,
} from './contract/moderation-view.ts'
import type { StackCalls } from './stack-calls.ts'
import { StackRecords } from './stack-records.ts'

/**
 * Moderation views: `/api/moderationviews`. They are read grouped and written flattened; `flattenView` and `groupView`
 * turn one into the other. All methods throw as `StackClient` says.
 */
export class StackViews extends StackRecords<ModerationView, ModerationViewWrite> {
  constructor(calls: StackCalls) {
    super(calls, moderationViewSchema, 'View')
  }

  /** All views of the Stack; they come without pages. */
  async list(options: RequestOptions = {}): Promise<ModerationView[]> {
    return this.readWhole(options)
  }

  async create(view: ModerationViewWrite, options: RequestOptions = {}): Promise<ModerationView> {
    return this.add(endpoints.createView, view, options)
  }
}
