import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { FeedFolder, judge, judgeAndRead } from './feed-file.ts'

let folder: FeedFolder
beforeAll(async () => {
  folder = await FeedFolder.open()
})
afterAll(() => folder[Symbol.asyncDispose]())

describe('a file without a header', () => {
  it('has columns that are called by their position', async () => {
    const { judgement, records } = await judgeAndRead(await folder.write('a.csv', '7;a\n8;b\n9;c;d\n'), {
      format: { header: 'none' },
      neededColumns: ['1'],
    })
    expect(judgement).toMatchObject({ columns: ['1', '2'], records: 3 })
    expect(records.map(({ record, line, cells }) => [record, line, ...cells])).toEqual([
      [1, 1, '7', 'a'],
      [2, 2, '8', 'b'],
    ])
  })

  it('may begin with a line that names the delimiter', async () => {
    const { records } = await judgeAndRead(await folder.write('sep.csv', 'sep=;\n7,5;a\n8,5;b\n'), {
      format: { header: 'none' },
      neededColumns: ['1'],
    })
    expect(records.map(({ record, line, cells }) => [record, line, ...cells])).toEqual([
      [1, 2, '7,5', 'a'],
      [2, 3, '8,5', 'b'],
    ])
  })

  it('has the columns that are listed', async () => {
    const { judgement, records } = await judgeAndRead(await folder.write('a.tsv', '7\ta\n'), {
      format: { header: ['id', '__proto__'] },
    })
    expect(judgement).toMatchObject({ columns: ['id', '__proto__'], records: 1, unreadableIds: 0 })
    expect(records[0]?.cells).toEqual(['7', 'a'])
  })
})

it('a file of too many columns is refused, a record of too many cells rejected', async () => {
  const wide = 'a,'.repeat(10_001)
  await expect(judge(await folder.write('a.csv', `${wide}\n`))).rejects.toMatchObject({
    code: 'too-many-columns',
  })
  const { records, rejected } = await judgeAndRead(await folder.write('b.csv', `id,name\n1,${wide}b\n2,c\n`))
  expect([records.length, rejected.map(({ issues }) => issues[0]?.message)]).toEqual([
    1,
    [expect.stringContaining('10003 cells, more than 10000')],
  ])
})
