import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type RejectedRecord, reasonColumn } from '../../src/records/model.ts'
import { rejectColumns } from '../../src/records/reject-columns.ts'
import { openRejectsWriter } from '../../src/records/rejects-writer.ts'
import { FeedFolder, judgeAndRead } from './feed-file.ts'

let folder: FeedFolder
beforeAll(async () => {
  folder = await FeedFolder.open()
})
afterAll(() => folder[Symbol.asyncDispose]())

/** Rejects every record of the file; the file of rejects is read again. */
async function rejectAll(name: string, text: string, options: Parameters<typeof judgeAndRead>[1] = {}) {
  const { judgement, records } = await judgeAndRead(await folder.write(name, text), options)
  const path = folder.path(`rejects-${name}`)
  {
    await using writer = openRejectsWriter({ ...judgement, path })
    for (const record of records) {
      const { record: number, line } = record
      const issue = {
        record: number,
        line,
        field: 'price',
        code: 'bad',
        message: 'is -- no number -',
        severity: 'reject',
      }
      await writer.write({ ...record, issues: [issue] } as RejectedRecord)
    }
  }
  const content = await readFile(path)
  const again = await judgeAndRead({ path, bytes: content.length, name }, options)
  expect(again.judgement.columns).toContain(reasonColumn)
  return { records, again, content: content.toString() }
}

it('XML elements come back within the elements around them', async () => {
  const item = (id: number) => `<item a="1"><g:id>${id}</g:id><!-- c --><x><![CDATA[é]]></x></item>`
  const text = `<?xml version="1.0" encoding="UTF-8"?>\n<rss xmlns:g="http://base.google.com/ns/1.0"><channel><title>t</title>\n${item(1)}${item(2)}</channel></rss>`
  const { records, again, content } = await rejectAll('a.xml', text, { neededColumns: ['g:id', 'x'] })
  expect(again.records.map(({ source }) => source)).toEqual(records.map(({ source }) => source))
  expect(content).toContain(`<!-- line 3\n  field: price\n  reason: is - - no number -\n-->\n${item(1)}\n`)
})

it.each([
  ['a.xml', '<a><p><id>1</id></p><p><id>2</id></p></a>', 'a/p'],
  ['b.xml', '<a><b><p><id>1</id><i><u>1</u></i><i><u>2</u></i></p><p><id>2</id></p></b></a>', 'a/b/p'],
  ['a.json', '{"a":{"x":{"id":"1"},"y":{"id":"2"}}}', 'a.*'],
  ['b.json', '{"a":[{"id":"1","i":[{"u":1},{"u":2}]},{"id":"2"}]}', 'a'],
])('one record of %s that only its like shows comes back as a record', async (name, text, found) => {
  const { judgement, records } = await judgeAndRead(await folder.write(name, text))
  expect([judgement.dialect.path, records.length]).toEqual([found, 2])
  const path = folder.path(`one-${name}`)
  {
    await using writer = openRejectsWriter({ ...judgement, path })
    await writer.write({ ...(records[0] as RejectedRecord), issues: [] })
  }
  const again = await judgeAndRead({ path, bytes: (await readFile(path)).length, name })
  expect([again.judgement.dialect.path, again.records.length]).toEqual([found, 1])
})

it('JSON objects come back at their path', async () => {
  const text = '{"p":{"q":[{"id":"1","__proto__":{"x":1}},{"id":"2"}]}}'
  const options = { format: { type: 'json', path: 'p.q' } as const }
  const { again } = await rejectAll('a.json', text, options)
  const said = `"catalogd_line":1,"catalogd_field":"price","catalogd_value":"","${reasonColumn}":"is -- no number -","catalogd_remedy":""`
  expect(again.records.map(({ source }) => JSON.stringify(source))).toEqual([
    `{${said},"id":"1","__proto__":{"x":1}}`,
    `{${said},"id":"2"}`,
  ])
})

it('records of a file without a header come back with one, which is seen', async () => {
  const options = { format: { header: 'none' } as const, neededColumns: ['1'] }
  const { again } = await rejectAll('a.csv', '7;"a\nb";\n8;c;d\n', options)
  expect(again.judgement.columns).toEqual([...rejectColumns, '1', '2', '3'])
  expect(again.records.map(({ cells }) => cells.slice(rejectColumns.length))).toEqual([
    ['7', 'a\nb', ''],
    ['8', 'c', 'd'],
  ])
})
