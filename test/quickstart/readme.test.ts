import { mkdir, writeFile } from 'node:fs/promises'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { productFields, requiredFields } from '../../src/api/contract/product.ts'
import { compileMapping } from '../../src/catalog/mapping.ts'
import type { ProductPatch } from '../../src/catalog/model.ts'
import { configJsonSchema } from '../../src/config/json-schema.ts'
import type { FeedConfig } from '../../src/config/model.ts'
import type { FeedName } from '../../src/lib/brand.ts'
import { readCheckedConfig } from '../../src/operations/read-config.ts'
import { openSandbox } from '../../src/sandbox/sandbox.ts'
import { runCli } from '../cli/support.ts'
import { type TempDir, tempDir } from '../support/temp-dir.ts'
import { blocks, codes, section, tableRows } from './readme.ts'

// The README says what the program does: tables, examples and outputs are held against it.

let folder: TempDir

beforeEach(async () => {
  folder = await tempDir('readme')
})
afterEach(() => folder[Symbol.asyncDispose]())

describe('the commands of the README', () => {
  it('are those of the program, with all of their options', async () => {
    const commands = await listCommands([])
    const headings = [...section('## Commands').matchAll(/^### `catalogd (.+)`$/gm)].map(([, usage]) => usage)
    expect(headings.toSorted()).toEqual(commands.map(({ usage }) => usage).toSorted())
    for (const { usage, options } of commands) {
      const text = section(`### \`catalogd ${usage}\``)
      const documented = tableRows(text).flatMap(([cell = '']) =>
        codes(cell).filter((code) => code.startsWith('--')),
      )
      expect(documented.toSorted(), usage).toEqual(options.toSorted())
      expect(text, usage).toContain(`\`catalogd ${usage.split(/ [<[]/)[0]}`)
    }
  })
})

describe('the configuration of the README', () => {
  it('has every key of the schema with its default, and no other', () => {
    const keys = listKeys(configJsonSchema(productFields))
    const documented = new Map(
      tableRows(section('### Keys')).flatMap(([cell = '', preset = '']) =>
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

  it('has every key of a field rule', () => {
    const { definitions } = configJsonSchema(productFields) as {
      definitions: { fieldRule: { anyOf: { properties?: object }[] } }
    }
    const keys = definitions.fieldRule.anyOf.flatMap(({ properties }) => Object.keys(properties ?? {}))
    const documented = tableRows(section('### Field rules')).flatMap(([cell = '']) => codes(cell))
    expect(documented.filter((key) => key !== '{…}').toSorted()).toEqual(keys.toSorted())
  })

  it('names every product field once, and which are required', () => {
    const [required = [], ...others] = tableRows(section('### Product fields'))
    expect(codes(required[1] ?? '')).toEqual([...requiredFields])
    const named = [required, ...others].flatMap(([, cell = '']) => codes(cell)).filter((code) => code !== '/')
    expect(named.toSorted()).toEqual([...productFields].toSorted())
  })

  it.each(blocks('yaml'))('has correct examples', async (text) => {
    const file = folder.join('catalogd.yaml')
    await writeFile(file, text)
    const { config } = await readCheckedConfig({ file, env: { API_PRODUCTS_TOKEN: 'token' } })
    expect(config.catalogs.size).toBe(1)
  })

  it.each(tableRows(section('### Field rules')))(
    'rule %s %s',
    async (_key, _does, rule = '', cells = '', becomes = '') => {
      const file = folder.join('catalogd.yaml')
      const [example = ''] = codes(rule)
      await writeFile(
        file,
        `catalogs:\n  main:\n    api: { url: "http://127.0.0.1", productsToken: t }\n    feeds:\n      products:\n        drop: ./drop\n        fields:\n          ${example.startsWith('product_id') ? '' : 'product_id: id\n          '}${example}\n`,
      )
      const { config } = await readCheckedConfig({ file, env: {} })
      const feed = [...config.catalogs.values()][0]?.feeds.get('products' as FeedName)
      const given = (codes(cells)[0] ?? '').split('; ').map((cell) => cell.split(/=(.*)/s))
      const record = { id: 'P1', ...Object.fromEntries(given.map(([column, cell]) => [column, cell])) }
      const patch = mapColumns(feed, record)
      const field = example.slice(0, example.indexOf(':'))
      if (becomes === '*kept*') {
        expect(Object.keys(patch.set)).not.toContain(field)
        expect(patch.clear).not.toContain(field)
      } else {
        const set: Record<string, unknown> = { product_id: patch.productId, ...patch.set }
        expect(set[field]).toEqual(JSON.parse(codes(becomes)[0] ?? ''))
      }
    },
  )
})

describe('the worked example of the README', () => {
  it('gives the outputs that it shows', async () => {
    const text = section('## Your own feed')
    const [csv = ''] = blocks('csv', text)
    const [yaml = ''] = blocks('yaml', text)
    const [check = '', firstDiff = '', secondDiff = ''] = blocks('console', text)
    await mkdir(folder.join('shop', 'config'), { recursive: true })
    await writeFile(folder.join('shop', 'config', 'catalogd.yaml'), yaml)
    const feedFile = folder.join('shop', 'export.csv')
    await writeFile(feedFile, csv)
    await using sandbox = await openSandbox({ port: 0, productsToken: 'sandbox-token' })
    const env = {
      CATALOGD_CONFIG: folder.join('shop', 'config', 'catalogd.yaml'),
      CATALOG_API_URL: sandbox.url,
      API_PRODUCTS_TOKEN: 'sandbox-token',
      CATALOGD_LOG: 'error',
    }
    await expectOutput(check, env)
    await expectOutput(firstDiff, env)

    for (const argv of jsonCommands(feedFile)) await expectDocumentedFields(argv, env)
    expect(await takenIds(sandbox.url)).toEqual(['100-1', '100-2', '200-1'])

    const [, price = ''] = /price to `([^`]+)`/.exec(text) ?? []
    const [, title = ''] = /title to `([^`]+)`/.exec(text) ?? []
    await writeFile(feedFile, csv.replace('1.249,00 €', price).replace('Desk lamp Lumo, white', title))
    await expectOutput(secondDiff, env)
  })
})

/** One record of a full file through the rules of a feed. */
function mapColumns(feed: FeedConfig | undefined, record: Record<string, unknown>): ProductPatch {
  if (feed === undefined) throw new Error('the example has no feed')
  const binding = compileMapping({ feed, mode: 'full' }).bind(Object.keys(record))
  if (binding.kind !== 'bound') throw new Error(`columns are missing: ${JSON.stringify(binding)}`)
  const { patch, issues } = binding.bound.map({ record: 1, line: 2, cells: Object.values(record) })
  if (patch === undefined) throw new Error(JSON.stringify(issues))
  return patch
}

/** Runs the command of a console block, and compares what it prints with the rest of the block. */
async function expectOutput(block: string, env: Record<string, string>): Promise<void> {
  const [command = '', ...output] = block.split('\n')
  const argv = command
    .replace(/^\$ catalogd /, '')
    .split(' ')
    .map((word) => word.replace(/^\.\.\//, `${folder.path}/`))
  const { stdout } = await runCli(argv, { env })
  expect(stdout.replaceAll(`${folder.path}/`, '../')).toBe(output.join('\n'))
}

/** In this order: `load` is what the later ones show. */
function jsonCommands(feedFile: string): string[][] {
  const onFile = ['check', 'diff', 'load'].map((command) => [command, 'products', feedFile])
  return [['config', 'check'], ...onFile, ['status'], ['imports'], ['dead', 'list'], ['resync']]
}

/** Every field of the JSON that the command prints stands in its part of the README, or in one that it refers to. */
async function expectDocumentedFields(argv: readonly string[], env: Record<string, string>): Promise<void> {
  const { stdout } = await runCli([...argv, '--json'], { env })
  const documents = argv[0] === 'diff' ? stdout.trim().split('\n') : [stdout]
  const fields = new Set(documents.flatMap((document) => fieldsOf(JSON.parse(document))))
  const documented = new Set(codes(section('## Commands')).map((code) => code.replace('[]', '')))
  expect([...fields].filter((field) => !documented.has(field))).toEqual([])
}

/** Maps from names to anything are documented as a whole. */
const maps = new Set(['counters', 'info', 'missing'])

function fieldsOf(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(fieldsOf)
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, child]) => [name, ...(maps.has(name) ? [] : fieldsOf(child))])
}

async function takenIds(url: string): Promise<string[]> {
  const response = await fetch(`${url}/sandbox/products`)
  const { products } = (await response.json()) as { products: { product_id: string }[] }
  return products.map(({ product_id: id }) => id).toSorted()
}

interface Listed {
  usage: string
  options: string[]
}

const common = ['--version', '--config', '--catalog', '--json', '--help']

/** All commands that do something, as `--help` shows them. */
async function listCommands(parents: readonly string[]): Promise<Listed[]> {
  const { stdout } = await runCli([...parents, '--help'])
  const [, list] = /^Commands:\n(.*?)\n\n/ms.exec(stdout) ?? []
  if (list === undefined) return [describeCommand(stdout)]
  const names = [...list.matchAll(/^ {2}(\w+)/gm)]
    .map(([, name = '']) => name)
    .filter((name) => name !== 'help')
  return (await Promise.all(names.map((name) => listCommands([...parents, name])))).flat()
}

function describeCommand(help: string): Listed {
  const [, usage = ''] = /^Usage: catalogd (.+)$/m.exec(help) ?? []
  const options = [...help.matchAll(/^ {2}(?:-\w, )?(--[\w-]+(?: <[\w-]+>)?)/gm)].map(
    ([, option = '']) => option,
  )
  return {
    usage: usage.replace(' [options]', ''),
    options: options.filter((option) => !common.includes(option.split(' ')[0] ?? '')),
  }
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
