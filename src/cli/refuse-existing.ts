import { access, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { ConfigError, OperatingError, systemErrorCode } from '../lib/errors.ts'
import { privateFileMode } from '../lib/private-modes.ts'

/** Throws a ConfigError for what the system refuses to write, and `error` as it is otherwise. */
export function throwUnwritable(file: string, error: unknown): never {
  const code = systemErrorCode(error)
  if (error instanceof OperatingError || code === undefined) throw error
  throw new ConfigError('init-unwritable', `${file} and its folders cannot be written (${code})`, {
    hint: 'Choose a folder that you may write to',
    cause: error,
  })
}

/** A configuration is never overwritten; `hint` says what to do instead. */
export async function refuseExisting(file: string, hint: string): Promise<void> {
  const exists = await access(file).then(
    () => true,
    () => false,
  )
  if (exists) throw new ConfigError('init-exists', `${file} exists already and is left as it is`, { hint })
}

const variables = `# Variables of the configuration beside this file; those of the environment win. A new value needs "catalogd reload".
# CATALOG_API_URL=https://api.example.com
# API_PRODUCTS_TOKEN=
`

/** Secrets have a place of their own, which nobody else may read. One that is there stays as it is. */
export async function writeEnvFile(configFile: string): Promise<string> {
  const file = join(dirname(configFile), '.env')
  await writeFile(file, variables, { flag: 'wx', mode: privateFileMode }).catch((error: unknown) => {
    if (systemErrorCode(error) !== 'EEXIST') throw error
  })
  return file
}
