import { z } from 'zod'
import type { ConfigDocument } from './document.ts'
import { flag, mapping, text } from './leaves.ts'
import type { GroupConfig } from './model.ts'
import { isMapping, soundPart } from './parts.ts'
import type { ConfigPath } from './problems.ts'

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
    { error: 'true, or a mapping with parent or members' },
  )
  .meta({ title: 'Which rows are one product' })

type GroupInput = z.output<typeof groupSchema>

export function buildGroup(input: GroupInput | undefined): GroupConfig | undefined {
  if (input === undefined || input === false || input === 'false') return undefined
  if (input === true || input === 'true') return { by: 'id' }
  const { parent, members, names } = input
  const optional = input.optional === true || input.optional === 'true' ? { optional: true } : {}
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
  if (isMapping(value) && (value.parent === undefined) === (value.members === undefined)) {
    const found = value.parent === undefined ? 'found neither parent nor members' : 'found parent and members'
    document.addProblem(path, `${found}, expected one of them`)
    return
  }
  const group = buildGroup(soundPart(document, path, groupSchema.optional()))
  for (const problem of group ? problemsOf(group) : []) document.addProblem(path, problem)
}
