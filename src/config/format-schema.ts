import { z } from 'zod'
import { encodingNames, encodingOf } from '../lib/encoding.ts'
import type { FormatConfig } from './format-model.ts'
import { mapping, oneOf, text, textOf } from './leaves.ts'

const headerExpected = 'none, or a list of column names'

/** How a file is written; each part is detected when left out. */
export const formatShape = {
  type: oneOf(['csv', 'tsv', 'ndjson', 'json', 'xml', 'xlsx']).optional().describe('What the file is'),
  path: textOf(
    (value) => !/^[./]|[./]$|\.\.|\/\/|\s/.test(value),
    'the way to the records, such as data.products (JSON) or rss/channel/item (XML)',
  )
    .optional()
    .describe(
      'JSON: keys to the array of records such as data.products, "" for the root; XML: elements such as rss/channel/item',
    ),
  header: z
    .union(
      [
        z.literal('none'),
        z.array(text('the name of a column'), { error: headerExpected }).min(1, headerExpected),
      ],
      {
        error: headerExpected,
      },
    )
    .optional()
    .describe('The file has no header line; columns are called 1, 2, … or as listed'),
  delimiter: textOf((value) => value === 'tab' || /^[^\r\n"]$/u.test(value), 'one character, or tab')
    .optional()
    .describe('What separates cells: one character, or tab'),
  quote: oneOf(['"', "'", 'none']).optional().describe('none: a quote is an ordinary character'),
  encoding: textOf((value) => encodingOf(value) !== undefined, `one of ${encodingNames.join(', ')}`)
    .optional()
    .describe('Such as utf-8, windows-1252, shift_jis'),
  members: text('a pattern of member names, such as *.csv')
    .optional()
    .describe('Which members of a zip archive are read; default: all files that are not hidden'),
  sheet: text('the name of a sheet')
    .optional()
    .describe('Which sheet of a spreadsheet is read; default: the first that is not hidden'),
}

const { members: _, ...tableShape } = formatShape

/** Of a small table, which is one file. */
export const tableFormatSchema = mapping(tableShape)

type FormatInput = { [Key in keyof typeof formatShape]?: z.output<(typeof formatShape)[Key]> | undefined }

export function buildFormat(input: FormatInput): Omit<FormatConfig, 'recordBytes'> {
  const { type, path, header, delimiter, quote, encoding, members, sheet } = input
  return {
    type,
    path,
    header,
    delimiter: delimiter === 'tab' ? '\t' : delimiter,
    quote,
    encoding: encoding === undefined ? undefined : encodingOf(encoding),
    members,
    sheet,
  }
}
