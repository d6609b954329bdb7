import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { ConfigError } from '../lib/errors.ts'
import type { Environment } from './variables.ts'

/** The only place that reads the environment of the process. */
export function readEnvironment(): Environment {
  return process.env
}

/** What `CATALOGD_CONFIG` names; the file need not exist. */
export function namedConfig({ CATALOGD_CONFIG: named }: Environment): string | undefined {
  return named === '' ? undefined : named
}

const configCandidates = ['config/catalogd.yaml', 'catalogd.yaml'] as const

/** Where the configuration is when no `--config` says so: `CATALOGD_CONFIG`, else one of two places under the folder. */
export function locateConfig(environment: Environment, folder: string): string {
  const named = namedConfig(environment)
  if (named !== undefined) return named
  const found = configCandidates.find((candidate) => existsSync(join(folder, candidate)))
  if (found !== undefined) return found
  throw new ConfigError(
    'config-missing',
    `no configuration: neither ${configCandidates.join(' nor ')} exists in ${folder}`,
    {
      hint: 'Run "catalogd init" for a commented one, or name yours with --config',
    },
  )
}
