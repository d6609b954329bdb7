import type { z } from 'zod'
import { text } from '../api/contract/fields.ts'
import { moderationViewFields, moderationViewWriteSchema } from '../api/contract/moderation-view.ts'
import { fieldsOf } from '../api/contract/problems.ts'
import { ruleCreateSchema, ruleFields, ruleUpdateSchema } from '../api/contract/rule.ts'
import {
  termCreateOnlyFields,
  termCreateSchema,
  termCreateShapeSchema,
  termUpdateFields,
  termUpdateSchema,
} from '../api/contract/term.ts'
import { userFields, userUpdateSchema } from '../api/contract/user.ts'
import type { StackKind } from './model.ts'

/** What makes a kind of item differ from the others. */
export interface KindRules {
  kind: StackKind
  /** In sentences: `moderation view`. */
  word: string
  /** In the folder of the files. */
  file: string
  nameField: string
  /** What a file may say of an item, in this order. */
  fields: readonly string[]
  /** The same as a schema, in which every field may be left out. */
  schema: z.ZodObject
  /** Undefined: items of this kind are never created or deleted here. */
  createSchema: z.ZodType | undefined
  updateSchema: z.ZodType
  createOnly: ReadonlySet<string>
  /** The contract does not show all fields: a file may name one that the service is seen to have. */
  hasOthers: boolean
}

const noFields: ReadonlySet<string> = new Set()

export const kindRules: Readonly<Record<StackKind, KindRules>> = {
  rules: {
    kind: 'rules',
    word: 'rule',
    file: 'rules.yaml',
    nameField: 'name',
    fields: ruleFields,
    schema: ruleUpdateSchema,
    createSchema: ruleCreateSchema,
    updateSchema: ruleUpdateSchema,
    createOnly: noFields,
    hasOthers: true,
  },
  views: {
    kind: 'views',
    word: 'moderation view',
    file: 'moderation-views.yaml',
    nameField: 'view_name',
    fields: moderationViewFields,
    schema: moderationViewWriteSchema,
    createSchema: moderationViewWriteSchema,
    updateSchema: moderationViewWriteSchema,
    createOnly: noFields,
    hasOthers: false,
  },
  terms: {
    kind: 'terms',
    word: 'term',
    file: 'terms.yaml',
    nameField: 'name',
    // The name first, then what is fixed, then what can be changed.
    fields: ['name', ...termCreateOnlyFields, ...termUpdateFields.filter((field) => field !== 'name')],
    schema: termCreateShapeSchema.partial().meta({ unwritable: keptBy(termCreateShapeSchema) }),
    createSchema: termCreateSchema,
    updateSchema: termUpdateSchema,
    createOnly: new Set<string>(termCreateOnlyFields),
    hasOthers: false,
  },
  users: {
    kind: 'users',
    word: 'user',
    file: 'users.yaml',
    // It cannot be changed and is there once: the first name, which the contract calls name, is neither.
    nameField: 'username',
    fields: ['username', ...userFields],
    schema: userUpdateSchema
      .extend({ username: text().optional() })
      .meta({ unwritable: keptBy(userUpdateSchema) }),
    createSchema: undefined,
    updateSchema: userUpdateSchema,
    createOnly: noFields,
    hasOthers: false,
  },
}

function keptBy(schema: z.ZodType): Readonly<Record<string, string>> {
  return schema.meta()?.unwritable ?? {}
}

/** What is accepted in a field of a kind; undefined for a field that the contract does not have. */
export function fieldSchemaOf({ schema }: Pick<KindRules, 'schema'>, field: string): z.ZodType | undefined {
  const fields = fieldsOf(schema) ?? {}
  return Object.hasOwn(fields, field) ? fields[field] : undefined
}

/** The value that empties a field; undefined where the contract has none. */
export function emptyValueOf(schema: z.ZodType): '' | [] | undefined {
  if (schema.safeParse('').success) return ''
  return schema.safeParse([]).success ? [] : undefined
}

/** Nothing in it: the service and the files say so in several ways. */
export function isEmptyValue(value: unknown): boolean {
  return value === undefined || value === null || value === '' || (Array.isArray(value) && value.length === 0)
}
