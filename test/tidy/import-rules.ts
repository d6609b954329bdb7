import { isBuiltin } from 'node:module'
import type { Finding, Import, Module } from './module.ts'

interface Row {
  /** Folders (or files) whose values and types may be imported. */
  values: readonly string[]
  /** Folders whose types alone may be imported. */
  types?: readonly string[]
}

const stages = ['sources', 'records', 'catalog', 'mirror', 'imports', 'outbox', 'consents', 'delivery']

/**
 * Who may import from whom below src/. Data flows downwards, imports point upstream. Everybody may import `lib`, the
 * own folder, and the types of the configuration.
 */
const table: Record<string, Row> = {
  'main.ts': { values: ['cli'] },
  'service.ts': {
    values: [
      ...stages,
      'redis',
      'alerts',
      'metrics',
      'config',
      'storage.ts',
      'catalog-service.ts',
      'daemon-console.ts',
    ],
    types: ['console'],
  },
  'catalog-service.ts': {
    values: [...stages, 'redis', 'api', 'upgrade', 'storage.ts', 'catalog-storage.ts'],
    types: ['metrics'],
  },
  'catalog-storage.ts': {
    values: ['mirror', 'outbox', 'upgrade', 'storage.ts'],
    types: ['redis', 'sources', 'mirror-thread.ts'],
  },
  'daemon-console.ts': {
    values: ['console', 'alerts', 'metrics', 'config'],
  },
  'mirror-thread.ts': { values: ['mirror', 'outbox', 'redis'] },
  'storage.ts': { values: ['redis', 'mirror', 'sources'], types: ['outbox'] },
  upgrade: {
    values: ['mirror', 'outbox', 'sources', 'imports/manifest-steps.ts'],
    types: ['catalog', 'redis', 'consents'],
  },
  lib: { values: [] },
  config: { values: [] },
  redis: { values: [] },
  api: { values: [] },
  sources: { values: ['redis'] },
  records: { values: [], types: ['sources'] },
  // How parsed records are looked into is one thing, whoever looks.
  catalog: {
    values: ['api/contract', 'records/look-up.ts', 'records/repeated.ts', 'records/reject-columns.ts'],
    types: ['records'],
  },
  mirror: { values: [], types: ['catalog'] },
  outbox: { values: ['redis', 'mirror/digest.ts'], types: ['catalog', 'mirror'] },
  consents: { values: ['sources'], types: ['catalog', 'outbox'] },
  imports: {
    values: ['sources', 'records', 'catalog', 'mirror', 'consents'],
    types: ['api/contract', 'redis'],
  },
  delivery: {
    values: ['outbox', 'consents', 'api', 'redis/failure.ts'],
    types: ['catalog', 'redis', 'mirror'],
  },
  stack: { values: ['api'] },
  sandbox: { values: ['api/contract'] },
  console: {
    values: [
      'operations',
      'redis',
      'storage.ts',
      'sources/space.ts',
      'sources/manifest-reader.ts',
      'mirror/product-scan.ts',
      'catalog/stored-form.ts',
      'config/plain-config.ts',
    ],
    types: stages,
  },
  metrics: {
    values: ['sources', 'imports', 'outbox', 'consents', 'mirror'],
    types: ['redis', 'delivery'],
  },
  alerts: { values: ['sources', 'imports', 'outbox', 'consents'], types: ['redis', 'mirror'] },
  operations: {
    values: [...stages, 'stack', 'redis', 'api', 'alerts', 'config', 'service.ts', 'storage.ts'],
  },
  cli: {
    values: ['config', 'operations', 'console', 'service.ts', 'storage.ts', 'sandbox', 'api', 'stack'],
    types: [...stages, 'redis'],
  },
  quickstart: {
    values: [
      ...['config', 'operations', 'service.ts', 'storage.ts', 'sandbox'],
      ...['cli/bar-line.ts', 'cli/product-format.ts', 'cli/read-bar.ts', 'cli/stack-format.ts'],
    ],
    types: stages,
  },
}

/** Packages that one folder wraps for all others. */
const wrapped: Record<string, string> = { ioredis: 'redis', bullmq: 'redis' }

export function checkImportTable(modules: readonly Module[]): Finding[] {
  return modules
    .filter(({ path }) => path.startsWith('src/'))
    .flatMap((module) => module.imports.flatMap((one) => checkImport(module, one)))
}

function checkImport(module: Module, one: Import): Finding[] {
  const finding = (message: string) => [{ file: module.path, line: one.line, rule: 'import-table', message }]
  const unit = unitOf(module.path)
  const owner = wrapped[one.target]
  if (owner !== undefined && owner !== unit) {
    return finding(`only src/${owner} imports ${one.target}; take values and types from a file there`)
  }
  if (!one.specifier.startsWith('.')) return []
  if (!one.target.startsWith('src/'))
    return finding(`${one.specifier} leaves src/; move what is needed into src/`)
  const row = table[unit]
  if (!row)
    return finding(
      `src/${unit} has no row in the import table (test/tidy/import-rules.ts); add one or move the file`,
    )
  if (unitOf(one.target) === unit || isBelow(one.target, ['lib', ...row.values])) return []
  const typesFrom = [
    'config/model.ts',
    'config/format-model.ts',
    'config/rule-model.ts',
    ...(row.types ?? []),
  ]
  if (one.typeOnly && isBelow(one.target, typesFrom)) return []
  const allowed = [...row.values, ...typesFrom.map((folder) => `${folder} (types)`), 'lib'].join(', ')
  const what = isBelow(one.target, typesFrom) ? 'a value from' : 'from'
  return finding(`src/${unit} must not import ${what} ${one.target}; allowed: ${allowed}`)
}

/** `redis` for src/redis/connection.ts, `main.ts` for src/main.ts. */
function unitOf(path: string): string {
  return path.split('/')[1] ?? path
}

function isBelow(path: string, folders: readonly string[]): boolean {
  return folders.some((folder) => path === `src/${folder}` || path.startsWith(`src/${folder}/`))
}

/** The set-up runs before anything is installed. */
export function checkPlainScripts(modules: readonly Module[]): Finding[] {
  return modules
    .filter(({ path }) => path.endsWith('.mjs'))
    .flatMap(({ path, imports }) =>
      imports
        .filter(({ specifier }) => !specifier.startsWith('node:') && !/^\.\/.*\.mjs$/.test(specifier))
        .map(({ line, specifier }) => ({
          file: path,
          line,
          rule: 'plain-script',
          message: `${specifier} is not there before the set-up; use node: modules and .mjs files beside this one`,
        })),
    )
}

/** Packages must be named in package.json: for src/ under `dependencies`, elsewhere under any heading. */
export function checkPackages(
  modules: readonly Module[],
  manifest: { dependencies: Record<string, string>; devDependencies: Record<string, string> },
): Finding[] {
  return modules.flatMap(({ path, imports }) =>
    imports
      .filter(({ specifier, target }) => {
        if (specifier.startsWith('.') || specifier.startsWith('node:')) return false
        return !(
          target in manifest.dependencies ||
          (!path.startsWith('src/') && target in manifest.devDependencies)
        )
      })
      .map(({ line, target }) => ({
        file: path,
        line,
        rule: 'packages',
        message: isBuiltin(target)
          ? `write node:${target}`
          : `${target} is not among the dependencies of package.json`,
      })),
  )
}
