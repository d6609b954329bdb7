import { z } from 'zod'
import { tableFormatSchema } from './format-schema.ts'
import { constant, flag, mapping, mappingOf, oneOf, text, textOf } from './leaves.ts'

const rowChoices = ['first', 'last', 'all', 'min', 'max', 'sum', 'any', 'price'] as const

type Cell = string | number | boolean

/** What a cell must be; `""` is an empty one. */
export type WhereInput = Cell | Cell[] | { not: Cell | Cell[] }

/** The column of the interval, or the columns of its two ends. */
export type DuringInput = string | { from?: string | undefined; until?: string | undefined }

/** One way to compute a field, as it stands in the file. */
export interface FieldRuleDetails
  extends Omit<z.output<typeof ruleDetailsSchema>, 'entries' | 'key' | 'item' | 'parts'> {
  entries?: Record<string, FieldRuleInput> | undefined
  key?: FieldRuleInput | undefined
  item?: Record<string, FieldRuleInput> | undefined
  parts?: FieldRuleInput[] | undefined
}

/** A column name, a template when it contains `{column}`, or the details. */
export type FieldRuleInput = string | FieldRuleDetails

const columnName = () => text('the name of a column')

const cellSchema = z.union([z.string(), z.number(), z.boolean()], {
  error: 'a text, a number, true or false',
})
const cellsSchema = z.union([cellSchema, z.array(cellSchema).min(1)], {
  error: 'a value or a list of values',
})
export const whereSchema = mappingOf(
  z.string(),
  z.union([cellSchema, z.array(cellSchema).min(1), mapping({ not: cellsSchema })], {
    error: 'a value, a list of values, or { not: … }; "" is an empty cell',
  }),
  'a mapping of columns to what their cells must be',
)

const duringSchema = mappingOf(
  z.string(),
  z.union([columnName(), mapping({ from: columnName().optional(), until: columnName().optional() })], {
    error: 'the column that holds the interval, or { from: …, until: … }',
  }),
  'a mapping of columns to when their cells count',
)

/** Rules stand in rules: what they are is said by `FieldRuleDetails`. */
function nested(schema: () => z.ZodType) {
  return z.lazy(schema)
}

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
    .describe(
      'Text with {column} placeholders; empty when one of the columns is empty, unless it stands there as {column?}',
    ),
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
    .describe(
      'Replaces values that are named here; a key may be a comparison ("<=0") or a pattern ("/^draft/")',
    ),
  otherwise: constant('a constant').optional().describe('Replaces values that "when" does not name'),
  default: constant('a constant')
    .optional()
    .describe('What the value is where all before gives none; not where something is wrong'),
  date: text('a date form such as DD.MM.YYYY, or unix')
    .optional()
    .describe(
      'How the cells write dates: YYYY or YY, MM, M or MMM (an English name), DD or D, perhaps HH, mm and ss, and literal characters; or unix (seconds)',
    ),
  trim: flag().optional().describe('Whether space around the value goes; default true'),
  empty: oneOf(['keep', 'clear'])
    .optional()
    .describe('What an empty cell does to the field; default: clear in full files, keep in delta files'),
  optional: flag().optional().describe('Whether the columns may be absent; the rule says nothing then'),
  rows: oneOf(rowChoices)
    .optional()
    .describe(
      'Of records of several rows: whose cells count. Default: the first that is not empty; any: InStock when one row is',
    ),
  where: whereSchema
    .optional()
    .describe('Only rows (or members of each) whose cells are so; "" is an empty cell'),
  prefer: whereSchema
    .optional()
    .describe('Rows whose cells are so count alone; where a product has none of them, all of its rows do'),
  each: text('rows, or the name of a column that holds a list')
    .optional()
    .describe('For skus and variations: one member for each row, or for each member of the list in a column'),
  key: z
    .lazy(() => fieldRuleSchema)
    .optional()
    .describe('For variations: the id of a member'),
  item: z
    .lazy(() => fieldEntriesSchema)
    .optional()
    .describe('How the fields of a member are computed; {../column} is a column of the record itself'),
  matching: text('a regular expression in RE2 syntax with a group called name')
    .optional()
    .describe('For custom_fields: one entry for each column whose name matches, called by the group "name"'),
  parts: z
    .array(nested(() => fieldRuleSchema))
    .min(1)
    .optional()
    .describe('For custom_fields: entries of several rules; of entries with one name the first counts'),
  pairs: mapping({
    separator: text('what separates the pairs').default(','),
    equals: text('what separates name and value').default('='),
  })
    .optional()
    .describe('For custom_fields: the cell holds pairs such as colour=red,size="a, b"'),
  newline: text('what stands for the end of a line')
    .optional()
    .describe('What stands for the end of a line, such as "\\n"; behind a backslash it stands for itself'),
  json: oneOf(['text']).optional().describe('Makes plain text of JSON: the texts of a list, one a line'),
  html: oneOf(['text']).optional().describe('Makes plain text of HTML'),
  part: oneOf(['currency', 'amount'])
    .optional()
    .describe('Takes one part of an amount of money: its currency (ISO code) or its number'),
  words: oneOf(['availability'])
    .optional()
    .describe('Translates the usual words for availability, in many languages; when goes first'),
  lookup: mapping({
    file: text('a file with a table'),
    key: columnName(),
    value: columnName(),
    format: tableFormatSchema
      .optional()
      .describe('How the table is written; each part is detected when left out'),
  })
    .optional()
    .describe('Replaces the value (each element of a list) by means of a table, relative to this file'),
  unescape: textOf((value) => [...value].length === 1, 'one character')
    .optional()
    .describe('A split mark behind this character separates nothing'),
  elements: mapping({
    pattern: text('a regular expression in RE2 syntax'),
    result: text('a text with {group} placeholders').optional(),
  })
    .optional()
    .describe('For lists: what pattern and result make of each element; one that does not match stays'),
  above: oneOf(['price']).optional().describe('For list_price: it counts only where it is above the price'),
  below: columnName()
    .optional()
    .describe(
      'Of numbers: one above the number in this column does not count, and the next column is tried; "Price?" may be absent',
    ),
  less: mapping({ percent: columnName().optional(), amount: columnName().optional() })
    .optional()
    .describe(
      'For price and list_price: columns with what is taken off, in per cent or as an amount (of both the amount alone); "Rebate?" may be absent',
    ),
  during: duringSchema
    .optional()
    .describe('The cell of the column counts only in the time that another column (or two) gives'),
  zone: text('a time zone such as Europe/Berlin')
    .optional()
    .describe('Of times without an offset; default UTC'),
}).meta({ title: 'How a field is computed' })

export const fieldRuleSchema: z.ZodType<FieldRuleInput> = z
  .union([text('a column name'), ruleDetailsSchema as z.ZodType<FieldRuleDetails>], {
    error: 'a column name, a text with {column} placeholders, or a mapping such as { column: Price }',
  })
  .meta({ id: 'fieldRule' })

const fieldEntriesSchema = mappingOf(z.string(), fieldRuleSchema, 'a mapping of entries to columns')
