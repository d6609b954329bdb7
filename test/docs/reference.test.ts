import { readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { productFields, requiredFields } from '../../src/api/contract/product.ts'
import { readCheckedConfig } from '../../src/operations/read-config.ts'
import { type TempDir, tempDir } from '../support/temp-dir.ts'
import { makePages } from './generated.ts'
import { blocks, codes, pageNames, readPage, section, tableRows } from './pages.ts'

// The pages say what the program does: commands, keys and examples are held against it.

let folder: TempDir

beforeEach(async () => {
  folder = await tempDir('docs-reference')
})
afterEach(() => folder[Symbol.asyncDispose]())

describe('what is made of the code', async () => {
  it.each(await makePages())('$page is as "npm run docs" makes it', ({ present, made }) => {
    expect(present).toBe(made)
  })

  it('says of every key what it means', () => {
    const silent = tableRows(readPage('configuration.md')).filter(([, , , meaning]) => meaning === '')
    expect(silent).toEqual([])
  })

  it('says of every error what it says and what to do', () => {
    const silent = tableRows(readPage('errors.md')).filter((cells) => cells.includes(''))
    expect(silent).toEqual([])
  })

  it('says of every command what --json prints', () => {
    const sections = readPage('commands.md')
      .split(/^(?=### )/m)
      .slice(1)
    const silent = sections.filter((text) => !/^`--json`/m.test(text)).map((text) => text.split('\n')[0])
    expect(silent).toEqual(['### `catalogd start`'])
  })
})

describe('the runbook', () => {
  it('has every kind of alert', () => {
    const source = readFileSync(new URL('../../src/alerts/alert-book.ts', import.meta.url), 'utf8')
    const [, union = ''] = /export type AlertKind =\n(.*?)\n\n/s.exec(source) ?? []
    const kinds = [...union.matchAll(/\| '([a-z-]+)'/g)].map(([, kind]) => kind)
    const headings = [...section('runbook.md', '## By alert').matchAll(/^### `([a-z-]+)`$/gm)]
    expect(headings.map(([, kind]) => kind).toSorted()).toEqual(kinds.toSorted())
  })
})

describe('the documented configuration', () => {
  it('names every product field once, and which are required', () => {
    const [required = [], ...others] = tableRows(section('mapping.md', '## Product fields'))
    expect(codes(required[1] ?? '')).toEqual([...requiredFields])
    const named = [required, ...others].flatMap(([, cell = '']) => codes(cell)).filter((code) => code !== '/')
    expect(named.toSorted()).toEqual([...productFields].toSorted())
  })

  it.each(
    pageNames.flatMap((page) => blocks('yaml', readPage(page))).filter((text) => text.includes('catalogs:')),
  )('has correct examples', async (text) => {
    const file = folder.join('catalogd.yaml')
    await writeFile(file, text)
    const { config } = await readCheckedConfig({ file, env: { API_PRODUCTS_TOKEN: 'token' } })
    expect(config.catalogs.size).toBe(1)
  })
})
