import { orderDirections, userOrders } from '../api/contract/paging.ts'
import { flattenView } from '../api/view-form.ts'
import type { ListQuery } from '../operations/stack-records.ts'
import type { Fields, StackKind } from '../stack/model.ts'
import type { CommandDefinition, OptionDefinition } from './context.ts'
import { wholeNumberOption } from './option-values.ts'
import { withStack } from './stack-session.ts'
import { cell, countOf, formatTable } from './table.ts'

interface ListOptions {
  page?: number
  limit?: number
  orderBy?: (typeof userOrders)[number]
  direction?: (typeof orderDirections)[number]
}

const pageOptions: readonly OptionDefinition[] = [
  {
    flags: '--page <n>',
    description: 'only this page, counted from 1 (default: all)',
    parse: wholeNumberOption({ min: 1, max: 1_000_000 }),
  },
  {
    flags: '--limit <n>',
    description: 'only one page of so many, 1 to 100 (default of a page: 25)',
    parse: wholeNumberOption({ min: 1, max: 100 }),
  },
]

const orderOptions: readonly OptionDefinition[] = [
  {
    flags: '--order-by <field>',
    description: 'default: id',
    choices: userOrders,
  },
  {
    flags: '--direction <direction>',
    description: 'default: asc',
    choices: orderDirections,
  },
]

/** Users and terms come in pages, users in an order; rules and views come whole. */
export function listCommand(kind: StackKind, word: string): CommandDefinition<ListOptions> {
  const hasPages = kind === 'users' || kind === 'terms'
  return {
    usage: 'list',
    summary: `list ${hasPages ? `all ${word}s, or one page of them` : `all ${word}s`}`,
    examples: [
      `catalogd stack ${kind} list`,
      ...(hasPages ? [`catalogd stack ${kind} list --page 2 --limit 100`] : []),
      ...(kind === 'users' ? ['catalogd stack users list --order-by email --direction desc'] : []),
    ],
    options: [...(hasPages ? pageOptions : []), ...(kind === 'users' ? orderOptions : [])],
    async run(context, { options: { page, limit, orderBy, direction } }) {
      const { listRecords } = await import('../operations/stack-records.ts')
      const query: ListQuery = { page, limit, orderBy, orderByDirection: direction }
      const records = await withStack(context, (client) =>
        listRecords(client, { kind, query, signal: context.signal }),
      )
      context.print(records, () =>
        records.length === 0
          ? `No ${word}${page === undefined ? '' : ' on this page'}.`
          : `${formatRecords(kind, records)}\n${countOf(records.length, word)}`,
      )
    },
  }
}

interface Column {
  title: string
  show: (record: Fields) => unknown
  charactersMax?: number
}

/** What tells the records of a kind apart. */
const columns: Readonly<Record<StackKind, readonly Column[]>> = {
  rules: [
    field('id'),
    field('name'),
    field('type'),
    field('enabled'),
    { title: 'conditions', show: ({ trigger }) => countIn((trigger as Fields | null | undefined)?.$or) },
    { title: 'actions', show: ({ action }) => countIn(action) },
  ],
  views: [
    field('id'),
    field('view_name'),
    field('type'),
    field('access_type'),
    field('sort_by'),
    { title: 'display', show: (view) => flattenView(view).other_display },
    { title: 'search', show: (view) => flattenView(view).filter_value_content_search },
    { title: 'terms', show: (view) => flattenView(view).filter_value_terms, charactersMax: 20 },
  ],
  terms: [
    field('id'),
    field('name'),
    field('type'),
    field('network'),
    { title: 'term', show: ({ term }) => term, charactersMax: 30 },
    field('active'),
    { title: 'last post', show: ({ last_ingestion_post: at }) => instantText(at) },
  ],
  users: [
    field('id'),
    field('username'),
    { title: 'name', show: ({ name, surname }) => [name, surname].filter(Boolean).join(' ') },
    field('email'),
    {
      title: 'groups',
      show: ({ acl_groups: groups }) => (Array.isArray(groups) ? groups.join(',') : groups),
    },
    { title: 'time zone', show: ({ display_timezone: zone }) => zone },
    { title: 'last login', show: ({ last_login: at }) => instantText(at) },
  ],
}

function formatRecords(kind: StackKind, records: readonly Fields[]): string {
  const shown = columns[kind]
  const rows = records.map((record) =>
    shown.map(({ show, charactersMax }) => toCell(show(record), charactersMax)),
  )
  return formatTable([shown.map(({ title }) => title), ...rows])
}

function field(name: string): Column {
  return { title: name, show: (record) => record[name] }
}

/** Numbers stay numbers: they stand at the right. */
function toCell(value: unknown, charactersMax?: number): string | number {
  return typeof value === 'number' ? value : cell(value, charactersMax)
}

function countIn(value: unknown): number | undefined {
  return Array.isArray(value) ? value.length : undefined
}

/** Unix seconds as a person reads them; any other form as it comes. */
function instantText(value: unknown): unknown {
  const seconds = typeof value === 'number' || /^\d{9,11}$/.test(String(value)) ? Number(value) : Number.NaN
  return seconds > 0 && seconds < 1e11 ? `${new Date(seconds * 1000).toISOString().slice(0, 16)}Z` : value
}
