import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openRejectsWriter } from '../../src/records/rejects-writer.ts'
import { FeedFolder, judge, judgeAndRead } from './feed-file.ts'

let folder: FeedFolder
beforeAll(async () => {
  folder = await FeedFolder.open()
})
afterAll(() => folder[Symbol.asyncDispose]())

const big = JSON.stringify(Array.from({ length: 30_000 }, (_, index) => `word ${index}`))

describe('JSON records', () => {
  it.each([
    ['[\n{"id":"1"},\n {"id":"2"}]', ''],
    ['{"a":1,"products":[{"id":"1"},{"id":"2"}],"b":[{"x":1}]}', 'products'],
    ['{\n"b":[{"x":1}],"data":{"items":[{"id":"1"},{"id":"2"}]}}', 'data.items'],
    [`{"words":${big},\n"rest":{"list":[{"id":"1"},{"id":"2"}]},"more":${big}}`, 'rest.list'],
    ['{"status":"ok","products":{"1":{"id":"1"},"2":{"id":"2"}}}', 'products.*'],
    ['{"status":"ok","products":{"x-1":{"id":"1","variants":[{"a":1}]},"x-2":{"id":"2"}}}\n', 'products.*'],
    ['{"7":{"id":"1","skus":[{"id":"a"}]},"9":{"id":"2","skus":[{"id":"b"}]}}', '*'],
    ['{"n":2,"sold":{"x-1":{"id":"1"},\n"x-2":{"id":"2"}}}', 'sold.*'],
    ['{"data":{"page":{"n":1},"shop":{"list":[{"id":"1"},{"id":"2"}]}}}', 'data.shop.list'],
    ['{"taxes":{"a":{"n":1},"b":{"n":2}},"list":[{"id":"1"},{"id":"2"}]}', 'list'],
  ])('%.40s are found', async (text, path) => {
    const { judgement, records } = await judgeAndRead(await folder.write('a', text))
    expect(judgement).toMatchObject({ dialect: { type: 'json', path }, records: 2, unreadableIds: 0 })
    expect(records.map(({ cells }) => cells)).toEqual([['1'], ['2']])
  })

  it.each([
    ['{"id":"1","skus":[{"id":"a"}]}\n', 'ndjson', 1],
    ['{"id":"1"}\n{"id":"2"}\n', 'ndjson', 2],
    ['{"id":"1","price":{"amount":1},"names":{"en":{"text":"a"},"de":{"text":"b"}}}\n', 'ndjson', 1],
    ['{"sku":"1","price":{"amount":1,"unit":"EUR"},"size":{"width":1}}\n', 'ndjson', 1],
    ['{"products":{"1":{"id":"1"},"2":7}}', 'ndjson', 1],
    ['{"id":\n{"id":"2"}\n{"id":"3"}\n', 'ndjson', 3],
    ['{"products":[]}', 'json', 0],
    ['[]', 'json', 0],
  ])('%j is %s', async (text, type, records) => {
    const judgement = await judge(await folder.write('a', text))
    expect([judgement.dialect.type, judgement.records]).toEqual([type, records])
  })

  it('under keys of an object are read at a path that ends with *', async () => {
    const text = '{"a":{"b":{"x":{"id":"1"},\n"y":7,"x":{"id":"2"}},"c":{"id":"3"}}}'
    const format = { type: 'json', path: 'a.b.*' } as const
    const { judgement, records, rejected } = await judgeAndRead(await folder.write('a', text), { format })
    expect(records.map(({ cells }) => cells)).toEqual([['1'], ['2']])
    expect(rejected.map(({ line, source }) => [line, source])).toEqual([[2, '7']])
    const path = folder.path('rejects.json')
    await using writer = openRejectsWriter({ ...judgement, path })
    for (const record of records) await writer.write({ ...record, issues: [] })
    await writer[Symbol.asyncDispose]()
    for (const options of [{ format }, {}]) {
      const again = await judgeAndRead(await folder.write('again', await readFile(path)), options)
      expect(again.judgement.dialect.path).toBe('a.b.*')
      expect(again.records.map(({ cells }) => cells[0])).toEqual(['1', '2'])
    }
  })

  it('that are no objects are rejected alone', async () => {
    const text = `[{"id":"1"},\n7,[1],{"id":${'['.repeat(60)}${']'.repeat(60)}}]`
    const { records, rejected } = await judgeAndRead(await folder.write('a', text))
    expect(records).toHaveLength(2)
    expect(rejected.map(({ line, source, issues }) => [line, source, issues[0]?.code])).toEqual([
      [2, '7', 'not-json'],
      [2, '[1]', 'not-json'],
    ])
  })

  it('deeper or wider than any product are rejected where lines are records', async () => {
    const deep = `{"id":${'['.repeat(100_000)}${']'.repeat(100_000)}}`
    const wide = JSON.stringify(
      Object.fromEntries(Array.from({ length: 10_001 }, (_, index) => [`k${index}`, 1])),
    )
    const { records, rejected } = await judgeAndRead(
      await folder.write('a', `{"id":"1"}\n${deep}\n${wide}\n`),
    )
    expect([records.length, rejected.map(({ record }) => record)]).toEqual([1, [2, 3]])
  })
})

describe('a file is refused whole', () => {
  it.each([
    [
      '[{"id":"1"},\n{"id":"2",}]',
      'not-well-formed',
      'line 2, column 11: found the character }, expected a key',
    ],
    ['[{"id":"é"} {"id":"2"}]', 'not-well-formed', 'line 1, column 13: found the character {'],
    [
      '[{"id":"1"}]\n[]',
      'not-well-formed',
      'line 2, column 1: found the character [, expected the end of the file',
    ],
    ['[{"id":"1"},{"id":"2', 'truncated', 'line 1, column 21'],
    ['[{"id":"1"}', 'truncated', 'ends too early'],
    [`[{"id":${'['.repeat(63)}`, 'too-deep', 'more than 64'],
    [' {"x":{"id":"1",}}', 'not-well-formed', 'line 1, column 17: found the character }'],
    [' {"id":"1"},\n{"id":"2"},\n', 'not-well-formed', 'line 1, column 12: found the character ,'],
    [' {"x":{"id":"1"', 'truncated', 'ends too early'],
    ['{"p":[{"id":"1"}],"p":[]}', 'ambiguous-path', 'twice'],
    ['{"q":[{"id":"1"}]}', 'path-not-found', 'no records at p; found q'],
    ['{"p":{"1":{"id":"1"},"2":{"id":"2"}}}', 'path-not-found', 'no records at p; found p.*'],
    [`[{"id":"${'x'.repeat(3000)}"}]`, 'record-too-long', 'line 1'],
  ])('%.40s', async (text, code, message) => {
    const path = text.startsWith('{') ? { path: 'p', type: 'json' as const } : {}
    const format = { ...path, ...(code === 'record-too-long' ? { recordBytes: 1000 } : {}) }
    await expect(judge(await folder.write('a', text), { format })).rejects.toMatchObject({
      name: 'FileRefusedError',
      code,
      message: expect.stringContaining(message),
    })
  })
})
