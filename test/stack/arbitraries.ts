import fc from 'fast-check'
import { viewColumns } from '../../src/api/contract/moderation-view.ts'
import {
  moderations,
  networksByType,
  termNetworks,
  typesWithSourceUser,
} from '../../src/api/contract/term.ts'
import type { Fields, StackKind } from '../../src/stack/model.ts'

/** Texts that people write and that a file must not change: looks like a number, a list, a mark of YAML. */
const text = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 12 }),
  fc.constantFrom(
    '0049',
    '1.0',
    'null',
    'true',
    '- a',
    '# b',
    ': c',
    'two\nlines\n',
    'end\n\n',
    ' padded ',
    "it's",
    '1e3',
  ),
)
const filled = text.filter((value) => value !== '')
const names = fc.uniqueArray(filled, { maxLength: 4 })
const truth = fc.boolean()
const commaSeparated = fc
  .array(fc.stringMatching(/^[a-z0-9]{1,5}$/), { maxLength: 4 })
  .map((parts) => parts.join(','))

const json = fc
  .jsonValue({ maxDepth: 2 })
  .map((value) => JSON.parse(JSON.stringify(value).replaceAll('__proto__', 'proto')))
const condition = fc.dictionary(fc.stringMatching(/^[a-z]{1,6}$/), json, {
  maxKeys: 3,
  noNullPrototype: true,
})

const rule = fc.record({
  trigger: fc.array(condition, { maxLength: 3 }).map(($or) => ({ $or })),
  action: fc.array(condition, { maxLength: 3 }),
  enabled: fc.constantFrom(0, 1),
  type: fc.constantFrom('tile', 'asset'),
})

const optional = <Model extends Record<string, fc.Arbitrary<unknown>>>(model: Model) =>
  fc.record(model, { requiredKeys: [] })

const view = optional({
  type: fc.constantFrom('user', true, false),
  access_type: filled,
  sort_by: filled,
  ...Object.fromEntries(viewColumns.slice(0, 4).map((column) => [`columns_${column}`, truth])),
  filter_value_content_search: text,
  filter_value_origin: commaSeparated,
  filter_value_abuse: truth,
  filter_value_terms: commaSeparated,
  other_all_content_length: fc.nat(200),
  other_live_updates: truth,
  date_range_from: fc.constantFrom('2026-03-01T08:00:00Z', '2026-03-01T08:00:00+01:00', '2026-03-01'),
})

const kinds = Object.entries(networksByType).flatMap(([type, networks]) =>
  (networks === 'any' ? termNetworks : networks).map((network) => ({ type, network })),
)
const term = fc
  .tuple(
    fc.constantFrom(...kinds),
    fc.record({ term: filled }),
    optional({
      display_name: text,
      active: truth,
      num_of_backfill: fc.nat(50),
      filter: commaSeparated,
      minimum_followers: fc.nat(9),
      moderate_text: fc.constantFrom(...moderations),
      partial_match: truth,
      tags: fc.array(fc.oneof(fc.nat(99), fc.stringMatching(/^[a-z0-9]{1,5}$/)), { maxLength: 3 }),
    }),
  )
  .map(([{ type, network }, required, more]) => {
    const hasFollowers = network === 'twitter' && (type === 'search' || type === 'hashtag')
    const { minimum_followers, ...others } = more
    const needsUser = (typesWithSourceUser as readonly string[]).includes(type)
    return {
      type,
      network,
      ...required,
      ...others,
      ...(hasFollowers && minimum_followers !== undefined ? { minimum_followers } : {}),
      ...(needsUser ? { source_user_id: '0123' } : {}),
    }
  })

const user = optional({
  name: text,
  surname: text,
  email: fc.constantFrom('a@stack.example', 'b@stack.example'),
  description: text,
  display_timezone: fc.constantFrom('Europe/Berlin', 'UTC'),
  distances: fc.constantFrom('metric', 'imperial'),
  acl_groups: fc.constantFrom('1', '2,3', '', '1,2,3'),
})

const named = (nameField: string, fields: fc.Arbitrary<object>): fc.Arbitrary<Fields[]> =>
  names.chain((list) =>
    fc
      .array(fields, { minLength: list.length, maxLength: list.length })
      .map((all) => all.map((one, index) => ({ [nameField]: list[index], ...one }))),
  )

/** Items of each kind as they are written, each name once. */
export const itemsOf: Readonly<Record<StackKind, fc.Arbitrary<Fields[]>>> = {
  rules: named('name', rule),
  views: named('view_name', view),
  terms: named('name', term),
  users: named('username', user),
}
