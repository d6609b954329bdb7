import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Child, startChild } from '../support/child.ts'
import { tempDir } from '../support/temp-dir.ts'
import { targetOf } from './target.ts'

const root = new URL('../..', import.meta.url).pathname
const vitest = path.join(
  path.dirname(createRequire(import.meta.url).resolve('vitest/package.json')),
  'vitest.mjs',
)
const suites = ['catalog', 'consent', 'intent', 'stack'].map((group) => `test/clients/${group}.test.ts`)

/** How many cases ended how, by group. */
type Counts = Record<string, { passed: number; skipped: number }>

interface Report {
  testResults: { name: string; assertionResults: { status: string }[] }[]
}

/** The suite as somebody with an account runs it, against a server that it did not start. */
describe('the client suite at an address that is given', () => {
  let sandbox: Child
  let url: string
  beforeAll(async () => {
    sandbox = await startChild(path.join(root, 'src/main.ts'), {
      args: ['sandbox', '--port', '0', '--products-token', 'a', '--email-token', 'b', '--intent-token', 'c'],
    })
    url = /CATALOG_API_URL=(\S+)/.exec(await sandbox.line('CATALOG_API_URL='))?.[1] ?? ''
  })
  afterAll(() => sandbox?.[Symbol.asyncDispose]())

  async function run(variables: Record<string, string>): Promise<Counts> {
    await using folder = await tempDir('clients')
    const file = folder.join('result.json')
    const args = ['run', '--config', 'test/vitest.config.ts', '--reporter=json', `--outputFile=${file}`]
    const env = { ...withoutVariables(), CATALOGD_TEST_REAL: '1', ...variables }
    const all = [...args, '--no-isolate', '--maxWorkers=1', ...suites]
    await using child = await startChild(vitest, { args: all, cwd: root, env })
    const { code } = await child.ended()
    expect(code, child.stderr).toBe(0)
    const { testResults } = JSON.parse(await readFile(file, 'utf8')) as Report
    const count = (results: { status: string }[], ...statuses: string[]) =>
      results.filter(({ status }) => statuses.includes(status)).length
    return Object.fromEntries(
      testResults.map(({ name, assertionResults }) => [
        path.basename(name, '.test.ts'),
        {
          passed: count(assertionResults, 'passed'),
          skipped: count(assertionResults, 'skipped', 'pending'),
        },
      ]),
    )
  }

  const all = () => ({
    CATALOG_API_URL: url,
    API_PRODUCTS_TOKEN: 'a',
    API_EMAIL_TOKEN: 'b',
    INTENT_URL: url,
    API_LIM_TOKEN: 'c',
    INTENT_PARTNER_ID: 'p',
    STACK_URL: url,
    STACK_ACCESS_TOKEN: 'sandbox-stack-token',
    STACK_NAME: 'sandbox',
  })
  const arrived = async () => {
    const summary = await fetch(`${url}/sandbox/summary`).then((response) => response.json())
    const { products, consents } = summary as { products: number; consents: { total: number } }
    return { products, consents: consents.total }
  }

  it('runs what reads, and counts as skipped what writes and what no address is given for', async () => {
    const { INTENT_PARTNER_ID: _, ...withoutPartner } = all()
    expect(await run(withoutPartner)).toEqual({
      catalog: { passed: 4, skipped: 3 },
      consent: { passed: 6, skipped: 1 },
      intent: { passed: 0, skipped: 16 },
      stack: { passed: 25, skipped: 5 },
    })
    expect(await arrived()).toEqual({ products: 0, consents: 0 })
  })

  it('runs all but the deletion of a user when it may write, and takes away what it created', async () => {
    expect(await run({ ...all(), ALLOW_WRITES: '1' })).toEqual({
      catalog: { passed: 7, skipped: 0 },
      consent: { passed: 7, skipped: 0 },
      intent: { passed: 16, skipped: 0 },
      stack: { passed: 29, skipped: 1 },
    })
    expect((await arrived()).products).toBeGreaterThan(0)
    for (const kind of ['tilerules', 'moderationviews', 'terms']) {
      const target = `${url}/api/${kind}?access_token=sandbox-stack-token&stack=sandbox`
      expect(await fetch(target).then((response) => response.json())).toMatchObject({ data: [] })
    }
  })

  it('is chosen by one switch, and says what is missing', () => {
    expect(targetOf('stack', { STACK_URL: url })).toMatchObject({
      isReal: false,
      mayWrite: true,
      missing: [],
    })
    const real = targetOf('stack', { CATALOGD_TEST_REAL: '1', STACK_URL: 'https://user:secret@a.example/x' })
    expect(real).toMatchObject({
      isReal: true,
      mayWrite: false,
      missing: ['STACK_ACCESS_TOKEN', 'STACK_NAME'],
    })
    const set = { CATALOGD_TEST_REAL: '1', STACK_URL: 'https://user:secret@a.example/x' }
    const { where } = targetOf('stack', { ...set, STACK_ACCESS_TOKEN: 't', STACK_NAME: 's' })
    expect(where).toBe('a.example, without writes')
  })
})

function withoutVariables(): Record<string, undefined> {
  const names = Object.keys(process.env).filter((name) =>
    /^(CATALOG_API_URL|CONSENT_PATH|ALLOW_WRITES|VITEST.*|(API|INTENT|STACK)_.*)$/.test(name),
  )
  return Object.fromEntries(names.map((name) => [name, undefined]))
}
