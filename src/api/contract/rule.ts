import { z } from 'zod'
import { filledText, flag } from './fields.ts'
import { jsonObject, jsonValue } from './json-value.ts'

/** The contract does not show how a condition is built: any JSON object is accepted and kept. */
export const conditionSchema = jsonObject.meta({
  kind: 'object',
  description: 'Not described: kept as it is',
})
/** Nor how an action is. */
export const actionSchema = jsonObject.meta({ kind: 'object', description: 'Not described: kept as it is' })

/** Further keys beside `$or` are kept. */
export const triggerSchema = z
  .object({ $or: z.array(conditionSchema).meta({ kind: 'list', expected: 'a list of conditions' }) })
  .catchall(jsonValue)

const shape = {
  name: filledText('Name of the rule'),
  trigger: triggerSchema.meta({
    kind: 'object',
    description: 'Under $or the conditions, one of which must hold',
    expected: 'an object with the conditions in a list under $or',
  }),
  action: z.array(actionSchema).meta({
    kind: 'list',
    description: 'What is done to each record that matches',
    expected: 'a list of actions',
  }),
  enabled: flag('1: the rule is active'),
  /** `tile` and `asset` are seen in use; the contract lists no values. */
  type: filledText('Which records the rule is for: tile or asset'),
}

export const ruleFields = Object.keys(shape) as RuleField[]
export type RuleField = keyof typeof shape

export const ruleCreateSchema = z.strictObject(shape)
/** The body of an update is not shown: any part of what a rule is created with. */
export const ruleUpdateSchema = z.strictObject(shape).partial()
export type RuleCreate = z.infer<typeof ruleCreateSchema>
export type RuleUpdate = z.infer<typeof ruleUpdateSchema>

/** An id that is not described: a number, or a text that may stand in a path. */
export const ruleIdSchema = z.union([z.int(), z.string().min(1)]).meta({ expected: 'the id of a rule' })
export type RuleId = z.infer<typeof ruleIdSchema>

/** Fields of the record are not shown: what comes is kept. */
export const ruleSchema = z.looseObject({ id: ruleIdSchema })
export type Rule = z.infer<typeof ruleSchema>
