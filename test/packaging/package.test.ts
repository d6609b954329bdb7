import { type ChildProcess, execFile, spawn, spawnSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openServer, type Received, type Reply } from '../api/server.ts'
import { pageNames } from '../docs/pages.ts'
import { waitFor } from '../support/events.ts'
import { freePort } from '../support/redis-server.ts'
import { compilerOptions, javaScriptConsumer, typeScriptConsumer, wrongConsumer } from './consumer.ts'

// The published package, as somebody gets it who installs it into an empty folder.

const run = promisify(execFile)
const root = fileURLToPath(new URL('../..', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'catalogd-package-'))
const checkout = join(folder, 'checkout')
const installed = join(folder, 'installed')
const command = join(installed, 'node_modules', '.bin', 'catalogd')
const environment = withoutNpmSettings()

let packed: string[] = []

beforeAll(async () => {
  copyCheckout()
  const stdout = await npm(checkout, ['pack', '--json', '--silent', '--pack-destination', folder])
  const [archive] = JSON.parse(stdout.slice(stdout.indexOf('[\n'))) as [
    { filename: string; files: { path: string }[] },
  ]
  packed = archive.files.map(({ path }) => path)
  mkdirSync(installed)
  writeFileSync(join(installed, 'package.json'), '{ "private": true }')
  await npm(installed, [
    'install',
    '--prefer-offline',
    '--no-audit',
    '--no-fund',
    join(folder, archive.filename),
  ])
}, 300_000)

afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe('the package', () => {
  it('holds the built program, the configuration example and the papers, nothing else', () => {
    const expected =
      /^(dist\/.+\.(js|d\.ts|lua|wasm|html|css|svg|json)|dist\/sandbox\/reference\/[\w.-]+|dist\/bundle\/\w+-LICENSE\.txt|config\/.+|docs\/[\w./-]+\.md|docs\/bench\.svg|package\.json|README\.md|LICENSE|CHANGELOG\.md)$/
    expect(packed.filter((path) => !expected.test(path))).toEqual([])
    expect(packed).toEqual(
      expect.arrayContaining([
        'dist/main.js',
        'dist/bundle/process.js',
        'package.json',
        'LICENSE',
        'CHANGELOG.md',
        'docs/bench.svg',
        ...pageNames,
      ]),
    )
    expect(packed.filter((path) => path.startsWith('dist/quickstart'))).toEqual([])
    expect(packed).toEqual(
      expect.arrayContaining(['config/systemd/catalogd.service', 'config/presets/native.yaml']),
    )
    expect(packed.filter((path) => /^config\/(catalogd\.yaml|\.env)$/.test(path))).toEqual([])
  })

  it('carries the Redis scripts beside their modules', () => {
    const scripts = globSync('**/*.lua', { cwd: join(root, 'src') })
    expect(scripts.length).toBeGreaterThan(0)
    expect(packed).toEqual(expect.arrayContaining(scripts.map((path) => `dist/${path}`)))
  })

  it('has a typed contract to import', async () => {
    const entries = Object.entries(readManifest().exports).filter(([, entry]) => typeof entry === 'object')
    expect(packed).toEqual(
      expect.arrayContaining(entries.map(([, entry]) => (entry as { types: string }).types.slice(2))),
    )
    const names = entries.map(([name]) => name.replace('.', 'catalogd'))
    const script = `for (const name of ${JSON.stringify(names)}) if (Object.keys(await import(name)).length > 0) console.log(name)`
    const { stdout } = await run(process.execPath, ['--input-type=module', '-e', script], { cwd: installed })
    // Of types alone: there is nothing to run in it.
    expect(stdout.trim().split('\n')).toEqual(names.filter((name) => name !== 'catalogd/transform'))
  })

  it('has clients of all API groups, for plain JavaScript', async () => {
    await using server = await openServer(answerAsTheService)
    writeFileSync(join(installed, 'consumer.mjs'), javaScriptConsumer)
    const { stdout } = await run(process.execPath, ['consumer.mjs', server.url], { cwd: installed })
    expect(JSON.parse(stdout)).toEqual({
      upsert: { taken: ['1'], refused: [], calls: 1 },
      consent: 'done',
      intent: { agentInsight: 'This one.' },
      terms: [1, 2],
      refused: [true, 404, 'no such rule'],
      view: { columns_tags_col: true },
      contract: [true, '3.1.'],
    })
  })

  it('has types that a strict compiler takes, and that refuse what the contract does not have', async () => {
    writeFileSync(join(installed, 'consumer.ts'), typeScriptConsumer)
    writeFileSync(join(installed, 'wrong.mts'), wrongConsumer)
    const options = { ...compilerOptions, typeRoots: [join(root, 'node_modules', '@types')] }
    writeFileSync(
      join(installed, 'tsconfig.json'),
      JSON.stringify({ compilerOptions: options, files: ['consumer.ts', 'wrong.mts'] }),
    )
    const compiler = join(root, 'node_modules', '.bin', 'tsc')
    const failure = run(compiler, ['-p', '.', '--pretty', 'false'], { cwd: installed })
    const { stdout } = await failure.catch((error: { stdout: string }) => error)
    const complaints = stdout.split('\n').filter((line) => /^\S/.test(line))
    expect(complaints.map((line) => line.replace(/,.*/, ''))).toEqual(
      [5, 6, 7, 8].map((line) => `wrong.mts(${line}`),
    )
  })

  it('tells its version', async () => {
    const { stdout } = await run(command, ['--version'], { cwd: installed, env: environment })
    expect(stdout.trim()).toBe(readManifest().version)
  })

  it('starts the sandbox, shows its reference page, and ends it on SIGTERM', async () => {
    const child = spawn(command, ['sandbox', '--port', '0'], { cwd: installed, env: environment })
    const ended = exitOf(child)
    try {
      const address = await firstAddress(child)
      const response = await fetch(new URL('/sandbox/summary', address))
      expect(response.status).toBe(200)
      const page = await (await fetch(address)).text()
      const loaded = [...page.matchAll(/(?:src|href)="(\/reference\/[^"]+)"/g)].map(([, path = '']) => path)
      expect(loaded).toContain('/reference/swagger-ui-bundle.js')
      for (const path of loaded) {
        const file = await fetch(new URL(path, address))
        expect({ path, status: file.status }).toEqual({ path, status: 200 })
        expect((await file.arrayBuffer()).byteLength).toBeGreaterThan(100)
      }
    } finally {
      child.kill('SIGTERM')
    }
    expect(await ended).toEqual({ code: 0, signal: null })
  })

  it('delivers a file, with its own threads and scripts, and shows it: by status, and in the console', async () => {
    const shop = join(folder, 'shop')
    mkdirSync(join(shop, 'drop'), { recursive: true })
    const sandbox = spawn(command, ['sandbox', '--port', '0'], { cwd: shop, env: environment })
    const pages = `http://127.0.0.1:${await freePort()}`
    const configuration = `
state: ./state
console: { listen: "${new URL(pages).host}" }
catalogs:
  main:
    api: { url: "${await firstAddress(sandbox)}", productsToken: sandbox-token }
    feeds: { shop: { drop: ./drop, settle: 0s, preset: native } }`
    writeFileSync(join(shop, 'catalogd.yaml'), configuration)
    const daemon = spawn(command, ['start'], { cwd: shop, env: environment, stdio: 'ignore' })
    const ended = [exitOf(daemon), exitOf(sandbox)]
    try {
      const rows = Array.from({ length: 3_000 }, (_, at) => rowOf(`p${at}`))
      writeFileSync(join(shop, 'a.csv'), [columns, ...rows, ''].join('\n'))
      renameSync(join(shop, 'a.csv'), join(shop, 'drop', 'a.csv'))
      const status = async () => {
        const told = run(command, ['status', '--json'], { cwd: shop, env: environment })
        const { stdout } = await told.catch((error: { stdout: string }) => error)
        const [{ overview }] = (JSON.parse(stdout || '{}').catalogs ?? [{}]) as [
          { overview?: { products: number; pending: number } },
        ]
        return overview
      }
      const isDelivered = async () => {
        const { products, pending } = (await status()) ?? {}
        return products === 3_000 && pending === 0
      }
      await waitFor(isDelivered, { what: 'the products to be delivered' })
      expect(await (await fetch(pages)).text()).toContain('3,000')
    } finally {
      daemon.kill('SIGTERM')
      await ended[0]
      sandbox.kill('SIGTERM')
    }
    expect(await Promise.all(ended)).toEqual(ended.map(() => ({ code: 0, signal: null })))
  })

  it('carries the viewer of that page with its licences instead of installing it', () => {
    const papers = ['LICENSE', 'NOTICE', 'swagger-ui-bundle.js.LICENSE.txt']
    expect(packed).toEqual(expect.arrayContaining(papers.map((name) => `dist/sandbox/reference/${name}`)))
    const modules = join(installed, 'node_modules')
    expect(globSync(['swagger-ui*', '@scarf/*'], { cwd: modules })).toEqual([])
  })

  it('brings no package along that must run something when it is installed', () => {
    const locks = [join(root, 'package-lock.json'), join(installed, 'package-lock.json')]
    const running = locks.map((file) => {
      const { packages } = JSON.parse(readFileSync(file, 'utf8')) as Lockfile
      const found = Object.entries(packages).filter(([, entry]) => entry.hasInstallScript && !entry.dev)
      return found.map(([path, { optional = false }]) => ({ path, optional }))
    })
    // Native and optional: look for a binary or build one, and are done without where their scripts are not run.
    const unused = [
      { path: 'node_modules/cpu-features', optional: true },
      { path: 'node_modules/msgpackr-extract', optional: true },
      // Its script builds faster ciphers; without them it has those of Node.
      { path: 'node_modules/ssh2', optional: false },
    ]
    expect(running).toEqual([unused, unused])
  })

  const oldNode = findOldNode()
  it.skipIf(oldNode === undefined)('says in one line what it needs when Node is too old', async () => {
    const main = join(installed, 'node_modules', 'catalogd', 'dist', 'main.js')
    const failure = await run(oldNode ?? '', [main, '--version']).catch((error: unknown) => error)
    expect(failure).toMatchObject({ code: 2, stdout: '' })
    expect((failure as { stderr: string }).stderr).toMatch(/^[^\n]*Node[^\n]*24[^\n]*\n$/)
  })

  it.skipIf(oldNode === undefined)('says so to who imports it, too, where it cannot run', async () => {
    const script = "import('catalogd').catch(({ message }) => console.log(message))"
    const { stdout } = await run(oldNode ?? '', ['--input-type=module', '-e', script], { cwd: installed })
    expect(stdout).toMatch(/^catalogd needs Node 24 or later; this is Node [^\n]*\n$/)
    const contract =
      "import('catalogd/contract/product').then(({ productSchema }) => console.log(typeof productSchema))"
    expect(
      await run(oldNode ?? '', ['--input-type=module', '-e', contract], { cwd: installed }),
    ).toMatchObject({ stdout: 'object\n' })
  })
})

const columns = 'product_id,name,url,image_url,availability,price,price_currency_code'
const rowOf = (id: string) => `${id},Name,https://shop.example/${id},https://shop.example/i.jpg,InStock,5,EUR`

interface Lockfile {
  packages: Record<string, { dev?: boolean; optional?: boolean; hasInstallScript?: boolean }>
}

/** One good answer for each group, and one refusal. */
function answerAsTheService({ method, path }: Received): Reply {
  if (path === '/api') return { body: { agentInsight: 'This one.' } }
  if (path === '/api/terms') return { body: { data: [{ id: '1' }, { id: 2 }], errors: [] } }
  if (method === 'POST') return {}
  return { status: 404, body: { data: [], errors: [{ message: 'no such rule', code: 404 }] } }
}

/** What a fresh clone holds, so that packing does not touch this one; the installed packages are lent. */
function copyCheckout(): void {
  mkdirSync(checkout)
  const parts = [
    'package.json',
    'tsconfig.json',
    'tsconfig.build.json',
    'src',
    'config',
    '.ci',
    'docs',
    'README.md',
    'LICENSE',
    'CHANGELOG.md',
  ]
  for (const part of parts) cpSync(join(root, part), join(checkout, part), { recursive: true })
  symlinkSync(join(root, 'node_modules'), join(checkout, 'node_modules'))
  // Of somebody who runs catalogd from there.
  for (const file of ['catalogd.yaml', '.env']) writeFileSync(join(checkout, 'config', file), 's3cret')
}

/** Answers what it prints; that is also where the compiler complains. */
async function npm(cwd: string, args: string[]): Promise<string> {
  try {
    return (await run('npm', args, { cwd, env: environment })).stdout
  } catch (error) {
    const { stdout, stderr } = error as { stdout: string; stderr: string }
    throw new Error(`npm ${args[0]} failed:\n${stdout}\n${stderr}`)
  }
}

function readManifest(): { version: string; exports: Record<string, string | { types: string }> } {
  return JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
}

/** Settings of an npm that runs these tests (`npm test`) must not reach the npm under test. */
function withoutNpmSettings(): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(
    ([name]) => !/^npm_(config_(?!cache|registry)|package_|lifecycle_)/i.test(name),
  )
  return Object.fromEntries(kept)
}

function exitOf(child: ChildProcess): Promise<{ code: number | null; signal: string | null }> {
  return new Promise((resolve) => child.once('exit', (code, signal) => resolve({ code, signal })))
}

/** The first http address that the process prints, on either stream. */
function firstAddress(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let printed = ''
    const look = (chunk: Buffer) => {
      printed += chunk
      const found = /http:\/\/[\w.[\]:]+:\d+/.exec(printed)
      if (found) resolve(found[0])
    }
    child.stdout?.on('data', look)
    child.stderr?.on('data', look)
    child.once('exit', () => reject(new Error(`ended without an address: ${printed}`)))
  })
}

/** A Node below 24 in PATH, as on the machine of somebody who has not read the requirements. */
function findOldNode(): string | undefined {
  const candidates = (process.env.PATH ?? '').split(delimiter).map((path) => join(path, 'node'))
  return candidates.find((file) => existsSync(file) && majorOf(file) < 24)
}

function majorOf(file: string): number {
  const version = /^v(\d+)/.exec(spawnSync(file, ['--version'], { encoding: 'utf8' }).stdout ?? '')
  return version ? Number(version[1]) : Number.POSITIVE_INFINITY
}
