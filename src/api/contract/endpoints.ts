import { z } from 'zod'
import { emailSchema } from './consent.ts'
import { numericId } from './fields.ts'
import { intentRequestSchema, intentResponseSchema } from './intent.ts'
import { moderationViewSchema, moderationViewWriteSchema } from './moderation-view.ts'
import { termListQuerySchema, userListQuerySchema } from './paging.ts'
import { productSchema } from './product.ts'
import { ruleCreateSchema, ruleIdSchema, ruleSchema, ruleUpdateSchema } from './rule.ts'
import { termCreateSchema, termSchema, termUpdateSchema } from './term.ts'
import { userSchema, userUpdateSchema } from './user.ts'

export type ApiGroup = 'products' | 'consent' | 'intent' | 'stack'

/** One HTTP operation of the four groups: what clients call, the sandbox serves and OpenAPI describes. */
export interface Endpoint {
  /** Of the operation, unique. */
  name: string
  group: ApiGroup
  method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /** Path parameters in braces. Rules have a trailing slash on the collection, as the contract writes them. */
  path: string
  summary: string
  /** `stack-required`: the credentials in the query are part of the contract; `stack`: real servers take them everywhere. */
  credentials: 'products-token' | 'email-token' | 'intent-token' | 'stack-required' | 'stack'
  /** What the braces of the path stand for, as texts. */
  params?: z.ZodObject
  query?: z.ZodObject
  body?: { schema: z.ZodType; many?: true }
  /** Undefined: the contract does not show the body of the response. */
  result?: { schema: z.ZodType; many?: true }
}

type Place = Pick<Endpoint, 'group' | 'credentials' | 'path' | 'params'>
type Data = Partial<Pick<Endpoint, 'query' | 'body' | 'result'>>

const operation =
  <Method extends Endpoint['method']>(method: Method) =>
  <const At extends Place, const Carried extends Data>(at: At, summary: string, data: Carried) => ({
    ...at,
    ...data,
    method,
    summary,
  })
const [get, post, put, remove] = [operation('GET'), operation('POST'), operation('PUT'), operation('DELETE')]

const rules = { group: 'stack', credentials: 'stack-required', path: '/api/tilerules/' } as const
const oneRule = {
  ...rules,
  path: '/api/tilerules/{ruleId}',
  params: z.strictObject({ ruleId: ruleIdSchema.meta({ description: 'Id of the rule' }) }),
} as const
const views = { group: 'stack', credentials: 'stack', path: '/api/moderationviews' } as const
const oneView = {
  ...views,
  path: '/api/moderationviews/{moderationviewId}',
  params: z.strictObject({ moderationviewId: numericId('Id of the moderation view') }),
} as const
const users = { group: 'stack', credentials: 'stack', path: '/api/users' } as const
const oneUser = {
  ...users,
  path: '/api/users/{userId}',
  params: z.strictObject({ userId: numericId('Id of the user') }),
} as const
const terms = { group: 'stack', credentials: 'stack', path: '/api/terms' } as const
const oneTerm = {
  ...terms,
  path: '/api/terms/{termId}',
  params: z.strictObject({ termId: numericId('Id of the term') }),
} as const
const consentParams = z.strictObject({
  email: emailSchema,
  consent: z
    .enum(['true', 'false'])
    .meta({ description: 'true grants, false revokes the marketing permission' }),
})

const rule = { schema: ruleSchema }
const view = { schema: moderationViewSchema }
const viewWrite = { schema: moderationViewWriteSchema }
const user = { schema: userSchema }
const term = { schema: termSchema }

export const endpoints = named({
  createRule: post(rules, 'Create an automation rule', { body: { schema: ruleCreateSchema }, result: rule }),
  listRules: get(rules, 'All automation rules of the Stack', { result: { ...rule, many: true } }),
  getRule: get(oneRule, 'One automation rule', { result: rule }),
  updateRule: put(oneRule, 'Change an automation rule', { body: { schema: ruleUpdateSchema }, result: rule }),
  deleteRule: remove(oneRule, 'Remove an automation rule', {}),
  applyRule: put(
    { ...oneRule, path: '/api/tilerules/{ruleId}/apply' },
    'Apply a rule to the tiles or assets that exist already',
    {},
  ),
  listViews: get(views, 'All moderation views of the Stack', { result: { ...view, many: true } }),
  createView: post(views, 'Create a moderation view', { body: viewWrite, result: view }),
  getView: get(oneView, 'One moderation view', { result: view }),
  updateView: put(oneView, 'Change a moderation view', { body: viewWrite, result: view }),
  deleteView: remove(oneView, 'Remove a moderation view', {}),
  listUsers: get(users, 'Users of the admin portal, by page', {
    query: userListQuerySchema,
    result: { ...user, many: true },
  }),
  getUser: get(oneUser, 'One user', { result: user }),
  updateUser: put(oneUser, 'Change a user', { body: { schema: userUpdateSchema }, result: user }),
  deleteUser: remove(oneUser, 'Remove a user', {}),
  listTerms: get(terms, 'Terms of the Stack, by page', {
    query: termListQuerySchema,
    result: { ...term, many: true },
  }),
  createTerm: post(terms, 'Create a term', { body: { schema: termCreateSchema }, result: term }),
  getTerm: get(oneTerm, 'One term', { result: term }),
  updateTerm: put(oneTerm, 'Change a term', { body: { schema: termUpdateSchema }, result: term }),
  deleteTerm: remove(oneTerm, 'Remove a term', {}),
  upsertProducts: post(
    { group: 'products', credentials: 'products-token', path: '/v1/products/upsert' },
    'Create or replace products; at most 2 MB a call',
    { body: { schema: productSchema, many: true } },
  ),
  setConsent: post(
    {
      group: 'consent',
      credentials: 'email-token',
      path: '/api/v1/customers/consent/{email}/{consent}',
      params: consentParams,
    },
    'Grant or revoke the marketing permission of an e-mail address',
    {},
  ),
  askIntent: post(
    { group: 'intent', credentials: 'intent-token', path: '/api' },
    'Rank products for what a shopper is after',
    { body: { schema: intentRequestSchema }, result: { schema: intentResponseSchema } },
  ),
})

export type EndpointName = keyof typeof endpoints

function named<const Table extends Record<string, Omit<Endpoint, 'name'>>>(table: Table) {
  return Object.fromEntries(
    Object.entries(table).map(([name, endpoint]) => [name, { name, ...endpoint }]),
  ) as { [Name in keyof Table]: Table[Name] & { name: Name } }
}
