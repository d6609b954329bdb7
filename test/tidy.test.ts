import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { checkBarrels, checkModuleState, checkSkippedTests, checkSyntaxBans } from './tidy/bans.ts'
import { checkCycles } from './tidy/cycles.ts'
import { checkDeadExports } from './tidy/dead-exports.ts'
import { checkImportTable, checkPackages, checkPlainScripts } from './tidy/import-rules.ts'
import { type Finding, type Module, readModules } from './tidy/module.ts'
import { checkFileSizes, checkFunctionSizes } from './tidy/sizes.ts'
import { checkFileNames, checkTextBans } from './tidy/texts.ts'

// The rules of style that a machine can hold. Each has a test in test/tidy/ that breaks it.

const root = fileURLToPath(new URL('..', import.meta.url))
const all = readModules(root, ['src', 'test', '.ci'])
const source = all.filter(({ path }) => path.startsWith('src/'))
// The rules' own files spell what they ban.
const outsideTidy = all.filter(({ path }) => !path.startsWith('test/tidy'))
const manifest = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))
const published = Object.values(manifest.exports)
  .map((entry) => (entry as { default?: string }).default)
  .filter((path) => path !== undefined)
  .map((path) => path.replace(/^\.\/dist\/(.*)\.js$/, 'src/$1.ts'))
// What `import … from 'catalogd'` gives: for those who install the package, never for a file in here.
const packageEntry = 'src/api/public.ts'
const entryPoints = ['src/main.ts', 'src/quickstart/quickstart.ts', ...published]

const rules: Record<string, () => Finding[]> = {
  'stages import only what the table allows': () => checkImportTable(all),
  'the set-up needs no package': () => checkPlainScripts(all),
  'imported packages are declared': () => checkPackages(all, manifest),
  'files do not import each other in rings': () => checkCycles(all),
  'files have at most 300 lines': () => checkFileSizes(source),
  'functions have at most 70 lines': () => checkFunctionSizes(source),
  'exports are used': () => checkDeadExports(all, entryPoints),
  'banned syntax is absent': () => checkSyntaxBans(outsideTidy),
  'tests that do not run say why': () => checkSkippedTests(outsideTidy),
  'modules keep no state': () => checkModuleState(all),
  'no file only passes exports on': () => checkBarrels(all.filter(({ path }) => path !== packageEntry)),
  'banned words are absent': () => checkTextBans(outsideTidy),
  'files are named in kebab-case after what they hold': () => checkFileNames(all),
}

describe('the code is tidy', () => {
  it('finds the code', () => {
    expect(all.map((module: Module) => module.path)).toContain('src/lib/clock.ts')
  })

  it.each(Object.entries(rules))('%s', (_, check) => {
    const report = check().map(({ file, line, rule, message }) => `${file}:${line}  [${rule}] ${message}`)
    expect(report.join('\n')).toBe('')
  })
})
