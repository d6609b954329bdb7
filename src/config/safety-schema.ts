import { z } from 'zod'
import { mapping, oneOf, share, text } from './leaves.ts'

/** Keys of a feed that keep a bad file from doing damage. */
export const safetyShape = {
  verify: oneOf(['md5', 'sha256', 'count'])
    .optional()
    .describe(
      'A file waits until <file>.md5, .sha256 or .count is beside it; one that is there is always checked',
    ),
  asOf: mapping({
    name: text('a regular expression with named groups')
      .optional()
      .describe(
        'RE2 with the group stamp, or year, month, day, hour, minute, second, found in the name of the file',
      ),
    column: text('the name of a column').optional().describe('Whose cell in the first record says the time'),
    date: text('a form such as DD.MM.YYYY HH:mm, or unix')
      .optional()
      .describe('Of the cell; default: ISO 8601'),
    zone: text('a time zone such as Europe/Berlin')
      .optional()
      .describe('Of times that name none; default: UTC'),
  })
    .optional()
    .describe(
      'Where a file says as of when it holds: an older one than the newest full file is set aside as late',
    ),
  changes: mapping({
    atMost: z
      .union(
        [
          share(),
          mapping({
            urgent: share().optional().describe('Of prices, availability and stock'),
            new: share().optional().describe('Of products that were never delivered'),
            deferred: share().optional().describe('Of all other edits'),
          }),
        ],
        {
          error: 'a share such as 50%, or { urgent: …, new: …, deferred: … }',
        },
      )
      .describe('One share of all changes, or one for each lane'),
  })
    .optional()
    .describe(
      'Share of the known products that one file may change, by lane; above it the file waits for approval',
    ),
}
