import { access } from 'node:fs/promises'
import { ConfigError } from '../lib/errors.ts'

/** A configuration is never overwritten; `hint` says what to do instead. */
export async function refuseExisting(file: string, hint: string): Promise<void> {
  const exists = await access(file).then(
    () => true,
    () => false,
  )
  if (exists) throw new ConfigError('init-exists', `${file} exists already and is left as it is`, { hint })
}
