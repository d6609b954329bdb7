import type { FieldRuleInput } from './field-schema.ts'

/** What a record of a feed of kind consents says. */
export const consentFields = ['email', 'consent'] as const

/** The feed of what the command `consent` hands in; it stands in no configuration. */
export const consentCommandName = 'consent-command'

/** Parts of a rule that mean something for an address or a yes or no. */
const ownParts = 'column value template pattern result when otherwise default trim'.split(' ')

/** What is wrong with how a field of a consent is computed: the part of the rule, and why. */
export function consentRuleProblems(
  field: string,
  rule: FieldRuleInput,
): { part: string; message: string }[] {
  if (typeof rule === 'string') return []
  const foreign = Object.entries(rule)
    .filter(([part, value]) => value !== undefined && !ownParts.includes(part))
    .map(([part]) => ({ part, message: 'has no effect in a feed of consents, expected it to be left out' }))
  if (field !== 'email' || rule.value === undefined) return foreign
  return [...foreign, { part: 'value', message: 'would be one customer, expected the column of the address' }]
}
