import { z } from 'zod'
import { boolean, commaSeparated, filledText, integer, numericId, text, timestamp } from './fields.ts'
import { type JsonValue, jsonObject, jsonValue } from './json-value.ts'
import { isIsoDateTime } from './values.ts'

/** Each shows or hides one column; written with the prefix `columns_`. */
export const viewColumns = [
  'select_col',
  'pin_col',
  'scheduled_col',
  'platform_col',
  'user_col',
  'name_col',
  'avatar_col',
  'content_col',
  'preview_col',
  'created_col',
  'ingested_col',
  'status_col',
  'disabled_reason_col',
  'last_moderated_col',
  'moderator_col',
  'terms_col',
  'tags_col',
  'type_col',
  'star_col',
  'abuse_col',
  'no_purge_col',
  'num_votes',
  'last_comment_queued_at',
  'greatest_score',
  'actions_col',
] as const

type ColumnField = `columns_${(typeof viewColumns)[number]}`

const columns = Object.fromEntries(
  viewColumns.map((name) => [`columns_${name}`, boolean(`Shows the column ${name}`).optional()]),
) as Record<ColumnField, z.ZodOptional<ReturnType<typeof boolean>>>

const isoDateTime = (description: string) =>
  z.string().refine(isIsoDateTime).meta({
    kind: 'text',
    description,
    format: 'date-time',
    expected: 'an ISO 8601 date-time such as 2026-03-01T08:00:00Z',
    remedy: 'convert it to that form',
  })

const shape = {
  view_name: filledText('Name of the view').optional(),
  /** Documented as boolean, with the value `user`: both are taken. */
  type: z
    .union([z.boolean(), z.string().min(1)])
    .meta({
      kind: 'boolean',
      description: 'user, or a boolean',
      expected: 'a text such as user, or true or false',
    })
    .optional(),
  access_type: text('Such as public').optional(),
  sort_by: text('Such as newest').optional(),
  ...columns,
  filter_value_content_search: text('Text to search for').optional(),
  filter_value_origin: commaSeparated('Networks').optional(),
  filter_value_media: commaSeparated('Kinds of media').optional(),
  filter_value_abuse: boolean().optional(),
  filter_value_filter_by_claimed: text('Such as claimed_only').optional(),
  filter_value_filter_by_geolocation: boolean().optional(),
  filter_value_tags: commaSeparated('Ids of tags').optional(),
  filter_value_terms: commaSeparated('Ids of terms').optional(),
  other_all_content_length: integer('Items a page').optional(),
  other_live_updates: boolean().optional(),
  other_display: text('Such as table').optional(),
  date_range_from: isoDateTime('Begin of the date range').optional(),
  date_range_to: isoDateTime('End of the date range').optional(),
}

/** Create and update take the same flattened fields; the contract requires none of them. */
export const moderationViewWriteSchema = z.strictObject(shape).meta({
  unwritable: {
    id: 'the service gives it',
    stack_id: 'the service keeps it',
    owner_id: 'the service keeps it',
    column: 'it is written as columns_…',
    filter: 'it is written as filter_value_…',
    other: 'it is written as other_…',
    date: 'it is written as date_range_…',
    created_at: 'the service keeps it',
    updated_at: 'the service keeps it',
  },
})
export type ModerationViewWrite = z.infer<typeof moderationViewWriteSchema>
export type ModerationViewField = keyof typeof shape
export const moderationViewFields = Object.keys(shape) as ModerationViewField[]

/** In which group of a read view a written field comes back, and under which name there. */
export const viewGroups = {
  column: 'columns_',
  filter: 'filter_value_',
  other: 'other_',
  date: 'date_range_',
} as const
export type ViewGroup = keyof typeof viewGroups

/** Some servers write an object without fields as an empty list. */
const group = z.union([
  jsonObject,
  z
    .array(jsonValue)
    .max(0)
    .transform((): Record<string, JsonValue> => ({})),
])

/** A view as it is read: grouped. Unknown fields are kept. */
export const moderationViewSchema = z.looseObject({
  id: numericId('Unique id'),
  view_name: z.string().nullish(),
  type: z.union([z.boolean(), z.string()]).nullish(),
  access_type: z.string().nullish(),
  stack_id: numericId().nullish(),
  owner_id: numericId().nullish(),
  column: group.nullish(),
  filter: group.nullish(),
  other: group.nullish(),
  date: group.nullish(),
  sort_by: z.string().nullish(),
  created_at: timestamp().optional(),
  updated_at: timestamp().optional(),
})
export type ModerationView = z.infer<typeof moderationViewSchema>
