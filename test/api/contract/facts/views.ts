import type { FactType, FieldFact } from './fact.ts'

type Rest = Partial<Omit<FieldFact, 'about' | 'resource' | 'field' | 'type'>>

const read = (field: string, type: FactType, rest: Rest = {}): FieldFact => ({
  about: 'field',
  resource: 'view',
  field,
  type,
  read: true,
  ...rest,
})

const written = (field: string, type: FactType, rest: Rest = {}): FieldFact => ({
  about: 'field',
  resource: 'view',
  field,
  type,
  create: true,
  update: true,
  ...rest,
})

const both = (field: string, type: FactType, rest: Rest = {}) =>
  read(field, type, { create: true, update: true, ...rest })

const columns = [
  ...['select', 'pin', 'scheduled', 'platform', 'user', 'name', 'avatar', 'content', 'preview', 'created'],
  ...[
    'ingested',
    'status',
    'disabled_reason',
    'last_moderated',
    'moderator',
    'terms',
    'tags',
    'type',
    'star',
  ],
  ...['abuse', 'no_purge', 'actions'],
].map((name) => `columns_${name}_col`)

const countedColumns = ['num_votes', 'last_comment_queued_at', 'greatest_score'].map(
  (name) => `columns_${name}`,
)

export const viewFacts: readonly FieldFact[] = [
  read('id', 'integer'),
  both('view_name', 'text'),
  both('type', 'boolean or text', { seen: ['user'] }),
  both('access_type', 'text', { seen: ['public'] }),
  read('stack_id', 'integer'),
  read('owner_id', 'integer'),
  read('column', 'object'),
  read('filter', 'object'),
  read('other', 'object'),
  read('date', 'object'),
  both('sort_by', 'text', { seen: ['newest'] }),
  read('created_at', 'timestamp'),
  read('updated_at', 'timestamp'),
  ...[...columns, ...countedColumns].map((name) => written(name, 'boolean')),
  written('filter_value_content_search', 'text'),
  written('filter_value_origin', 'text', { samples: ['twitter,instagram'] }),
  written('filter_value_media', 'text', { samples: ['image,video'] }),
  written('filter_value_abuse', 'boolean'),
  written('filter_value_filter_by_claimed', 'text', { seen: ['claimed_only'] }),
  written('filter_value_filter_by_geolocation', 'boolean'),
  written('filter_value_tags', 'text', { samples: ['12,34'] }),
  written('filter_value_terms', 'text', { samples: ['5'] }),
  written('other_all_content_length', 'integer'),
  written('other_live_updates', 'boolean'),
  written('other_display', 'text', { seen: ['table'] }),
  written('date_range_from', 'text', { form: 'date-time' }),
  written('date_range_to', 'text', { form: 'date-time' }),
]
