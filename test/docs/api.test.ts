import { execFile } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { CatalogClient } from '../../src/api/catalog-client.ts'
import { ConsentClient } from '../../src/api/consent-client.ts'
import { endpoints } from '../../src/api/contract/endpoints.ts'
import { IntentClient } from '../../src/api/intent-client.ts'
import { StackClient } from '../../src/api/stack-client.ts'
import { openSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts'
import { type TempDir, tempDir } from '../support/temp-dir.ts'
import { listCommands } from './commands.ts'
import { blocks, codes, readPage, section, tableRows } from './pages.ts'

// What the pages tell those who program against the APIs: the table of endpoints and the examples of the clients.

const root = fileURLToPath(new URL('../..', import.meta.url))
const run = promisify(execFile)
let folder: TempDir
let sandbox: Sandbox

beforeAll(async () => {
  folder = await tempDir('docs-api')
  sandbox = await openSandbox({ port: 0, productsToken: 'sandbox-token' })
})
afterAll(async () => {
  await sandbox[Symbol.asyncDispose]()
  await folder[Symbol.asyncDispose]()
})

describe('the documented endpoints', () => {
  const rows = tableRows(section('endpoints.md', '## Of the APIs')).map((cells) => cells.map(codes))

  it('are those of the contract, each by its method and path', () => {
    const documented = rows.map(([name = [], , , routes = []]) => [name[0], routes[0]])
    const known = Object.values(endpoints).map(({ name, method, path }) => [name, `${method} ${path}`])
    expect(documented.toSorted()).toEqual(known.toSorted())
  })

  it('have methods that the clients have, and miss none', async () => {
    const url = 'http://127.0.0.1:9'
    await using CatalogApi = new CatalogClient({ url, token: 't' })
    await using ConsentApi = new ConsentClient({ url, token: 't' })
    await using IntentApi = new IntentClient({ url, token: 't' })
    await using StackApi = new StackClient({ url, accessToken: 't', stack: 's' })
    const { rules, views, users, terms } = StackApi
    const objects = {
      CatalogClient: CatalogApi,
      ConsentClient: ConsentApi,
      IntentClient: IntentApi,
      ...{ 'StackClient.rules': rules, 'StackClient.views': views },
      ...{ 'StackClient.users': users, 'StackClient.terms': terms },
    }
    const existing = Object.entries(objects).flatMap(([name, object]) =>
      methodsOf(object).map((method) => `${name}.${method}`),
    )
    const documented = rows.flatMap(([, methods = []]) => methods)
    expect([...documented, 'CatalogClient.probe'].toSorted()).toEqual(existing.toSorted())
  })

  it('have commands that there are', async () => {
    const known = (await listCommands([])).map(({ usage }) => usage.split(/ [<[]/)[0])
    for (const [name = [], , commands = []] of rows) {
      expect(commands.length, name[0]).toBeGreaterThan(0)
      expect(known, name[0]).toEqual(expect.arrayContaining(commands))
    }
    // Every command that speaks to the Stack stands beside an endpoint.
    const documented = new Set(rows.flatMap(([, , commands = []]) => commands))
    expect(known.filter((command) => command?.startsWith('stack ') && !documented.has(command))).toEqual([])
  })

  it.each(rows.flatMap(([name = [], , , routes = []]) => routes.map((route) => [name[0] ?? '', route])))(
    '%s is served by the sandbox at %s',
    async (_name, route = '') => {
      const [method = '', path = ''] = route.split(' ')
      const filled = path.replace('{email}/{consent}', 'jo%40shop.example/true').replace(/\{\w+\}/, '999')
      const response = await fetch(`${sandbox.url}${filled}`, { method })
      const body = await response.text()
      // Without credentials and body it is refused in many ways, but never as something that is not there.
      expect(body).not.toMatch(/the sandbox has no|there is no (GET|POST|PUT|DELETE)/)
    },
  )
})

it('every route of the daemon is documented', () => {
  const files = globSync('src/{console,metrics}/**/*.ts', { cwd: root })
  const routes = files.flatMap((file) => {
    const calls = readFileSync(`${root}${file}`, 'utf8').matchAll(/\w\.(get|post)(?:<.*>)?\('(\/[^']*)'/g)
    return [...calls].map(([, method = '', path]) => `${method.toUpperCase()} ${path}`)
  })
  expect(routes).toContain('GET /live')
  const documented = codes(section('endpoints.md', '## Of the daemon'))
  expect(routes.filter((route) => !documented.includes(route))).toEqual([])
})

it('the commands of the sandbox page do what they say', async () => {
  const commands = blocks('sh', readPage('sandbox.md'))
    .join('\n')
    .replaceAll('http://127.0.0.1:8490', sandbox.url)
  const script = commands.replace(/^catalogd .*\n/m, '').replaceAll('curl', 'curl -sS --fail')
  const { stdout } = await run('bash', ['-ec', script])
  expect(stdout).toContain('"product_id":"A-1","times":1')
  expect(stdout.match(/"applied":0/g)?.length).toBeGreaterThan(2)
  await fetch(`${sandbox.url}/sandbox/reset`, { method: 'POST' })
})

describe('the examples of the clients', () => {
  const programs = blocks('ts', readPage('clients.md'))

  it('pass the compiler as somebody has it who installed the package', async () => {
    const transforms = blocks('ts', section('mapping.md', '## Transform'))
    const files = await writePrograms([...programs, ...transforms], 'checked', (text) => text)
    const options = {
      ...{ strict: true, noEmit: true, target: 'es2024', lib: ['esnext'], module: 'nodenext' },
      ...{ exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true, types: ['node'] },
      ...{ allowImportingTsExtensions: true, typeRoots: [`${root}node_modules/@types`] },
      paths: {
        catalogd: [`${root}src/api/public.ts`],
        'catalogd/transform': [`${root}src/records/transform-record.ts`],
      },
    }
    const project = folder.join('tsconfig.json')
    await writeFile(folder.join('package.json'), '{ "type": "module" }')
    await writeFile(project, JSON.stringify({ compilerOptions: options, files }))
    const failed = (error: { stdout: string }) => error
    const { stdout } = await run(`${root}node_modules/.bin/tsc`, ['-p', project]).catch(failed)
    expect(stdout).toBe('')
  })

  it('do what they say', async () => {
    const { url, tokens, stackName } = sandbox
    const env = {
      ...process.env,
      ...{ CATALOG_API_URL: url, INTENT_URL: url, STACK_URL: url, STACK_NAME: stackName },
      ...{ API_PRODUCTS_TOKEN: tokens.products, API_EMAIL_TOKEN: tokens.email },
      ...{ API_LIM_TOKEN: tokens.intent, STACK_ACCESS_TOKEN: tokens.stack },
    }
    const source = `${root}src/api/public.ts`
    const files = await writePrograms(programs, 'run', (text) => text.replace("'catalogd'", `'${source}'`))
    const outputs: string[] = []
    for (const file of files) outputs.push((await run(process.execPath, [file], { env })).stdout)
    const [products, consent, intent, stack] = outputs
    expect(products).toBe('1 taken in 1 calls\n')
    expect(consent).toBe('revoked\n')
    expect(intent).toMatch(/Desk lamp Lumo, black.*\n\[ '100-1 129' \]\n$/s)
    expect(stack).toMatch(
      /^1 instagram\n\{ id: 1, type: 'tile', records: 240, matched: \d+, changed: \d+ \}\n$/,
    )
  })
})

async function writePrograms(
  programs: readonly string[],
  name: string,
  change: (text: string) => string,
): Promise<string[]> {
  const files = programs.map((_, index) => folder.join(`${name}-${index}.ts`))
  await Promise.all(files.map((file, index) => writeFile(file, change(programs[index] ?? ''))))
  return files
}

/** Without what closes it. */
/** Own and inherited ones. */
function methodsOf(object: object): string[] {
  const names: string[] = []
  for (let at = Object.getPrototypeOf(object); at !== Object.prototype; at = Object.getPrototypeOf(at))
    names.push(...Object.getOwnPropertyNames(at))
  return names.filter((name) => name !== 'constructor' && name !== 'close')
}
