import { z } from 'zod'
import type { ConfigDocument } from './document.ts'
import { conditionsOf } from './field-rules.ts'
import { whereSchema } from './field-schema.ts'
import { flag, isTrue, mapping, text } from './leaves.ts'
import type { GroupConfig } from './model.ts'
import { isMapping, soundPart } from './parts.ts'
import type { ConfigPath } from './problems.ts'

const ways = ['parent', 'members', 'above'] as const
const nameText = 'a column, or a text with {column} placeholders'

const membersSchema = mapping({
  column: text('the name of a column').describe('The column that lists the rows of a product'),
  split: text('what separates the members').default('|').describe('What separates the members of the list'),
  pattern: text('a regular expression in RE2 syntax')
    .optional()
    .describe('RE2 syntax: the first group, else the match, is what the member is called'),
})

/** Of a feed: which rows of its files are one product. */
export const groupSchema = z
  .union(
    [
      flag(),
      mapping({
        parent: text(nameText).optional().describe('Names the row that a row belongs to; empty: to none'),
        above: whereSchema
          .optional()
          .describe('Rows whose cells are so belong to the row above them; "" is an empty cell'),
        members: membersSchema.optional().describe('Where a row lists the rows that belong to it'),
        optional: flag()
          .optional()
          .describe(
            'Whether the columns may be absent: each product is one row then, or rows of one product_id',
          ),
        names: z
          .array(text(nameText), { error: 'a list of columns or texts with {column} placeholders' })
          .default([])
          .describe('What other rows call a row, such as [SKU, "id:{ID}"]; default: its product_id'),
      }),
    ],
    { error: 'true, or a mapping with parent, members or above' },
  )
  .meta({ title: 'Which rows are one product' })

type GroupInput = z.output<typeof groupSchema>

export function buildGroup(input: GroupInput | undefined): GroupConfig | undefined {
  if (input === undefined || input === false || input === 'false') return undefined
  if (input === true || input === 'true') return { by: 'id' }
  const { parent, members, above, names } = input
  const optional = isTrue(input.optional) ? { optional: true } : {}
  if (above !== undefined) return { by: 'above', where: conditionsOf(above), ...optional }
  if (parent !== undefined) return { by: 'parent', parent, names, ...optional }
  return members && { by: 'members', ...members, names, ...optional }
}

/** Adds what the schema cannot see. */
export function checkGroup(
  document: ConfigDocument,
  path: ConfigPath,
  problemsOf: (group: GroupConfig) => readonly string[],
): void {
  const value = document.at(path)
  if (isMapping(value)) {
    const given = ways.filter((way) => value[way] !== undefined)
    const found =
      given.length === 0 ? 'found neither parent, members nor above' : `found ${given.join(' and ')}`
    if (given.length !== 1) {
      document.addProblem(path, `${found}, expected one of them`)
      return
    }
  }
  const group = buildGroup(soundPart(document, path, groupSchema.optional()))
  for (const problem of group ? problemsOf(group) : []) document.addProblem(path, problem)
}
