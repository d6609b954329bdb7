import { hash } from 'node:crypto'
import { statSync } from 'node:fs'
import { readFile, stat } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { parseEnv } from 'node:util'
import { ConfigError, ifPresent, systemErrorCode } from '../lib/errors.ts'
import { buildConfig } from './build.ts'
import { checkWhole } from './checks.ts'
import { ConfigDocument, type EnvFile } from './document.ts'
import { explainIssues } from './issues.ts'
import type { Config } from './model.ts'
import type { FieldKnowledge } from './parts.ts'
import { isOwnPreset } from './preset-file.ts'
import { applyPresets } from './presets.ts'
import { type ConfigPath, type ConfigProblem, ConfigProblemsError, formatPath } from './problems.ts'
import { type ConfigInput, configSchema, isDeferredPath } from './schema.ts'
import type { Environment } from './variables.ts'

const fileBytesMax = 4_000_000

export interface LoadOptions extends FieldKnowledge {
  file: string
  /** Counts before what stands in the file `.env` beside the configuration. */
  env: Environment
  /** To be read in place of what stands in the file. */
  text?: string
}

export interface LoadedConfig {
  config: Config
  /** The configuration in the words of the file: environment and defaults filled in, secrets included. */
  input: ConfigInput
  /** What is not wrong, but should not stay so. */
  warnings: readonly string[]
  /** SHA-256 of the text of the file. */
  digest: string
  text: string
  /** Nothing but the text decides what may be shown: no variable, and no file beside it. */
  standsAlone: boolean
  /** Of the files that are read once when a catalog or the console is opened, by path: another version has another text. */
  versions: ReadonlyMap<string, string>
  /** For what is found wrong with it later. */
  problemAt(path: ConfigPath, message: string): ConfigProblem
}

/** The configuration for the stages, and what the commands show. Throws a ConfigProblemsError with all that is wrong. */
export async function readConfig({
  file,
  env,
  text: given,
  ...knowledge
}: LoadOptions): Promise<LoadedConfig> {
  const absolute = resolve(file)
  const folder = dirname(absolute)
  const text = given ?? (await readText(file))
  const document = new ConfigDocument({ file, text, environment: env, envFile: await readEnvFile(folder) })
  throwProblems(document)
  applyPresets(document, folder)
  const parsed = configSchema.safeParse(document.root, { jitless: true })
  if (!parsed.success) explainIssues(document, parsed.error.issues)
  reportUnset(document)
  checkWhole(document, folder, knowledge)
  throwProblems(document)
  if (!parsed.success) throw new Error('the schema refused the configuration without a problem')
  const config = buildConfig(parsed.data, { document, file: absolute, folder })
  const versions = versionsOf(config)
  return {
    config,
    versions,
    standsAlone: versions.size === 0 && document.referring.every(isHiddenPath) && !hasOwnPreset(parsed.data),
    input: parsed.data,
    digest: hash('sha256', text),
    text,
    warnings: [
      ...(document.secretsWritten > 0 ? await warnIfOpen(absolute, file) : []),
      ...(await warnIfOpen(join(folder, envFile))),
    ],
    problemAt: (path, message) => {
      return { file, path: formatPath(path), message, ...document.keyPositionOf(path) }
    },
  }
}

/** Whether what stands there is shown to nobody, and decides nothing that is. */
function isHiddenPath([section, , part, , feedKey, pullKey]: ConfigPath): boolean {
  if (section !== 'catalogs')
    return ['console', 'alerts', 'traces', 'stack', 'intent'].includes(String(section))
  const isAccess = ['user', 'password', 'headers', 'proxy'].includes(String(pullKey))
  return part === 'api' || (feedKey === 'pull' && isAccess)
}

function hasOwnPreset({ catalogs }: ConfigInput): boolean {
  const feeds = Object.values(catalogs).flatMap((catalog) => Object.values(catalog.feeds))
  return feeds.some(({ preset }) => preset !== undefined && isOwnPreset(preset))
}

function versionsOf({ catalogs, console }: Config): Map<string, string> {
  const feeds = [...catalogs.values()].flatMap((catalog) => [...catalog.feeds.values()])
  const transforms = feeds.flatMap(({ transform }) => transform?.file ?? [])
  const files = [...transforms, ...Object.values(console?.tls ?? {})]
  return new Map(
    files.map((file) => {
      const { mtimeMs, size } = statSync(file, { throwIfNoEntry: false }) ?? {}
      return [file, `${mtimeMs} ${size}`]
    }),
  )
}

const envFile = '.env'

/** Without variables where there is no such file. */
async function readEnvFile(folder: string): Promise<EnvFile> {
  const path = join(folder, envFile)
  return { path, variables: (await ifPresent(stat(path))) ? parseEnv(await readText(path)) : {} }
}

async function warnIfOpen(path: string, name = path): Promise<string[]> {
  const found = await ifPresent(stat(path))
  if (found === undefined || (found.mode & 0o004) === 0) return []
  return [`${name} holds secrets, and every user of this machine may read it: chmod o-r it`]
}

async function readText(file: string): Promise<string> {
  try {
    const bytes = await readFile(file)
    if (bytes.length <= fileBytesMax) return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
    throw new ConfigError(
      'config-unreadable',
      `${file} has ${bytes.length} bytes, at most ${fileBytesMax} are read`,
      {
        hint: 'Name a catalogd configuration',
      },
    )
  } catch (cause) {
    if (cause instanceof ConfigError) throw cause
    const code = systemErrorCode(cause)
    if (code === undefined) throw cause
    if (code === 'ENOENT') {
      throw new ConfigError('config-missing', `${file} does not exist`, {
        hint: 'Run "catalogd init" for a commented one, or name yours with --config',
        cause,
      })
    }
    const reason = code === 'ERR_ENCODING_INVALID_ENCODED_DATA' ? 'it is not UTF-8' : code
    throw new ConfigError('config-unreadable', `${file} cannot be read: ${reason}`, {
      hint: 'It must be a UTF-8 file that the user who runs catalogd may read',
      cause,
    })
  }
}

/** Values that are used while loading need their variables now; the others say so where they are used. */
function reportUnset(document: ConfigDocument): void {
  for (const { path, names } of document.unset()) {
    if (isDeferredPath(path)) continue
    const [name] = names
    document.addProblem(
      path,
      `the environment variable ${name} is not set, expected a value; set it, or write a default as \${${name}:-…}`,
    )
  }
}

function throwProblems({ problems }: ConfigDocument): void {
  if (problems.length > 0) throw new ConfigProblemsError(problems)
}
