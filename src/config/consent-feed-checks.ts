import type { ConfigDocument } from './document.ts'
import { checkFields, checkSource } from './feed-checks.ts'
import type { FieldRuleInput } from './field-schema.ts'
import type { FieldKnowledge } from './parts.ts'
import type { ConfigPath } from './problems.ts'
import type { RuleProblem } from './rule-problems.ts'

/** What a record of a feed of kind consents says. */
const consentFields = {
  email: 'the column that holds the address',
  consent: 'the column that holds the consent',
}

/** The feed of what the command `consent` hands in; it stands in no configuration. */
export const consentCommandName = 'consent-command'

const leftOut = 'expected it to be left out'
const delta = 'expected delta or nothing: a consent that a file does not name stays as it is'

/** What speaks of products, by its path. */
const unfit: readonly (readonly [path: readonly string[], message: string])[] = [
  ...['key', 'owns', 'missing', 'changes', 'group', 'transform', 'aliases'].map(
    (key) => [[key], `has no meaning in a feed of kind consents, ${leftOut}`] as const,
  ),
  [
    ['asOf', 'column'],
    'has no meaning in a feed of kind consents, expected name: it orders files found together',
  ],
  [['files', 'full'], `found full files in a feed of kind consents, ${delta}`],
]

/** How the parts of a feed of kind consents fit together. */
export function checkConsentFeed(
  document: ConfigDocument,
  path: ConfigPath,
  knowledge: FieldKnowledge,
): void {
  checkSource(document, path)
  for (const [keys, message] of unfit) {
    const at = [...path, ...keys]
    if (document.at(at) !== undefined) document.addProblem(at, message, 'key')
  }
  if (document.at([...path, 'mode']) === 'full') {
    document.addProblem([...path, 'mode'], `found full in a feed of kind consents, ${delta}`)
  }
  checkFields(document, [...path, 'fields'], {
    known: Object.keys(consentFields),
    noun: 'field of a consent',
    needed: consentFields,
    partProblems: consentRuleProblems,
    checkRule: knowledge.checkConsentRule ?? (() => []),
  })
}

/** Parts of a rule that mean something for an address or a yes or no. */
const ownParts = 'column value template pattern result when otherwise default trim'.split(' ')

/** What is wrong with how a field of a consent is computed: the part of the rule, and why. */
function consentRuleProblems(field: string, rule: FieldRuleInput): RuleProblem[] {
  if (typeof rule === 'string') return []
  const foreign = Object.entries(rule)
    .filter(([part, value]) => value !== undefined && !ownParts.includes(part))
    .map(([part]) => ({ path: [part], message: `has no effect in a feed of consents, ${leftOut}` }))
  if (field === 'email' && rule.value !== undefined)
    foreign.push({ path: ['value'], message: 'would be one customer, expected the column of the address' })
  return foreign
}
