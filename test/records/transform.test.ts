import { writeFile } from 'node:fs/promises'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { ParsedRecord, RecordBatch } from '../../src/records/model.ts'
import { Repeated } from '../../src/records/repeated.ts'
import { transformRecords } from '../../src/records/transform-records.ts'
import { TransformThread } from '../../src/records/transform-thread.ts'
import { FeedFolder } from './feed-file.ts'

let folder: FeedFolder

beforeEach(async () => {
  folder = await FeedFolder.open()
})

afterEach(() => folder[Symbol.asyncDispose]())

const columns = ['id', 'name', 'price']

function csv(...lines: string[]): ParsedRecord[] {
  return lines.map((line, index) => ({ record: index + 1, line: index + 2, cells: line.split(',') }))
}

/** The batch that one batch of records becomes; `body` is the function's, or a whole file. */
async function transform(
  body: string,
  records: readonly ParsedRecord[],
  { limitMs = 500, added = [] as string[] } = {},
): Promise<RecordBatch> {
  const file = folder.path('transform.ts')
  const text = body.includes('export')
    ? body
    : `export default (record: Record<string, any>): Record<string, any> | undefined => {\n${body}\n}\n`
  await writeFile(file, text)
  const idReader = { indices: [0], read: ([id]: readonly unknown[]) => String(id) }
  const step = { file, limitMs, columns: [...columns, ...added], idReader }
  const batch = { records, rejected: [], bytesRead: 1 }
  const made: RecordBatch[] = []
  for await (const each of transformRecords(ReadableStream.from([batch]), step, { name: 'a.csv' }))
    made.push(each)
  return made[0] as RecordBatch
}

function codesOf({ rejected }: RecordBatch): unknown[] {
  return rejected.map(({ record, issues }) => [record, issues[0]?.code])
}

describe('a transform', () => {
  it('changes cells, adds columns and skips records', async () => {
    const body = `if (record.name === 'x') return undefined
      return { ...record, name: record.name.toUpperCase(), size: record.price.length }`
    const batch = await transform(body, csv('a,n,10', 'b,x,1', 'c,o,'), { added: ['size'] })
    expect(batch.records.map(({ cells }) => cells)).toEqual([
      ['a', 'N', '10', 2],
      ['c', 'O', '', 0],
    ])
    expect(batch.records[0]?.given?.cells).toEqual(['a', 'n', '10'])
    expect(batch.skipped).toMatchObject([{ record: 2, code: 'transform-skipped', severity: 'warn' }])
    expect(batch.rejected).toEqual([])
  })

  it('that fails, or answers no record, or changes the id, rejects this record alone', async () => {
    const body = `switch (record.name) {
        case 'throw': throw new RangeError('too\\n far')
        case 'text': return 'text' as any
        case 'promise': return Promise.resolve(record)
        case 'function': return { ...record, name: () => 1 }
        case 'id': return { ...record, id: 'other' }
        default: return record
      }`
    const names = ['fine', 'throw', 'text', 'promise', 'function', 'id', 'fine']
    const batch = await transform(body, csv(...names.map((name, index) => `${index},${name},1`)))
    expect(batch.records.map(({ record }) => record)).toEqual([1, 7])
    expect(codesOf(batch)).toEqual([
      [2, 'transform-failed'],
      [3, 'transform-failed'],
      [4, 'transform-failed'],
      [5, 'transform-failed'],
      [6, 'transform-id'],
    ])
    const messages = batch.rejected.map(({ issues }) => issues[0]?.message)
    expect(messages[0]).toBe('the transform failed: RangeError: too far; correct it or the record')
    expect(messages[1]).toMatch(/returned string, expected a record or undefined/)
    expect(messages[2]).toMatch(/returned a promise/)
  })

  it('may answer whole numbers of any size: they are taken as texts', async () => {
    const body = `return { ...record, price: 2n ** 64n, name: [{ code: BigInt(record.price) }] }`
    const [record] = (await transform(body, csv('a,n,10'))).records
    expect(record?.cells).toEqual(['a', [{ code: '10' }], '18446744073709551616'])
  })

  it('that answers what is no data rejects this record alone', async () => {
    const body = `switch (record.name) {
        case 'set': return { ...record, price: new Set([1]) }
        case 'map': return { ...record, price: [new Map([['a', 1]])] }
        case 'array': return { ...record, price: { deep: new BigInt64Array(1) } }
        case 'boxed': return { ...record, price: Object(1n) }
        case 'class': return { ...record, price: new (class { amount = 5n })() }
        default: return { ...record, price: new Date(0) }
      }`
    const names = ['set', 'map', 'array', 'boxed', 'class', 'date']
    const batch = await transform(body, csv(...names.map((name, index) => `${index},${name},1`)))
    expect(batch.records.map(({ cells }) => cells[2])).toEqual([{ amount: '5' }, new Date(0)])
    expect(batch.rejected.map(({ issues }) => issues[0]?.message.slice(0, 51))).toEqual([
      'the transform failed: it answers a Set in the recor',
      'the transform failed: TypeError: it answers a Map i',
      'the transform failed: it answers a BigInt64Array in',
      'the transform failed: it answers a BigInt in the re',
    ])
  })

  it('may say what it likes to its parent, and finds no way to say it in our name', async () => {
    const body = `import { parentPort, workerData } from 'node:worker_threads'
      parentPort?.postMessage({ loaded: false, reason: 'no' })
      export default (record: Record<string, any>) => {
        parentPort?.postMessage('done with ' + record.name)
        parentPort?.postMessage([])
        return { ...record, price: Object.keys(workerData).join() }
      }`
    const batch = await transform(body, csv('a,n,10', 'b,x,1'))
    expect(batch.records.map(({ cells }) => cells)).toEqual([
      ['a', 'n', ''],
      ['b', 'x', ''],
    ])
    expect(batch.rejected).toEqual([])
  })

  it.each(['() => [1]', '() => []', '() => 1', '() => [null, null]'])(
    'that changes what the thread itself runs on fails its records: map = %s',
    async (map) => {
      const body = `Array.prototype.map = (${map}) as any
        export default (record: object) => record`
      const batch = await transform(body, csv('a,n,10', 'b,x,1'))
      expect(codesOf(batch)).toEqual([
        [1, 'transform-failed'],
        [2, 'transform-failed'],
      ])
      expect(batch.records).toEqual([])
    },
  )

  it('that does not end is stopped, and the records around go on', async () => {
    const body = `if (record.name === 'loop') for (;;) ;
      if (record.name === 'exit') process.exit(3)
      return record`
    const batch = await transform(body, csv('1,a,', '2,loop,', '3,b,', '4,exit,', '5,c,'), { limitMs: 20 })
    expect(batch.records.map(({ record }) => record)).toEqual([1, 3, 5])
    expect(codesOf(batch)).toEqual([
      [2, 'transform-time'],
      [4, 'transform-failed'],
    ])
    expect(batch.rejected[0]?.issues[0]?.message).toMatch(/took longer than 1000 ms/)
  })

  it('that is slow once has a second chance', async () => {
    const body = `const until = Date.now() + (record.name === 'slow' ? 300 : 0)
      while (Date.now() < until) ;
      return record`
    const batch = await transform(body, csv('1,slow,', '2,b,'), { limitMs: 50 })
    expect(batch.records.map(({ record }) => record)).toEqual([1, 2])
  })

  it('sees neither the environment nor the output of the command', async () => {
    const body = `console.log('not shown'); return { ...record, name: JSON.stringify(process.env) }`
    const batch = await transform(body, csv('1,a,'))
    expect(batch.records[0]?.cells[1]).toBe('{}')
  })

  it('sees the rows of a product, and may change them', async () => {
    const rows = csv('a,,1', 'a,n,2')
    const grouped = { ...(rows[0] as ParsedRecord), cells: ['a', 'n', '1'], rows }
    const body = `return { ...record, price: record.rows.length, rows: record.rows.map((row: any) => ({ ...row, name: row.name + '!' })) }`
    const [record] = (await transform(body, [grouped])).records
    expect(record?.cells).toEqual(['a', 'n', 2])
    expect(record?.rows?.map(({ cells }) => cells)).toEqual([
      ['a', '!', '1'],
      ['a', 'n!', '2'],
    ])
    const failed = await transform(`throw new Error(record.rows[0].id)`, [grouped])
    expect(failed.rejected.map(({ record: row, isRest }) => [row, isRest])).toEqual([
      [1, undefined],
      [2, true],
    ])
  })

  it('has whole objects, in which repeated elements stay such', async () => {
    const images = Repeated.from(['1.jpg', '2.jpg'])
    const source = { id: 'a', images, deep: { name: 'n' } }
    const record: ParsedRecord = { record: 1, line: 1, cells: ['a', undefined, undefined], source }
    const body = `return { ...record, name: record.deep.name + record.images.length, list: [...record.images] }`
    const [made] = (await transform(body, [record], { added: ['images', 'list'] })).records
    expect(made?.cells.slice(0, 3)).toEqual(['a', 'n2', undefined])
    expect(made?.cells[3]).toBeInstanceOf(Repeated)
    expect(made?.cells[4]).not.toBeInstanceOf(Repeated)
    expect(made?.source).toMatchObject({ name: 'n2', list: ['1.jpg', '2.jpg'] })
  })

  it.each([
    ['export const other = 1', /it has no default export that is a function/],
    ['export default (a: number', /SyntaxError/],
    ['import "./gone.ts"\nexport default () => undefined', /Cannot find module/],
    ['export default () => 1\nthrow new Error("at once")', /Error: at once/],
  ])('that cannot be loaded refuses the file: %s', async (text, reason) => {
    await expect(transform(text, csv('1,a,'))).rejects.toMatchObject({
      code: 'transform-not-loaded',
      message: expect.stringMatching(reason),
    })
  })

  it('says why it cannot be loaded when its thread has ended before anybody listens', async () => {
    await writeFile(folder.path('transform.ts'), 'export const other = 1')
    await using thread = new TransformThread(folder.path('transform.ts'))
    const reason = thread.load()
    // This thread is busy until the other one has ended, so that it learns of the message and the end at once.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1_000)
    expect(await reason).toBe('it has no default export that is a function')
  })
})
