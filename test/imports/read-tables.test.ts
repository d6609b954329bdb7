import { writeFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import type { FieldRule } from '../../src/config/rule-model.ts'
import { readTables } from '../../src/imports/read-tables.ts'
import { openFile } from '../../src/operations/open-file.ts'
import { columnRule, feedOf, recordOf } from '../catalog/support.ts'
import { loadFeed } from '../presets/read-preset.ts'
import { tempDir } from '../support/temp-dir.ts'

const text = 'id;path\n1;Home\n2; Garden \n1;Again\n;nothing\n3;\n'

function ruleOf(file: string): FieldRule {
  return { ...columnRule('group'), lookup: { file, key: 'id', value: 'path' } }
}

describe('tables by which values are looked up', () => {
  it('are read as feed files are; of rows with one key the first counts', async () => {
    await using folder = await tempDir('tables')
    const file = folder.join('groups.csv')
    await writeFile(file, text)
    const entries: FieldRule = { from: { kind: 'entries', entries: { path: ruleOf(file) } } }
    const tables = await readTables(feedOf({ product_id: columnRule('id'), custom_fields: entries }))
    expect([...(tables?.read({ file, key: 'id', value: 'path' }) ?? [])]).toEqual([
      ['1', 'Home'],
      ['2', 'Garden'],
    ])
    expect(await readTables(feedOf({ product_id: columnRule('id') }))).toBeUndefined()
  })

  it('translate the values of a file', async () => {
    await using folder = await tempDir('tables')
    const file = folder.join('groups.csv')
    await writeFile(file, text)
    await writeFile(folder.join('feed.csv'), 'id,group\nP1,2\n')
    const feed = feedOf({ product_id: columnRule('id'), brand: ruleOf(file) })
    const opened = await openFile({
      feed,
      file: folder.join('feed.csv'),
      signal: new AbortController().signal,
    })
    if (opened.kind !== 'products') throw new Error(opened.kind)
    expect(opened.map(recordOf(['P1', '2']), 0).item?.set.brand).toBe('Garden')
  })

  it('are written as their format says', async () => {
    await using folder = await tempDir('tables')
    await writeFile(folder.join('groups.txt'), Buffer.from('1^K\xf6rbe, gro\xdf\n2^Vasen\n', 'latin1'))
    const table = 'file: ./groups.txt, key: "1", value: "2"'
    const format = 'format: { header: none, delimiter: "^", encoding: windows-1252 }'
    const rules = `product_id: id\n  brand: { column: group, lookup: { ${table}, ${format} } }`
    const feed = await loadFeed(`fields:\n  ${rules}`)
    const { lookup } = feed.fields.brand ?? {}
    if (!lookup) throw new Error('no lookup')
    const brand = { ...columnRule('group'), lookup: { ...lookup, file: folder.join('groups.txt') } }
    const tables = await readTables(feedOf({ product_id: columnRule('id'), brand }))
    expect([...(tables?.read(brand.lookup) ?? [])]).toEqual([
      ['1', 'K\u00f6rbe, gro\u00df'],
      ['2', 'Vasen'],
    ])
  })

  it.each([
    ['is missing', undefined, 'ENOENT'],
    ['lacks a column', 'id;name\n1;2\n', 'has no column "path"'],
    ['has a bad row', 'id;path\n1\n', 'has a bad row in line 2'],
    ['is empty', '', 'cannot be read: '],
  ])('say what is wrong when one %s', async (_, content, words) => {
    await using folder = await tempDir('tables')
    const file = folder.join('groups.csv')
    if (content !== undefined) await writeFile(file, content)
    const error = await readTables(feedOf({ brand: ruleOf(file) })).catch((cause: unknown) => cause)
    expect(error).toMatchObject({ code: 'lookup-table', message: expect.stringContaining(words) })
    expect(error).toMatchObject({ message: expect.stringContaining(file) })
  })
})
