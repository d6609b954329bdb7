import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  type ModerationViewWrite,
  moderationViewFields,
  moderationViewWriteSchema,
  viewColumns,
} from '../../src/api/contract/moderation-view.ts'
import { contractProblems } from '../../src/api/contract/problems.ts'
import { flattenView, groupView } from '../../src/api/view-form.ts'

const texts = ['view_name', 'access_type', 'sort_by', 'filter_value_content_search', 'other_display']
const lists = ['filter_value_origin', 'filter_value_media', 'filter_value_tags', 'filter_value_terms']
const dates = ['date_range_from', 'date_range_to']

/** Any view that the contract accepts. */
const views = fc
  .record(
    Object.fromEntries(
      moderationViewFields.map((field) => {
        if (field === 'type') return [field, fc.constantFrom('user', true, false)]
        if (field === 'other_all_content_length') return [field, fc.nat()]
        if (dates.includes(field)) return [field, fc.constantFrom('2026-03-01', '2026-03-01T08:00:00Z')]
        if (lists.includes(field)) return [field, fc.constantFrom('', 'twitter', '1,2,3')]
        const isText = texts.includes(field) || field === 'filter_value_filter_by_claimed'
        return [field, isText ? fc.string({ minLength: 1 }) : fc.boolean()]
      }),
    ),
    { requiredKeys: [] },
  )
  .map((view) => view as ModerationViewWrite)

test('a view that is grouped and flattened again is the same', () => {
  fc.assert(
    fc.property(views, (view) => {
      expect(contractProblems(moderationViewWriteSchema, view)).toEqual([])
      expect(flattenView(groupView(view))).toEqual(view)
    }),
  )
})

test('what is read may stand in either spelling', () => {
  fc.assert(
    fc.property(views, (view) => {
      const { column, filter, other, date, ...rest } = groupView(view)
      const prefixed = (prefix: string, group: object) =>
        Object.fromEntries(Object.entries(group).map(([name, value]) => [prefix + name, value]))
      const long = {
        ...rest,
        columns: prefixed('columns_', column),
        filters: prefixed('filter_value_', filter),
        others: prefixed('other_', other),
        date_range: prefixed('date_range_', date),
      }
      expect(flattenView(long)).toEqual(view)
      expect(flattenView({ ...rest, ...view })).toEqual(view)
    }),
  )
})

test('groups have the names of the fields without their prefix', () => {
  const view = groupView({
    view_name: 'Queue',
    type: 'user',
    columns_select_col: true,
    columns_num_votes: false,
    filter_value_content_search: 'x',
    filter_value_filter_by_claimed: 'claimed_only',
    other_all_content_length: 50,
    date_range_from: '2026-03-01',
  })
  expect(view).toEqual({
    view_name: 'Queue',
    type: 'user',
    column: { select_col: true, num_votes: false },
    filter: { content_search: 'x', filter_by_claimed: 'claimed_only' },
    other: { all_content_length: 50 },
    date: { from: '2026-03-01' },
  })
})

test('every column has a place', () => {
  const all = Object.fromEntries(viewColumns.map((name) => [name, 1]))
  expect(Object.keys(flattenView({ column: all }))).toEqual(viewColumns.map((name) => `columns_${name}`))
})

describe('what a server makes of it', () => {
  test('is brought into the form of the contract', () => {
    const read = {
      column: { select_col: '1', pin_col: 'false', user_col: 0 },
      filter: { origin: ['twitter', 'rss'], abuse: 'true', tags: 17 },
      other: { all_content_length: '50' },
      date: [],
    }
    const written = flattenView(read)
    expect(contractProblems(moderationViewWriteSchema, written)).toEqual([])
    expect(written).toEqual({
      columns_select_col: 1,
      columns_pin_col: false,
      columns_user_col: 0,
      filter_value_origin: 'twitter,rss',
      filter_value_abuse: true,
      filter_value_tags: '17',
      other_all_content_length: 50,
    })
  })

  test('is left out where it cannot be written', () => {
    const read = {
      id: 1,
      stack_id: 2,
      owner_id: 3,
      created_at: 4,
      updated_at: '5',
      colour: 'red',
      view_name: null,
      column: { select_col: true, unheard_of: true, pin_col: null },
      filter: null,
      other: 'x',
    }
    expect(flattenView(read)).toEqual({ columns_select_col: true })
  })
})
