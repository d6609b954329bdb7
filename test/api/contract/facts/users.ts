import type { FactType, FieldFact } from './fact.ts'

type Rest = Partial<Omit<FieldFact, 'about' | 'resource' | 'field' | 'type'>>

const kept = (field: string, type: FactType, rest: Rest = {}): FieldFact => ({
  about: 'field',
  resource: 'user',
  field,
  type,
  read: true,
  ...rest,
})

// Nobody is created through the API.
const changeable = (field: string, type: FactType, rest: Rest = {}) =>
  kept(field, type, { update: true, ...rest })

export const userFacts: readonly FieldFact[] = [
  kept('id', 'integer'),
  kept('username', 'text'),
  changeable('name', 'text'),
  changeable('surname', 'text'),
  changeable('email', 'text', { form: 'email' }),
  changeable('description', 'text'),
  changeable('display_timezone', 'text', { form: 'time zone' }),
  changeable('distances', 'text', { values: ['metric', 'imperial'] }),
  changeable('acl_groups', 'text or list', { form: 'groups', values: ['1', '2', '3'] }),
  kept('last_login', 'timestamp'),
  kept('created_at', 'timestamp'),
  kept('updated_at', 'timestamp'),
]
