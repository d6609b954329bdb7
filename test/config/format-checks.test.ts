import { expect, it } from 'vitest'
import { checkFormat } from '../../src/config/feed-checks.ts'
import { feedShape } from '../../src/config/schema.ts'

/** Problems of a format, as `key: message`. */
function problemsOf(format: Record<string, unknown>): string[] {
  const problems: string[] = []
  const document = {
    at: () => format,
    addProblem: (path: readonly (string | number)[], message: string) =>
      problems.push(`${path.slice(1).join('.')}: ${message}`),
  }
  checkFormat(document as unknown as Parameters<typeof checkFormat>[0], ['format'])
  return problems
}

it.each([
  [{ type: 'xml', path: 'rss/channel/item' }, []],
  [{ type: 'json', path: '' }, []],
  [{ type: 'csv', header: 'none' }, []],
  [{ path: 'data.items', header: ['id', 'name'] }, []],
  [{ type: 'json', header: 'none' }, ['header: has no effect with type json, expected it to be left out']],
  [{ type: 'csv', path: 'a' }, ['path: has no effect with type csv, expected it to be left out']],
  [
    { type: 'xlsx', encoding: 'utf-8' },
    ['encoding: has no effect with type xlsx, expected it to be left out'],
  ],
  [{ type: 'xml', path: '' }, ['path: found "", expected the elements from the root to the record']],
  [
    { type: 'json', path: 'a/b' },
    ['path: found "a/b", expected keys with dots between, such as data.products'],
  ],
  [{ header: ['id', 'id'] }, ['header.1: found "id" a second time, expected another name']],
])('%j', (format, problems) => {
  expect(problemsOf(format)).toEqual(problems)
})

it.each([{ path: '/rss/item' }, { path: 'a..b' }, { header: [] }, { header: 'first' }, { type: 'yaml' }])(
  '%j is no format',
  (format) => {
    expect(feedShape.format.safeParse(format).success).toBe(false)
  },
)
