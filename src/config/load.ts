import { readFile, stat } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { ConfigError, systemErrorCode } from '../lib/errors.ts'
import { buildConfig } from './build.ts'
import { checkWhole } from './checks.ts'
import { ConfigDocument } from './document.ts'
import { explainIssues } from './issues.ts'
import type { Config } from './model.ts'
import type { FieldKnowledge } from './parts.ts'
import { applyPresets } from './presets.ts'
import { ConfigProblemsError } from './problems.ts'
import { type ConfigInput, configSchema, isDeferredPath } from './schema.ts'
import type { Environment } from './variables.ts'

const fileBytesMax = 4_000_000

export interface LoadOptions extends FieldKnowledge {
  file: string
  env: Environment
}

export interface LoadedConfig {
  config: Config
  /** The configuration in the words of the file: environment and defaults filled in, secrets included. */
  input: ConfigInput
  /** What is not wrong, but should not stay so. */
  warnings: readonly string[]
}

/** The configuration for the stages, and what the commands show. Throws a ConfigProblemsError with all that is wrong. */
export async function readConfig({ file, env, ...knowledge }: LoadOptions): Promise<LoadedConfig> {
  const absolute = resolve(file)
  const folder = dirname(absolute)
  const document = new ConfigDocument({ file, text: await readText(file), environment: env })
  throwProblems(document)
  applyPresets(document, folder)
  const parsed = configSchema.safeParse(document.root, { jitless: true })
  if (!parsed.success) explainIssues(document, parsed.error.issues)
  reportUnset(document)
  checkWhole(document, folder, knowledge)
  throwProblems(document)
  if (!parsed.success) throw new Error('the schema refused the configuration without a problem')
  return {
    config: buildConfig(parsed.data, { document, file: absolute, folder }),
    input: parsed.data,
    warnings: await warnings(document, absolute),
  }
}

async function warnings({ file, secretsWritten }: ConfigDocument, absolute: string): Promise<string[]> {
  const { mode } = await stat(absolute)
  if (secretsWritten === 0 || (mode & 0o004) === 0) return []
  return [
    `${file} holds secrets, and every user of this machine may read it: chmod o-r it, or take them from variables`,
  ]
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
