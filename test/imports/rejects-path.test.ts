import { describe, expect, it } from 'vitest'
import { rejectsPath } from '../../src/imports/report.ts'
import type { FeedName } from '../../src/lib/brand.ts'
import { compileNames } from '../../src/sources/file-patterns.ts'
import type { AcceptLine } from '../../src/sources/model.ts'

const full = (pattern: string) => ({ pattern, mode: 'full' as const })
const delta = (pattern: string) => ({ pattern, mode: 'delta' as const })

describe('a file of rejected records', () => {
  it.each([
    [[full('*')], 'a.csv', '00000025-stock.rejects.csv'],
    [[full('*.csv')], 'a.csv.gz', '00000025-stock.rejects.csv'],
    [[full('*_full.csv'), delta('*_delta.csv')], 'a_full.csv', '00000025-stock.rejects_delta.csv'],
    [[full('export-*.csv')], 'export-1.csv', 'export-00000025-stock.rejects.csv'],
    [[full('*.txt'), delta('*.csv')], 'a.txt', '00000025-stock.rejects.txt'],
    // No pattern takes anything that it could be called: it is known by this name.
    [[full('*.xlsx')], 'a.xlsx', '00000025-stock.rejects.csv'],
    [[full('export.csv')], 'export.csv', '00000025-stock.rejects.csv'],
    [[full('{a,b}-[0-9].csv')], 'a-1.csv', '00000025-stock.rejects.csv'],
  ])('of a feed that takes %j is called so that it can be dropped again', (files, name, expected) => {
    const accept = { sequence: 25, feed: 'stock' as FeedName, name } as unknown as AcceptLine
    expect(rejectsPath(accept, { reportsDir: 'reports', dialect: { type: 'csv' }, files })).toBe(
      `reports/${expected}`,
    )
    expect(compileNames({ name: accept.feed, files })(expected)).toBeDefined()
    expect(compileNames({ name: 'other' as FeedName, files: [full('x')] })(expected)).toBeUndefined()
  })
})
