import { readFile, stat } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { withRejects } from '../../src/imports/import-run.ts'
import type { RejectedRecord } from '../../src/records/model.ts'
import { openRejectsWriter } from '../../src/records/rejects-writer.ts'
import { FeedFolder, judge, judgeAndRead } from './feed-file.ts'
import { readGroups } from './group-file.ts'

let folder: FeedFolder
beforeAll(async () => {
  folder = await FeedFolder.open()
})
afterAll(() => folder[Symbol.asyncDispose]())

async function write(text: string, records: readonly RejectedRecord[], bytesMax?: number) {
  const judgement = await judge(await folder.write('feed', text))
  const path = folder.path('rejects')
  const bounds = bytesMax === undefined ? {} : { bytesMax }
  await using writer = openRejectsWriter({ ...judgement, ...bounds, path })
  for (const record of records) await writer.write(record)
  const { count, leftOut, leftOutFromLine } = writer
  await writer[Symbol.asyncDispose]()
  return { path, count, leftOut, leftOutFromLine }
}

describe('a file of rejected records that is full', () => {
  it.each([
    ['csv', `id,name\n${'1,2,3\n'.repeat(1000)}`],
    ['ndjson', '{"id":"1"}\n'.repeat(3) + '7\n'.repeat(1000)],
    ['json', `[{"id":"1"}${',\n7'.repeat(1000)}]`],
    ['xml', `<a>${'<item><id>1</id></item>\n'.repeat(1000)}</a>`],
  ])('ends whole and says how many it lacks (%s)', async (type, text) => {
    const read = await judgeAndRead(await folder.write('feed', text))
    const rejected =
      type === 'xml' ? read.records.map((record) => ({ ...record, issues: [] })) : read.rejected
    expect(rejected).toHaveLength(1000)
    const found = await write(text, rejected, 20_000)
    expect((await stat(found.path)).size).toBeLessThan(20_100)
    expect([found.count > 10, found.count + found.leftOut]).toEqual([true, 1000])
    expect(found.leftOutFromLine).toBe(rejected[found.count]?.line)
    const again = await judge(await folder.write('again', await readFile(found.path)))
    expect([again.dialect.type, again.records]).toEqual([type, found.count])
  })

  it('holds all rows of a product or none', async () => {
    // Two rows of each product stand together, the third far behind.
    const ids = Array.from({ length: 40 }, (_, index) => `p${index}`)
    const rows = [...ids.flatMap((id) => [`${id},1`, `${id},2,3`]), ...ids.map((id) => `${id},4`)]
    const { rejected } = await readGroups(folder, `id,name\n${rows.join('\n')}\n`)
    expect(rejected).toHaveLength(120)
    for (const bytesMax of [1, 2000, 2100, 2200, 2300, 2400]) {
      const { path, count, leftOut } = await write('id,name\na,b\n', rejected, bytesMax)
      expect(count).toBe(3 * (40 - leftOut))
      const written = (await readFile(path, 'utf8')).match(/\bp\d+,\d/g) ?? []
      expect(new Set(written).size).toBe(count)
    }
  })

  it('never lacks one of a file that is not far smaller', async () => {
    const text = 'id,name\n1,2,3\n'
    const { rejected } = await judgeAndRead(await folder.write('feed', text))
    const many = Array.from({ length: 5000 }, () => rejected[0] as RejectedRecord)
    expect(await write(text, many)).toMatchObject({ count: 5000, leftOut: 0, leftOutFromLine: undefined })
  })

  it('is named in the report with what to do', () => {
    const told = withRejects(
      { outcome: 'imported', warnings: ['other'] },
      { path: 'f', count: 5, leftOut: 7, leftOutFromLine: 9 },
    )
    expect(told).toMatchObject({ rejectsFile: 'f', rejectsLeftOut: 7 })
    expect(told.warnings).toEqual([
      'other',
      expect.stringMatching(/lacks 7 of them, the first from line 9; /),
    ])
  })
})
