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

const stackEndpoint = (
  endpoint: Omit<Endpoint, 'group' | 'credentials'> & { credentials?: Endpoint['credentials'] },
) => ({ group: 'stack', credentials: 'stack', ...endpoint }) as const satisfies Endpoint

const ruleEndpoint = (endpoint: Omit<Endpoint, 'group' | 'credentials'>) =>
  stackEndpoint({ ...endpoint, credentials: 'stack-required' })

const ruleParams = z.strictObject({ ruleId: ruleIdSchema.meta({ description: 'Id of the rule' }) })
const viewParams = z.strictObject({ moderationviewId: numericId('Id of the moderation view') })
const userParams = z.strictObject({ userId: numericId('Id of the user') })
const termParams = z.strictObject({ termId: numericId('Id of the term') })
const consentParams = z.strictObject({
  email: emailSchema,
  consent: z
    .enum(['true', 'false'])
    .meta({ description: 'true grants, false revokes the marketing permission' }),
})

const rule = { schema: ruleSchema }
const view = { schema: moderationViewSchema }
const user = { schema: userSchema }
const term = { schema: termSchema }

export const endpoints = {
  createRule: ruleEndpoint({
    name: 'createRule',
    method: 'POST',
    path: '/api/tilerules/',
    summary: 'Create an automation rule',
    body: { schema: ruleCreateSchema },
    result: rule,
  }),
  listRules: ruleEndpoint({
    name: 'listRules',
    method: 'GET',
    path: '/api/tilerules/',
    summary: 'All automation rules of the Stack',
    result: { ...rule, many: true },
  }),
  getRule: ruleEndpoint({
    name: 'getRule',
    method: 'GET',
    path: '/api/tilerules/{ruleId}',
    params: ruleParams,
    summary: 'One automation rule',
    result: rule,
  }),
  updateRule: ruleEndpoint({
    name: 'updateRule',
    method: 'PUT',
    path: '/api/tilerules/{ruleId}',
    params: ruleParams,
    summary: 'Change an automation rule',
    body: { schema: ruleUpdateSchema },
    result: rule,
  }),
  deleteRule: ruleEndpoint({
    name: 'deleteRule',
    method: 'DELETE',
    path: '/api/tilerules/{ruleId}',
    params: ruleParams,
    summary: 'Remove an automation rule',
  }),
  applyRule: ruleEndpoint({
    name: 'applyRule',
    method: 'PUT',
    path: '/api/tilerules/{ruleId}/apply',
    params: ruleParams,
    summary: 'Apply a rule to the tiles or assets that exist already',
  }),
  listViews: stackEndpoint({
    name: 'listViews',
    method: 'GET',
    path: '/api/moderationviews',
    summary: 'All moderation views of the Stack',
    result: { ...view, many: true },
  }),
  createView: stackEndpoint({
    name: 'createView',
    method: 'POST',
    path: '/api/moderationviews',
    summary: 'Create a moderation view',
    body: { schema: moderationViewWriteSchema },
    result: view,
  }),
  getView: stackEndpoint({
    name: 'getView',
    method: 'GET',
    path: '/api/moderationviews/{moderationviewId}',
    params: viewParams,
    summary: 'One moderation view',
    result: view,
  }),
  updateView: stackEndpoint({
    name: 'updateView',
    method: 'PUT',
    path: '/api/moderationviews/{moderationviewId}',
    params: viewParams,
    summary: 'Change a moderation view',
    body: { schema: moderationViewWriteSchema },
    result: view,
  }),
  deleteView: stackEndpoint({
    name: 'deleteView',
    method: 'DELETE',
    path: '/api/moderationviews/{moderationviewId}',
    params: viewParams,
    summary: 'Remove a moderation view',
  }),
  listUsers: stackEndpoint({
    name: 'listUsers',
    method: 'GET',
    path: '/api/users',
    summary: 'Users of the admin portal, by page',
    query: userListQuerySchema,
    result: { ...user, many: true },
  }),
  getUser: stackEndpoint({
    name: 'getUser',
    method: 'GET',
    path: '/api/users/{userId}',
    params: userParams,
    summary: 'One user',
    result: user,
  }),
  updateUser: stackEndpoint({
    name: 'updateUser',
    method: 'PUT',
    path: '/api/users/{userId}',
    params: userParams,
    summary: 'Change a user',
    body: { schema: userUpdateSchema },
    result: user,
  }),
  deleteUser: stackEndpoint({
    name: 'deleteUser',
    method: 'DELETE',
    path: '/api/users/{userId}',
    params: userParams,
    summary: 'Remove a user',
  }),
  listTerms: stackEndpoint({
    name: 'listTerms',
    method: 'GET',
    path: '/api/terms',
    summary: 'Terms of the Stack, by page',
    query: termListQuerySchema,
    result: { ...term, many: true },
  }),
  createTerm: stackEndpoint({
    name: 'createTerm',
    method: 'POST',
    path: '/api/terms',
    summary: 'Create a term',
    body: { schema: termCreateSchema },
    result: term,
  }),
  getTerm: stackEndpoint({
    name: 'getTerm',
    method: 'GET',
    path: '/api/terms/{termId}',
    params: termParams,
    summary: 'One term',
    result: term,
  }),
  updateTerm: stackEndpoint({
    name: 'updateTerm',
    method: 'PUT',
    path: '/api/terms/{termId}',
    params: termParams,
    summary: 'Change a term',
    body: { schema: termUpdateSchema },
    result: term,
  }),
  deleteTerm: stackEndpoint({
    name: 'deleteTerm',
    method: 'DELETE',
    path: '/api/terms/{termId}',
    params: termParams,
    summary: 'Remove a term',
  }),
  upsertProducts: {
    name: 'upsertProducts',
    group: 'products',
    method: 'POST',
    path: '/v1/products/upsert',
    summary: 'Create or replace products; at most 2 MB a call',
    credentials: 'products-token',
    body: { schema: productSchema, many: true },
  },
  setConsent: {
    name: 'setConsent',
    group: 'consent',
    method: 'POST',
    path: '/api/v1/customers/consent/{email}/{consent}',
    params: consentParams,
    summary: 'Grant or revoke the marketing permission of an e-mail address',
    credentials: 'email-token',
  },
  askIntent: {
    name: 'askIntent',
    group: 'intent',
    method: 'POST',
    path: '/api',
    summary: 'Rank products for what a shopper is after',
    credentials: 'intent-token',
    body: { schema: intentRequestSchema },
    result: { schema: intentResponseSchema },
  },
} as const satisfies Record<string, Endpoint>

export type EndpointName = keyof typeof endpoints
