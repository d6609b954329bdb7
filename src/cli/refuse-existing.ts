import { access } from 'node:fs/promises'
import { ConfigError, OperatingError, systemErrorCode } from '../lib/errors.ts'

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
