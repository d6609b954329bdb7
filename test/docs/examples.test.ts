import { appendFile, mkdir, readFile, writeFile } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts'
import { runCli } from '../cli/support.ts'
import { type TempDir, tempDir } from '../support/temp-dir.ts'
import { expectConsole } from './console.ts'
import { blocks, codes, readPage } from './pages.ts'

// The worked examples of the pages, in one folder, as somebody follows them one after the other.

let folder: TempDir
let sandbox: Sandbox
let env: Record<string, string>

beforeAll(async () => {
  folder = await tempDir('docs-examples')
  sandbox = await openSandbox({ port: 0, productsToken: 'sandbox-token' })
  const { url, tokens, stackName } = sandbox
  env = {
    CATALOGD_CONFIG: folder.join('shop', 'config', 'catalogd.yaml'),
    CATALOGD_LOG: 'error',
    ...{ CATALOG_API_URL: url, INTENT_URL: url, STACK_URL: url, STACK_NAME: stackName },
    ...{ API_PRODUCTS_TOKEN: tokens.products, API_EMAIL_TOKEN: tokens.email },
    ...{ API_LIM_TOKEN: tokens.intent, STACK_ACCESS_TOKEN: tokens.stack },
  }
  await mkdir(folder.join('shop', 'config'), { recursive: true })
  await mkdir(folder.join('shop', 'stack'))
})
afterAll(async () => {
  await sandbox[Symbol.asyncDispose]()
  await folder[Symbol.asyncDispose]()
})

describe('the worked examples', () => {
  it('deliver a feed, and what its next file changes', async () => {
    const text = readPage('getting-started.md')
    const [csv = ''] = blocks('csv', text)
    const [guessed = '', yaml = ''] = blocks('yaml', text)
    const [check = '', firstDiff = '', load = '', secondDiff = ''] = blocks('console', text)
    const feedFile = folder.join('shop', 'export.csv')
    await writeFile(feedFile, csv)
    const configFile = folder.join('shop', 'config', 'catalogd.yaml')
    await runCli(['init', '--from', feedFile, '--shop-url', 'https://shop.example'], { env })
    const written = (await readFile(configFile, 'utf8')).split('\n').map((line) => line.trim())
    expect(written).toEqual(
      expect.arrayContaining(
        guessed
          .trim()
          .split('\n')
          .map((line) => line.trim()),
      ),
    )
    await writeFile(configFile, yaml)
    await expectOutput(check)
    await expectOutput(firstDiff)
    await expectOutput(load)
    expect(await takenIds()).toEqual(['100-1', '100-2', '200-1'])

    for (const argv of jsonCommands('products', feedFile)) await expectDocumentedFields(argv)

    const [, price = ''] = /price to `([^`]+)`/.exec(text) ?? []
    const [, title = ''] = /title to `([^`]+)`/.exec(text) ?? []
    await writeFile(feedFile, csv.replace('1.249,00 €', price).replace('Desk lamp Lumo, white', title))
    await expectOutput(secondDiff)
  })

  it('deliver consents', async () => {
    const text = readPage('consents.md')
    await addToConfig(text)
    const [csv = ''] = blocks('csv', text)
    const file = folder.join('shop', 'newsletter.csv')
    await writeFile(file, csv)
    const shown = blocks('console', text)
    expect(shown).toHaveLength(2)
    for (const block of shown) await expectOutput(block)
    for (const argv of jsonCommands('newsletter', file)) await expectDocumentedFields(argv)
    await expectDocumentedFields(['consent', 'anna@shop.example', 'false'])
    await expectDocumentedFields(['dead', 'list', '--consents'])
    const { consents } = (await read('/sandbox/consents')) as { consents: object[] }
    expect(consents).toMatchObject([
      { email: 'Ben@shop.example', consent: false, times: 1 },
      { email: 'anna@shop.example', consent: false, times: 2 },
    ])
  })

  it('find the delivered products for a prompt, and verify them', async () => {
    const text = readPage('intent.md')
    await addToConfig(text)
    const shown = blocks('console', text)
    expect(shown).toHaveLength(2)
    for (const block of shown) await expectOutput(block)
    await expectDocumentedFields(
      ['intent', 'armchair', '--customer', 'visitor-2', '--context'],
      recommendation,
    )
    await expectDocumentedFields(['verify', '100-1', '200-1', '300-1'])
  })

  it('keep the Stack in files', async () => {
    const text = readPage('stack.md')
    await addToConfig(text)
    const [, terms = '', rules = ''] = blocks('yaml', text)
    const [create = '', replace = ''] = blocks('console', text)
    const dir = folder.join('shop', 'stack')
    await expectDocumentedFields(['stack', 'pull', '--dir', dir])
    await writeFile(folder.join('shop', 'stack', 'terms.yaml'), terms)
    await writeFile(folder.join('shop', 'stack', 'rules.yaml'), rules)
    await expectOutput(create)
    await expectDocumentedFields(['stack', 'apply', '--yes', '--dir', dir], stackFields)
    const { stdout } = await runCli(['stack', 'plan', '--dir', dir], { env })
    expect(stdout).toMatch(/^Nothing to do: 38 items as in the files/m)

    const changed = terms.replace('active: true', 'active: false').replace('instagram', 'twitter')
    await writeFile(folder.join('shop', 'stack', 'terms.yaml'), changed)
    await expectOutput(replace)
    await expectDocumentedFields(['stack', 'plan', '--dir', dir], stackFields)
  })
})

/** Names of the contract: they stand in the OpenAPI document. */
const recommendation = new Set(['agentProductRecommendations'])
const stackFields = new Set(['fields'])

/** The first piece of a page is one that its configuration lacks. */
async function addToConfig(text: string): Promise<void> {
  await appendFile(env.CATALOGD_CONFIG ?? '', blocks('yaml', text)[0] ?? '')
}

async function expectOutput(block: string): Promise<void> {
  await expectConsole(block, { parent: folder.path, env })
}

/** In this order: `load` is what the later ones show. */
function jsonCommands(feed: string, feedFile: string): string[][] {
  const onFile = ['check', 'diff', 'load'].map((command) => [command, feed, feedFile])
  const resync = feed === 'products' ? [['resync']] : []
  return [['config', 'check'], ...onFile, ['status'], ['imports'], ['dead', 'list'], ...resync]
}

/** Every field of the JSON that the command prints stands in the page of the commands. */
async function expectDocumentedFields(argv: readonly string[], asWholes = new Set<string>()): Promise<void> {
  const { stdout, stderr } = await runCli([...argv, '--json'], { env })
  const hasLines = argv[0] === 'diff' || argv[0] === 'verify'
  const documents = hasLines ? stdout.trim().split('\n') : [stdout]
  expect(stdout, stderr).not.toBe('')
  const fields = new Set(documents.flatMap((document) => fieldsOf(JSON.parse(document), asWholes)))
  const documented = new Set(codes(readPage('commands.md')).map((code) => code.replace('[]', '')))
  expect([...fields].filter((field) => !documented.has(field))).toEqual([])
}

/** Maps from names to anything are documented as a whole. */
const maps = new Set(['counters', 'info', 'missing', 'issues'])

function fieldsOf(value: unknown, asWholes: ReadonlySet<string>): string[] {
  if (Array.isArray(value)) return value.flatMap((one) => fieldsOf(one, asWholes))
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, child]) => {
    return [name, ...(maps.has(name) || asWholes.has(name) ? [] : fieldsOf(child, asWholes))]
  })
}

async function read(path: string): Promise<unknown> {
  return (await fetch(sandbox.url + path)).json()
}

async function takenIds(): Promise<string[]> {
  const { products } = (await read('/sandbox/products')) as { products: { product_id: string }[] }
  return products.map(({ product_id: id }) => id).toSorted()
}
