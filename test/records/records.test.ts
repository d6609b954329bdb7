import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { reasonColumn } from '../../src/records/model.ts'
import { FeedFolder, judge, judgeAndRead } from './feed-file.ts'

let folder: FeedFolder
beforeAll(async () => {
  folder = await FeedFolder.open()
})
afterAll(() => folder[Symbol.asyncDispose]())

describe('the header', () => {
  it('alone is a file without records', async () => {
    const { judgement, records } = await judgeAndRead(await folder.write('a.csv', 'id;name\r\n'))
    expect(judgement).toMatchObject({ columns: ['id', 'name'], records: 0, unreadableIds: 0 })
    expect(records).toEqual([])
  })

  it('is trimmed, and cells that trailing delimiters make are no columns', async () => {
    const text = '\n ,,\n id , "name" ,"price ",,\n1,a,2,,\n2,b,3\n'
    const { judgement, records } = await judgeAndRead(await folder.write('a.csv', text))
    expect(judgement.columns).toEqual(['id', '"name"', 'price'])
    expect(records.map(({ cells, line }) => [line, ...cells])).toEqual([
      [4, '1', 'a', '2'],
      [5, '2', 'b', '3'],
    ])
  })

  it('with a name twice is warned about', async () => {
    const { warnings, columns } = await judge(
      await folder.write('a.csv', 'id,name,__proto__,name,\n1,a,b,c,\n'),
    )
    expect(columns).toEqual(['id', 'name', '__proto__', 'name'])
    expect(warnings).toEqual([expect.stringContaining('"name"')])
  })

  it('without the id leaves every id unread', async () => {
    const result = await judge(await folder.write('a.csv', 'sku,name\n1,a\n2,b\n'))
    expect([result.records, result.unreadableIds, result.ids.size]).toEqual([2, 2, 0])
  })
})

describe('records', () => {
  it('of another width than the header are rejected with their cells, others are not', async () => {
    const text = 'id,name,price\n1,a,2\n2,b\n3,c,4,5\n4,d,6,,\n,,\n\n5,,\n6,"x\ny",7\n'
    const { judgement, records, rejected, issues } = await judgeAndRead(await folder.write('a.csv', text))
    expect(records.map(({ cells }) => cells)).toEqual([
      ['1', 'a', '2'],
      ['4', 'd', '6'],
      ['5', '', ''],
      ['6', 'x\ny', '7'],
    ])
    expect(rejected.map(({ record, line, cells }) => [record, line, cells])).toEqual([
      [2, 3, ['2', 'b']],
      [3, 4, ['3', 'c', '4', '5']],
    ])
    expect(issues).toEqual(rejected.flatMap((record) => record.issues))
    expect(issues[0]).toMatchObject({ code: 'cell-count', record: 2, line: 3, severity: 'reject' })
    expect(issues[0]?.message).toContain('has 2 cells, the header has 3')
    expect(records.at(-1)?.line).toBe(9)
    expect(judgement).toMatchObject({ records: 6, unreadableIds: 0 })
  })

  it('come in batches of at most 128', async () => {
    const text = `id,name\n${Array.from({ length: 1201 }, (_, index) => `${index},x\n`).join('')}`
    const { records, batches } = await judgeAndRead(await folder.write('a.csv', text))
    expect([records.length, batches]).toEqual([1201, 10])
    expect(records.map(({ record }) => record)).toEqual(Array.from({ length: 1201 }, (_, index) => index + 1))
  })

  it('with one id more than once: the last one counts', async () => {
    const text = 'id,name\n1,a\n2,b\n1,c\n3,d\n1,e\n ,f\n'
    const { ids, unreadableIds } = await judge(await folder.write('a.csv', text))
    expect([ids.size, ids.repeated, unreadableIds]).toEqual([3, 1, 1])
    expect([1, 3, 5].map((record) => ids.isLast('1', record))).toEqual([false, false, true])
    expect([ids.isLast('2', 2), ids.isLast('unknown', 9)]).toEqual([true, true])
  })
})

describe('NDJSON', () => {
  const judged = { neededColumns: ['id', 'price.amount', 'a.b', '__proto__', 'none'] }

  it('gives the values of the needed columns with their types, own keys only', async () => {
    const lines = [
      '{"id":"1","price":{"amount":1.5},"a.b":[1],"a":{"b":2},"__proto__":7}',
      '',
      '  {"id":"2","price":3,"a":{"b":null}}  ',
    ]
    const { judgement, records } = await judgeAndRead(await folder.write('a', lines.join('\r\n')), judged)
    expect(judgement.columns).toEqual(judged.neededColumns)
    expect(records.map(({ cells }) => cells)).toEqual([
      ['1', 1.5, [1], 7, undefined],
      ['2', undefined, null, undefined, undefined],
    ])
    expect(records.map(({ line }) => line)).toEqual([1, 3])
    expect(records[1]?.source).toEqual({ id: '2', price: 3, a: { b: null } })
  })

  it('rejects lines that hold no object', async () => {
    const text = '{"id":"1"}\n[1]\n"x"\n{"id":\n,,\n{"id":"2"}\n'
    const { judgement, records, rejected } = await judgeAndRead(await folder.write('a', text), judged)
    expect(records).toHaveLength(2)
    expect(rejected.map(({ line, source, issues }) => [line, source, issues[0]?.code])).toEqual([
      [2, '[1]', 'not-json'],
      [3, '"x"', 'not-json'],
      [4, '{"id":', 'not-json'],
      [5, ',,', 'not-json'],
    ])
    expect(judgement).toMatchObject({ records: 6, unreadableIds: 4 })
  })

  it('shows the reason column of a rejects file', async () => {
    const source = await folder.write('a', `{"${reasonColumn}":"why","id":"1"}\n`)
    expect((await judge(source)).columns).toEqual(['id', reasonColumn])
  })
})
