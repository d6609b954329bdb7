import type { z } from 'zod'
import { metadataOf } from '../../api/contract/fields.ts'
import type { JsonValue } from '../../api/contract/json-value.ts'
import { contractProblems, fieldsOf } from '../../api/contract/problems.ts'
import { inWireForm } from '../../api/contract/wire-form.ts'
import { refused, type StackRefusal, type StackSubject } from './stack-answer.ts'
import { bodySchemaOf, type StackCall } from './stack-call.ts'

export type WrittenFields = Readonly<Record<string, JsonValue>>

export interface FieldRules {
  /** Fields that the service keeps, besides those that the schema names. */
  kept?: readonly string[]
}

/**
 * The fields of a write, in the contract's form. Lenient: other encodings are converted, what the service keeps is
 * ignored, fields that the contract does not have are taken as they are. Strict: all of that is refused.
 */
export async function readWrittenFields(
  call: StackCall,
  { subject, kept = [] }: FieldRules & { subject: StackSubject },
  precheck?: (sent: Readonly<Record<string, unknown>>) => StackRefusal | undefined,
): Promise<{ kind: 'fields'; fields: WrittenFields } | StackRefusal> {
  const { strict } = call
  const schema = bodySchemaOf(call.endpoint)
  const unwritable = [...kept, ...Object.keys(metadataOf(schema).unwritable ?? {})]
  const sent = await call.readFields([...fieldNames(schema), ...unwritable])
  if (sent.kind === 'refused') return sent
  const early = strict ? undefined : precheck?.(sent.fields)
  if (early !== undefined) return early
  // An update that is no JSON has no other text for false, 0 and an empty list; JSON has.
  const emptyTexts = call.endpoint.method === 'PUT' && sent.encoding === 'pairs' ? 'values' : 'not-given'
  const written = Object.entries(sent.fields).filter(([name]) => !unwritable.includes(name))
  const fields = strict ? sent.fields : inWireForm(schema, Object.fromEntries(written), { emptyTexts })
  const problems = contractProblems(schema, fields, {
    whole: subject,
    unknownFields: strict ? 'refuse' : 'tolerate',
  })
  if (problems.length > 0) {
    return refused(400, { subject, reason: 'invalid' }, ...problems.map(({ message }) => message))
  }
  return { kind: 'fields', fields: fields as WrittenFields }
}

export function fieldNames(schema: z.ZodType): string[] {
  return Object.keys(fieldsOf(schema) ?? {})
}
