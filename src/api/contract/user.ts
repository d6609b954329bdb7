import { z } from 'zod'
import { numericId, oneOf, text, timestamp } from './fields.ts'
import { jsonValue } from './json-value.ts'
import { isAclGroupList, isEmailAddress, isTimeZone } from './values.ts'

export const distanceUnits = ['metric', 'imperial'] as const

const shape = {
  name: text('First name').optional(),
  surname: text('Last name').optional(),
  email: z
    .string()
    .refine(isEmailAddress)
    .meta({
      kind: 'text',
      description: 'E-mail address',
      format: 'email',
      secret: true,
      expected: 'an e-mail address',
      remedy: 'give one address, without blanks or a name around it',
    })
    .optional(),
  description: text('Notes on the user').optional(),
  display_timezone: z
    .string()
    .refine(isTimeZone)
    .meta({
      kind: 'text',
      description: 'Name of a zone of the tz database, such as Europe/Berlin',
      expected: 'the name of a zone of the tz database such as Europe/Berlin',
      remedy: 'give Region/City as in the tz database, not an offset or abbreviation',
    })
    .optional(),
  distances: oneOf(distanceUnits, 'Unit system of geographic distances').optional(),
  acl_groups: z
    .union([
      z.string().refine(isAclGroupList),
      z.array(
        z
          .union([z.literal([1, 2, 3]), z.enum(['1', '2', '3'])])
          .meta({ expected: 'one of 1, 2, 3', remedy: 'choose one of these' }),
      ),
    ])
    .meta({
      kind: 'list',
      description: 'Groups 1 (Admin), 2 (Moderator), 3 (Developer): a list, or comma-separated',
      expected: 'the groups 1, 2, 3 as a list or comma-separated',
      remedy: 'name each group by its number',
    })
    .optional(),
}

/** Users are never created here; these fields can be changed. */
export const userUpdateSchema = z.strictObject(shape).meta({
  unwritable: {
    id: 'the service gives it',
    username: 'it cannot be changed',
    last_login: 'the service keeps it',
    created_at: 'the service keeps it',
    updated_at: 'the service keeps it',
  },
})
export type UserUpdate = z.infer<typeof userUpdateSchema>
export type UserField = keyof typeof shape
export const userFields = Object.keys(shape) as UserField[]

/** Unknown fields are kept. */
export const userSchema = z.looseObject({
  id: numericId('Id of the user'),
  username: z.string().nullish(),
  name: z.string().nullish(),
  surname: z.string().nullish(),
  email: z.string().nullish(),
  description: z.string().nullish(),
  display_timezone: z.string().nullish(),
  distances: z.string().nullish(),
  acl_groups: z.union([z.string(), z.array(jsonValue)]).nullish(),
  last_login: timestamp().optional(),
  created_at: timestamp().optional(),
  updated_at: timestamp().optional(),
})
export type User = z.infer<typeof userSchema>
