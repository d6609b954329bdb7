import { z } from 'zod'
import { constant, flag, mapping, mappingOf, oneOf, text, textOf } from './leaves.ts'

/** One way to compute a field, as it stands in the file. */
export interface FieldRuleDetails {
  column?: string | string[] | undefined
  value?: unknown
  template?: string | undefined
  entries?: Record<string, FieldRuleInput> | undefined
  pattern?: string | undefined
  result?: string | undefined
  split?: string | undefined
  separator?: string | undefined
  slash?: string | undefined
  decimal?: '.' | ',' | undefined
  thousands?: '.' | ',' | ' ' | "'" | undefined
  when?: Record<string, unknown> | undefined
  otherwise?: unknown
  date?: string | undefined
  trim?: boolean | 'true' | 'false' | undefined
  empty?: 'keep' | 'clear' | undefined
}

/** A column name, a template when it contains `{column}`, or the details. */
export type FieldRuleInput = string | FieldRuleDetails

const ruleDetailsSchema = mapping({
  column: z
    .union([text('the name of a column'), z.array(text('the name of a column')).min(1)], {
      error: 'the name of a column or a list of names',
    })
    .optional()
    .describe('The column that holds the value; of several the first that is not empty'),
  value: constant('a constant').optional().describe('A constant, the same for every product'),
  template: text('a text with {column} placeholders')
    .optional()
    .describe('Text with {column} placeholders; empty when one of the columns is empty'),
  entries: z
    .lazy(() => fieldEntriesSchema)
    .optional()
    .describe('For custom_fields: one rule per entry'),
  pattern: text('a regular expression in RE2 syntax')
    .optional()
    .describe('RE2 syntax. The value becomes the result, else the first group, else the match'),
  result: text('a text with {group} placeholders')
    .optional()
    .describe('A text with {group} placeholders over the named groups of the pattern'),
  split: text('what separates the elements').optional().describe('Splits a cell into the elements of a list'),
  separator: text('what separates the levels').optional().describe('Separates the levels of a category path'),
  slash: textOf((value) => !value.includes('/'), 'a text without a slash')
    .optional()
    .describe('Replaces a slash inside one level of a category path'),
  decimal: oneOf(['.', ',']).optional().describe('The decimal mark of numbers'),
  thousands: oneOf(['.', ',', ' ', "'"]).optional().describe('The thousands mark'),
  when: mappingOf(z.string(), constant('what the value becomes'), 'a mapping of found values to new ones')
    .optional()
    .describe('Replaces values that are named here'),
  otherwise: constant('a constant').optional().describe('Replaces values that "when" does not name'),
  date: text('a date form such as DD.MM.YYYY, or unix')
    .optional()
    .describe('How the cells write dates: YYYY, MM, DD, M, D and literal characters, or unix (seconds)'),
  trim: flag().optional().describe('Whether space around the value goes; default true'),
  empty: oneOf(['keep', 'clear'])
    .optional()
    .describe('What an empty cell does to the field; default: clear in full files, keep in delta files'),
}).meta({ title: 'How a field is computed' })

export const fieldRuleSchema: z.ZodType<FieldRuleInput> = z
  .union([text('a column name'), ruleDetailsSchema], {
    error: 'a column name, a text with {column} placeholders, or a mapping such as { column: Price }',
  })
  .meta({ id: 'fieldRule' })

const fieldEntriesSchema = mappingOf(z.string(), fieldRuleSchema, 'a mapping of entries to columns')
