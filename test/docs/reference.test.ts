import { writeFile } from 'node:fs/promises'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { productFields, requiredFields } from '../../src/api/contract/product.ts'
import { configJsonSchema } from '../../src/config/json-schema.ts'
import { readCheckedConfig } from '../../src/operations/read-config.ts'
import { type TempDir, tempDir } from '../support/temp-dir.ts'
import { listCommands } from './commands.ts'
import { blocks, codes, pageNames, readPage, section, tableRows } from './pages.ts'

// The pages say what the program does: commands, keys and examples are held against it.

let folder: TempDir

beforeEach(async () => {
  folder = await tempDir('docs-reference')
})
afterEach(() => folder[Symbol.asyncDispose]())

describe('the documented commands', () => {
  it('are those of the program, with all of their options', async () => {
    const commands = await listCommands([])
    const headings = [...readPage('commands.md').matchAll(/^## `catalogd (.+)`$/gm)].map(
      ([, text = '']) => text,
    )
    expect(headings.flatMap(alternatives).toSorted()).toEqual(commands.map(({ usage }) => usage).toSorted())
    for (const heading of headings) {
      const usages = alternatives(heading)
      const options = commands.filter(({ usage }) => usages.includes(usage)).flatMap((one) => one.options)
      const text = section('commands.md', `## \`catalogd ${heading}\``)
      const documented = tableRows(text).flatMap(([cell = '']) =>
        codes(cell).filter((code) => code.startsWith('--')),
      )
      expect(documented.toSorted(), heading).toEqual([...new Set(options)].toSorted())
      const shown = usages.some((usage) => text.includes(`\`catalogd ${usage.split(/ [<[]/)[0]}`))
      expect(shown, heading).toBe(true)
    }
  })
})

describe('the documented configuration', () => {
  it('has every key of the schema with its default, and no other', () => {
    const keys = listKeys(configJsonSchema(productFields))
    const documented = new Map(
      tableRows(section('configuration.md', '## Keys')).flatMap(([cell = '', preset = '']) =>
        codes(cell)
          .filter((code) => !/^[A-Z_]+$/.test(code))
          .map((key): [string, string] => [key.replace(/^…/, 'catalogs.<name>'), preset]),
      ),
    )
    expect([...documented.keys()].toSorted()).toEqual([...keys.keys()].toSorted())
    for (const [key, preset] of keys) {
      const isPlain = (typeof preset === 'string' || typeof preset === 'number') && preset !== ''
      if (isPlain) expect(documented.get(key), key).toBe(`\`${preset}\``)
    }
  })

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

/** `stack rules|views list` stands for two commands. */
function alternatives(heading: string): string[] {
  const [words = ''] = /\S*\|\S*/.exec(heading) ?? []
  return words === '' ? [heading] : words.split('|').map((word) => heading.replace(words, word))
}

interface Schema {
  default?: unknown
  properties?: Record<string, Schema>
  additionalProperties?: Schema | boolean
  anyOf?: Schema[]
}

const placeholders: Record<string, string> = { catalogs: '<name>', 'catalogs.<name>.feeds': '<feed>' }

/** Every key of the configuration with its default; field rules have a table of their own. */
function listKeys(schema: Schema, path = ''): Map<string, unknown> {
  const found = new Map<string, unknown>()
  const variants = [schema, ...(schema.anyOf ?? [])]
  for (const { properties, additionalProperties } of variants) {
    for (const [name, child] of Object.entries(properties ?? {})) {
      const key = path === '' ? name : `${path}.${name}`
      found.set(key, child.default)
      for (const entry of listKeys(child, key)) found.set(...entry)
    }
    const placeholder = placeholders[path]
    if (placeholder !== undefined && typeof additionalProperties === 'object') {
      for (const entry of listKeys(additionalProperties, `${path}.${placeholder}`)) found.set(...entry)
    }
  }
  return found
}
