import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts'
import { type TempDir, tempDir } from '../support/temp-dir.ts'
import { expectConsole } from './console.ts'
import { fences, pageNames, readPage } from './pages.ts'

// Each page of a kind of shop, and that of several feeds, done from its beginning to its end: files saved, commands run, products looked at.

let sandbox: Sandbox
let folder: TempDir

beforeAll(async () => {
  sandbox = await openSandbox({ port: 0, productsToken: 'sandbox-token' })
  folder = await tempDir('docs-shops')
})
afterAll(async () => {
  await folder[Symbol.asyncDispose]()
  await sandbox[Symbol.asyncDispose]()
})

describe('the pages of shops', () => {
  it.each(pageNames.filter((page) => /^docs\/(shops\/|several-feeds)/.test(page)))(
    '%s leads to products in the sandbox',
    async (page) => {
      const parent = folder.join(page.replaceAll('/', '-'))
      const configFile = `${parent}/shop/config/catalogd.yaml`
      await mkdir(`${parent}/shop/config`, { recursive: true })
      await fetch(`${sandbox.url}/sandbox/reset`, { method: 'POST' })
      const env = {
        CATALOGD_CONFIG: configFile,
        CATALOGD_LOG: 'error',
        ...{ CATALOG_API_URL: sandbox.url, API_PRODUCTS_TOKEN: 'sandbox-token' },
      }
      const text = readPage(page)
      let at = 0
      let products = 0
      for (const fence of fences(text)) {
        const begins = text.indexOf(fence.text, at)
        const before = text.slice(at, begins)
        at = begins + fence.text.length
        const [, saved] = [...before.matchAll(/\bas\s+`\.\.\/([\w./-]+)`/gi)].at(-1) ?? []
        if (fence.language === 'console') await expectConsole(fence.text, { parent, env })
        else if (fence.language === 'json') products += await expectProduct(fence.text)
        else if (saved) await writeFile(`${parent}/${saved}`, encode(fence.text, before))
        else if (fence.text.startsWith(' ')) await includeInConfig(configFile, fence.text)
      }
      expect(products).toBeGreaterThan(0)
    },
    300_000,
  )
})

/** As the page says that it is saved; the signs that Windows-1252 has beyond Latin-1 and the pages use. */
function encode(text: string, before: string): Buffer {
  if (!before.includes('in Windows-1252')) return Buffer.from(text)
  const signs = new Map([
    ['„', 0x84],
    ['“', 0x93],
  ])
  return Buffer.from([...text].map((sign) => signs.get(sign) ?? sign.charCodeAt(0)))
}

async function expectProduct(text: string): Promise<1> {
  const expected = JSON.parse(text) as { product_id: string }
  const response = await fetch(`${sandbox.url}/sandbox/products/${expected.product_id}`)
  const { document } = (await response.json()) as { document: object }
  expect(document).toEqual(expected)
  return 1
}

/** An indented piece is of the configuration: it stands there already, or is a feed more. */
async function includeInConfig(file: string, piece: string): Promise<void> {
  const config = await readFile(file, 'utf8')
  if (/^ {6}\w+:\n/.test(piece)) await writeFile(file, `${config.trimEnd()}\n${piece}`)
  else expect(config).toContain(piece)
}
