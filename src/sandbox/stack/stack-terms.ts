import { isDeepStrictEqual } from 'node:util'
import {
  type TermCreate,
  termCombinationProblems,
  termCreateOnlyFields,
  termCreateShapeSchema,
} from '../../api/contract/term.ts'
import { inWireForm } from '../../api/contract/wire-form.ts'
import { refused, type StackRefusal } from './stack-answer.ts'
import type { StackOperation } from './stack-call.ts'
import type { WrittenFields } from './stack-fields.ts'
import { pageOperation } from './stack-page.ts'
import {
  createOperation,
  deleteOperation,
  getOperation,
  type RecordKind,
  updateOperation,
} from './stack-records.ts'
import type { StackRecord } from './stack-table.ts'

const term: RecordKind = {
  ...{ subject: 'term', word: 'term', table: 'terms', check: refuseCombination },
  times: { created: 'created', changed: 'modified' },
}

export const termOperations = {
  listTerms: pageOperation(term),
  getTerm: getOperation(term),
  deleteTerm: deleteOperation(term),
  createTerm: createOperation(term, { create: (fields) => ({ ...fields, last_ingestion_post: null }) }),
  updateTerm: updateOperation(term, {
    precheck: refuseOtherFixed,
    change: (current, fields, { strict }) => (strict ? fields : withoutIdleFollowers(fields, current)),
  }),
} satisfies Record<string, StackOperation>

/** Clients write all fields of a term, of any kind: no minimum of followers is none, also where none may be set. */
function withoutIdleFollowers(fields: WrittenFields, current: StackRecord): WrittenFields {
  const { minimum_followers: followers, ...others } = fields
  const becoming = { ...current, ...fields } as unknown as TermCreate
  const isRefused = termCombinationProblems(becoming).some(({ field }) => field === 'minimum_followers')
  return followers === 0 && isRefused ? others : fields
}

/** The rules that join fields hold for the whole term, whichever of them an update names. */
function refuseCombination(becoming: WrittenFields): StackRefusal | undefined {
  const problems = termCombinationProblems(becoming as unknown as TermCreate)
  if (problems.length === 0) return undefined
  const messages = problems.map(({ field, message }) => `${field}: ${message}`)
  return refused(400, { subject: 'term', reason: 'invalid' }, ...messages)
}

/** Clients that send a term back as they read it name the fixed fields too. */
function refuseOtherFixed(
  sent: Readonly<Record<string, unknown>>,
  current: StackRecord,
): StackRefusal | undefined {
  const fixed = Object.fromEntries(
    termCreateOnlyFields.filter((name) => Object.hasOwn(sent, name)).map((name) => [name, sent[name]]),
  )
  const inForm = inWireForm(termCreateShapeSchema, fixed) as Record<string, unknown>
  const other = Object.keys(inForm).filter((name) => !isDeepStrictEqual(inForm[name], current[name]))
  if (other.length === 0) return undefined
  const messages = other.map(
    (name) =>
      `${name}: found another value than the term has, which is fixed when it is created; leave it out`,
  )
  return refused(400, { subject: 'term', reason: 'fixed_field' }, ...messages)
}
