import { describe, expect, it } from 'vitest'
import { checkBarrels, checkModuleState, checkSkippedTests, checkSyntaxBans } from './bans.ts'
import { checkCycles } from './cycles.ts'
import { checkDeadExports } from './dead-exports.ts'
import { checkImportTable, checkPackages, checkPlainScripts } from './import-rules.ts'
import { type Finding, type Module, parseModule } from './module.ts'
import { checkFileSizes, checkFunctionSizes } from './sizes.ts'
import { checkFileNames, checkTextBans } from './texts.ts'

/** Runs a rule over small files in memory; answers `file:line rule` of what it reports. */
function run(check: (modules: Module[]) => Finding[], files: Record<string, string>): string[] {
  const modules = Object.entries(files).map(([path, text]) => parseModule(path, text))
  return check(modules).map(({ file, line, rule }) => `${file}:${line} ${rule}`)
}

describe('import table', () => {
  const report = (path: string, text: string) => run(checkImportTable, { [path]: text })

  it.each([
    ['src/sources/a.ts', "import { b } from '../redis/b.ts'"],
    ['src/records/a.ts', "import type { B } from '../sources/b.ts'"],
    ['src/records/a.ts', "import { type B, type C } from '../sources/b.ts'"],
    ['src/records/a.ts', "import type { B } from '../config/model.ts'"],
    ['src/catalog/a.ts', "import { b } from '../api/contract/b.ts'"],
    ['src/catalog/a.ts', "import { b } from './b.ts'"],
    ['src/imports/a.ts', "import type { B } from '../api/contract/b.ts'"],
    ['src/delivery/a.ts', "type B = import('../catalog/b.ts').B"],
    ['src/daemon-console.ts', "import { b } from './console/b.ts'"],
    ['src/cli/a.ts', "import { b } from '../service.ts'"],
    ['src/redis/a.ts', "import { Queue } from 'bullmq'\nimport { b } from '../lib/b.ts'"],
  ])('%s may: %s', (path, text) => {
    expect(report(path, text)).toEqual([])
  })

  it.each([
    ['src/records/a.ts', "import { b } from '../sources/b.ts'"],
    ['src/records/a.ts', "import { type B, c } from '../sources/b.ts'"],
    ['src/records/a.ts', "import '../sources/b.ts'"],
    ['src/records/a.ts', "const b = await import('../sources/b.ts')"],
    ['src/records/a.ts', "export { b } from '../sources/b.ts'"],
    ['src/records/a.ts', "export * from '../sources/b.ts'"],
    ['src/sources/a.ts', "import type { B } from '../records/b.ts'"],
    ['src/sources/a.ts', "import { b } from '../config/model.ts'"],
    ['src/sources/a.ts', "import type { B } from '../config/load.ts'"],
    ['src/catalog/a.ts', "import { b } from '../api/client.ts'"],
    ['src/imports/a.ts', "import { b } from '../api/contract/b.ts'"],
    ['src/lib/a.ts', "import type { B } from '../catalog/b.ts'"],
    ['src/main.ts', "import { b } from './service.ts'"],
    ['src/utilities/a.ts', "import { b } from '../redis/b.ts'"],
    ['src/outbox/a.ts', "import { Redis } from 'ioredis'"],
    ['src/delivery/a.ts', "import type { Job } from 'bullmq'"],
    ['src/delivery/a.ts', "import { x } from '../../test/x.ts'"],
  ])('%s must not: %s', (path, text) => {
    expect(report(path, text)).toEqual([`${path}:1 import-table`])
  })
})

describe('packages and plain scripts', () => {
  const manifest = { dependencies: { zod: '1' }, devDependencies: { vitest: '1', '@scope/one': '1' } }
  const packages = (path: string, text: string) =>
    run((modules) => checkPackages(modules, manifest), { [path]: text })

  it('wants packages declared, for src/ as dependencies', () => {
    expect(packages('src/cli/a.ts', "import 'zod/mini'\nimport 'node:fs'")).toEqual([])
    expect(packages('test/a.ts', "import '@scope/one/deep'")).toEqual([])
    expect(packages('src/cli/a.ts', "import 'vitest'")).toEqual(['src/cli/a.ts:1 packages'])
    expect(packages('test/a.ts', "import 'other'\nimport 'fs'")).toEqual([
      'test/a.ts:1 packages',
      'test/a.ts:2 packages',
    ])
  })

  it('wants the set-up free of packages', () => {
    const path = 'src/quickstart/a.mjs'
    expect(run(checkPlainScripts, { [path]: "import 'node:fs'\nimport './b.mjs'" })).toEqual([])
    expect(run(checkPlainScripts, { [path]: "import 'zod'\nimport './b.ts'" })).toEqual([
      `${path}:1 plain-script`,
      `${path}:2 plain-script`,
    ])
  })
})

describe('cycles', () => {
  it('reports a ring at the import that closes it, types included', () => {
    const files = {
      'src/lib/a.ts': "import { b } from './b.ts'",
      'src/lib/b.ts': "// first\nimport type { C } from './c.ts'",
      'src/lib/c.ts': "import { a } from './a.ts'",
    }
    expect(run(checkCycles, files)).toEqual(['src/lib/c.ts:1 cycle'])
    expect(run(checkCycles, { ...files, 'src/lib/c.ts': '' })).toEqual([])
    expect(run(checkCycles, { 'src/lib/a.ts': "import { a } from './a.ts'" })).toEqual([
      'src/lib/a.ts:1 cycle',
    ])
  })
})

describe('sizes', () => {
  it('allows 300 lines a file, Lua too', () => {
    expect(run(checkFileSizes, { 'src/outbox/a.lua': 'x\n'.repeat(300) })).toEqual([])
    expect(run(checkFileSizes, { 'src/outbox/a.lua': 'x\n'.repeat(301) })).toEqual([
      'src/outbox/a.lua:301 file-size',
    ])
  })

  it.each([
    ['function', (body: string) => `\nfunction f() {\n${body}}`],
    ['arrow', (body: string) => `\nconst f = () => {\n${body}}`],
    ['method', (body: string) => `\nclass C { f() {\n${body}} }`],
  ])('allows 70 lines a %s', (_, wrap) => {
    expect(run(checkFunctionSizes, { 'src/lib/a.ts': wrap('a()\n'.repeat(68)) })).toEqual([])
    expect(run(checkFunctionSizes, { 'src/lib/a.ts': wrap('a()\n'.repeat(69)) })).toEqual([
      'src/lib/a.ts:2 function-size',
    ])
  })
})

describe('dead exports', () => {
  const report = (files: Record<string, string>) =>
    run((modules) => checkDeadExports(modules, ['src/main.ts']), files)

  it('reports what nobody imports', () => {
    const text =
      'export const used = 1\nexport function unused() {}\nexport const { x, y: [z] } = o\nexport class C {}'
    expect(
      report({ 'src/lib/a.ts': text, 'test/a.ts': "import { used, z } from '../src/lib/a.ts'" }),
    ).toEqual(['src/lib/a.ts:2 dead-export', 'src/lib/a.ts:3 dead-export', 'src/lib/a.ts:4 dead-export'])
  })

  it('counts types that the file itself uses, and reports the others', () => {
    const text = 'export interface A { b: B }\nexport type B = 1\nexport type C = 2'
    expect(report({ 'src/lib/a.ts': text, 'src/lib/b.ts': "import type { A } from './a.ts'" })).toEqual([
      'src/lib/a.ts:3 dead-export',
    ])
  })

  it('counts renamed, namespace, dynamic and path uses, and entry points', () => {
    const file = { 'src/lib/a.ts': 'export const a = 1' }
    expect(report({ ...file, 'src/lib/b.ts': "import { a as b } from './a.ts'" })).toEqual([])
    expect(report({ ...file, 'src/lib/b.ts': "import * as a from './a.ts'" })).toEqual([])
    expect(report({ ...file, 'src/lib/b.ts': "await import('./a.ts')" })).toEqual([])
    expect(report({ ...file, 'src/lib/b.ts': "new Worker(new URL('./a.ts', import.meta.url))" })).toEqual([])
    expect(report({ 'src/main.ts': 'export const a = 1' })).toEqual([])
  })

  it('reports a name that is only passed on', () => {
    const files = { 'src/lib/a.ts': 'export const a = 1', 'src/lib/b.ts': "export { a as c } from './a.ts'" }
    expect(report(files)).toEqual(['src/lib/b.ts:1 dead-export'])
  })
})

describe('banned syntax', () => {
  it.each([
    ['any', 'src/lib/a.ts', 'let a: any'],
    ['enum', 'src/lib/a.ts', 'enum A { B }'],
    ['namespace', 'src/lib/a.ts', 'namespace A { export const b = 1 }'],
    ['default-export', 'src/lib/a.ts', 'export default 1'],
    ['environment', 'src/lib/a.ts', 'const a = process.env.HOME'],
    ['environment', 'src/lib/a.ts', "const a = process['env']"],
    ['environment', 'src/lib/a.ts', "import { env } from 'node:process'"],
    ['clock', 'src/redis/a.ts', 'const a = Date.now()'],
    ['clock', 'src/redis/a.ts', 'const a = new Date()'],
    ['clock', 'src/redis/a.ts', 'const a = Date()'],
    ['clock', 'src/redis/a.ts', 'const a = performance.now()'],
    ['clock', 'src/redis/a.ts', 'const a = process.hrtime.bigint()'],
    ['output', 'src/cli/a.ts', "process.stdout.write('a')"],
    ['output', 'src/cli/a.ts', 'const { write } = process.stderr'],
    ['output', 'src/quickstart/a.ts', "console.log('a')"],
    ['output', 'src/cli/a.ts', "import { stdout } from 'node:process'"],
    ['mock', 'test/a.ts', "vi.mock('../src/lib/clock.ts')"],
    ['mock', 'test/a.ts', "vi.doMock(import('../src/lib/clock.ts'))"],
    ['only', 'test/a.ts', "it.only('x', () => {})"],
    ['only', 'test/a.ts', "describe.concurrent.only('x', () => {})"],
  ])('%s in %s: %s', (rule, path, text) => {
    expect(run(checkSyntaxBans, { [path]: `\n${text}` })).toEqual([`${path}:2 ${rule}`])
  })

  it.each([
    ['src/config/a.ts', 'const a = process.env'],
    ['src/quickstart/setup.mjs', 'const a = process.env'],
    ['src/lib/clock.ts', 'const a = Date.now()'],
    ['src/redis/a.ts', 'const a = new Date(now)'],
    ['src/redis/a.ts', "declare module 'zod' { interface A { b: 1 } }"],
    ['test/a.ts', 'const a = Date.now()'],
    ['test/a.ts', "vi.mock('node:fs')"],
    ['test/a.ts', 'const a = { any: options.only }'],
    ['test/vitest.config.ts', 'export default {}'],
  ])('allowed in %s: %s', (path, text) => {
    expect(run(checkSyntaxBans, { [path]: text })).toEqual([])
  })

  it('wants a reason for a test that does not run', () => {
    expect(run(checkSkippedTests, { 'test/a.ts': "it.skip('x')" })).toEqual(['test/a.ts:1 skip'])
    expect(run(checkSkippedTests, { 'test/a.ts': "// no tmpfs here\nit.skip('x')" })).toEqual([])
    expect(run(checkSkippedTests, { 'test/a.ts': "describe.skipIf(a)('x')" })).toEqual([])
  })

  it('wants no variable state in modules', () => {
    const text = 'const a = 1\nlet b = 2\nexport var c = 3\nfunction f() { let d = 4 }'
    expect(run(checkModuleState, { 'src/lib/a.ts': text })).toEqual([
      'src/lib/a.ts:2 module-state',
      'src/lib/a.ts:3 module-state',
    ])
  })

  it('wants no barrels', () => {
    const text = "export { a } from './a.ts'\nexport * from './b.ts'"
    expect(run(checkBarrels, { 'src/lib/a.ts': text })).toEqual(['src/lib/a.ts:1 barrel'])
    expect(run(checkBarrels, { 'src/lib/a.ts': `${text}\nexport const c = 1` })).toEqual([])
  })
})

describe('banned words', () => {
  it.each([
    ['unfinished', '// TODO later'],
    ['compiler-silenced', '// @ts-ignore'],
    ['machine-path', "const a = '/Users/jo/x'"],
    ['machine-path', "const a = '/home/someone/x'"],
    ['machine-path', "const a = '/tmp/x'"],
    ['address', '// ask jo@company.io'],
    ['token', "const a = '0123456789abcdef0123456789abcdef'"],
  ])('%s: %s', (rule, text) => {
    expect(run(checkTextBans, { 'src/lib/a.ts': `\n${text}` })).toEqual([`src/lib/a.ts:2 ${rule}`])
  })

  it('allows what only looks like it', () => {
    const text =
      "'jo@example.com', 'jo@shop.example', '../work/x', 'https://a.example/home/', 'deadbeef', '0'.repeat(64)"
    expect(run(checkTextBans, { 'src/lib/a.ts': `f(${text})` })).toEqual([])
  })

  it('wants kebab-case names that say something', () => {
    expect(
      run(checkFileNames, { 'src/lib/number-list.ts': '', 'test/tidy.test.ts': '', '.ci/build.ts': '' }),
    ).toEqual([])
    for (const path of [
      'src/lib/releaseStack.ts',
      'src/lib/Clock.ts',
      'src/utils/a.ts',
      'src/lib/helpers.ts',
    ]) {
      expect(run(checkFileNames, { [path]: '' })).toEqual([`${path}:1 file-name`])
    }
  })
})
